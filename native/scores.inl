// Exponentials of a row of scores.

// exp(x) for x <= 0, relative error below 3e-7; exactly 0 below the smallest normal number, and NaN where x is.
//
// x = m log(2) + r with m whole and |r| <= log(2) / 2; log(2) is taken off in two pieces, of which m times the first is
// exact. exp(r) is a polynomial of degree 6, and 2^m is written into the exponent.
template <int L>
struct Exponential {
  typedef float Vector __attribute__((vector_size(L * 4)));
  typedef int32_t Whole __attribute__((vector_size(L * 4)));
  typedef uint32_t Bits __attribute__((vector_size(L * 4)));  // which wrap around where what is made of them vanishes

  static inline Vector of(Vector x) {
    const float shift = 12582912.0f;  // 1.5 * 2^23: what is added to it is rounded to a whole number
    const Vector shifted = x * 1.44269504f + shift;
    const Vector m = shifted - shift;
    const Vector r = (x - m * 0.693359375f) + m * 2.12194440e-4f;
    Vector p = r * 1.38888889e-3f + 8.33333333e-3f;
    p = p * r + 4.16666667e-2f;
    p = p * r + 1.66666667e-1f;
    p = p * r + 0.5f;
    p = p * r * r + r + 1.0f;
    const Vector power = (Vector)(((Bits)shifted << 23) + 0x3f800000u);
    const Whole vanishes = x < -87.0f;
    return (Vector)((Whole)(p * power) & ~vanishes);
  }
};

typedef Exponential<LANES> Exp;
typedef Pack<LANES>::Loose Loose;
typedef double Doubles __attribute__((vector_size(LANES * 4)));  // one register of them, so half of the floats of one
typedef float Half __attribute__((vector_size(LANES * 2), aligned(4), may_alias));

// The largest of all lanes, half by half.
template <int L>
struct Highest {
  typedef float Vector __attribute__((vector_size(L * 4)));
  static inline float of(Vector v) {
    typename Highest<L / 2>::Vector low, high;
    __builtin_memcpy(&low, &v, sizeof low);
    __builtin_memcpy(&high, (const char*)&v + sizeof low, sizeof high);
    return Highest<L / 2>::of(low > high ? low : high);
  }
};

template <>
struct Highest<2> {
  typedef float Vector __attribute__((vector_size(8)));
  static inline float of(Vector v) { return v[0] > v[1] ? v[0] : v[1]; }
};

// NaN are passed over.
static float largest(const float* s, size_t k) {
  Exp::Vector best = Exp::Vector{} - __builtin_inff();
  size_t c = 0;
  for (; c + LANES <= k; c += LANES) {
    const Exp::Vector next = *(const Loose*)(s + c);
    best = next > best ? next : best;
  }
  float top = Highest<LANES>::of(best);
  for (; c < k; ++c) top = s[c] > top ? s[c] : top;
  return top;
}

// e[c] = exp(s[c] - top); returns their sum.
static double exponentials(const float* s, size_t k, float top, float* e) {
  Doubles low = {}, high = {};
  auto add = [&](const float* x) {
    low += __builtin_convertvector(*(const Half*)x, Doubles);
    high += __builtin_convertvector(*(const Half*)(x + LANES / 2), Doubles);
  };
  size_t c = 0;
  for (; c + LANES <= k; c += LANES) {
    *(Loose*)(e + c) = Exp::of(*(const Loose*)(s + c) - top);
    add(e + c);
  }
  if (c < k) {
    // What is left over stands beside numbers that vanish.
    float rest[LANES];
    for (int l = 0; l < LANES; ++l) rest[l] = c + l < k ? s[c + l] - top : -1e4f;
    *(Loose*)rest = Exp::of(*(const Loose*)rest);
    add(rest);
    for (size_t l = 0; c + l < k; ++l) e[c + l] = rest[l];
  }
  low += high;
  double total = 0;
  for (int l = 0; l < LANES / 2; ++l) total += low[l];
  return total;
}

static float softmax(const float* s, size_t k, float weight, float* p, double* total) {
  const float top = largest(s, k);
  *total = exponentials(s, k, top, p);
  const float factor = float(weight / *total);
  size_t c = 0;
  for (; c + LANES <= k; c += LANES) *(Loose*)(p + c) = *(const Loose*)(p + c) * factor;
  for (; c < k; ++c) p[c] *= factor;
  return top;
}
