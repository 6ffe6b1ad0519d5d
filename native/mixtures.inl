// Rows against the centers of a mixture or of words: scores of all of them, and what the few that matter add up to.

// Columns that stand side by side, in `panels` as in padded rows; zeros fill what is left over.
constexpr int COLUMNS = 16;

// As many rows at a time as there are registers for their sums, beside what these are made of.
constexpr int CENTER_ROWS = LANES == 16 ? 12 : 4;

// Some rows and one panel: offsets - sum_j (x[j] * rate[j, :] + shift[j, :])^2 of a mixture, whose sums cannot cancel;
// offsets + sum_j x[j] * word[j, :] of words.
template <int N, bool SQUARES>
static inline void score_tile(const float* rows, size_t stride, size_t d, const float* panel, const float* offsets,
                              float* scores, size_t padded) {
  typedef Pack<COLUMNS> Scores;
  constexpr size_t depth = SQUARES ? 2 * COLUMNS : COLUMNS;
  Scores sum[N];
  for (int r = 0; r < N; ++r) sum[r] = SQUARES ? Scores::zero() : Scores::load(offsets);
  for (size_t j = 0; j < d; ++j) {
    const Scores rate = Scores::load(panel + j * depth);
    const Scores shift = SQUARES ? Scores::load(panel + j * depth + COLUMNS) : rate;
    for (int r = 0; r < N; ++r) {
      const float x = rows[r * stride + j];
      Scores u = shift;
      if (SQUARES) u.multiply_add(x, rate), sum[r].multiply_add(u, u);
      if (!SQUARES) sum[r].multiply_add(x, rate);
    }
  }
  for (int r = 0; r < N; ++r) {
    if (SQUARES) {
      const Scores squares = sum[r];
      sum[r] = Scores::load(offsets);
      sum[r].multiply_add(-1.0f, squares);
    }
    sum[r].store(scores + r * padded);
  }
}

template <bool SQUARES>
static void score_centers(const float* rows, size_t n, size_t stride, size_t d, const float* panels,
                          const float* offsets, size_t padded, float* scores) {
  constexpr int R = CENTER_ROWS;
  const size_t size = d * COLUMNS * (SQUARES ? 2 : 1);
  for (size_t c = 0; c < padded; c += COLUMNS, panels += size) {
    size_t i = 0;
    for (; i + R <= n; i += R)
      score_tile<R, SQUARES>(rows + i * stride, stride, d, panels, offsets + c, scores + i * padded + c, padded);
    for (; i < n; ++i)
      score_tile<1, SQUARES>(rows + i * stride, stride, d, panels, offsets + c, scores + i * padded + c, padded);
  }
}

static void mixture_scores(const float* rows, size_t n, size_t stride, size_t d, const float* panels,
                           const float* offsets, size_t padded, float* scores) {
  score_centers<true>(rows, n, stride, d, panels, offsets, padded, scores);
}

static void word_scores(const float* rows, size_t n, size_t stride, size_t d, const float* panels, const float* offsets,
                        size_t padded, float* scores) {
  score_centers<false>(rows, n, stride, d, panels, offsets, padded, scores);
}

// Bit l is set where lane l is.
static inline uint32_t set_lanes(Ints lanes) {
#if defined(__AVX2__) && LANES == 8
  return (uint32_t)__builtin_ia32_movmskps256((Floats)lanes);
#elif defined(__AVX512DQ__) && LANES == 16
  return (uint32_t)(uint16_t)__builtin_ia32_cvtd2mask512(lanes);
#else
  typedef int8_t Bytes __attribute__((vector_size(LANES)));
  const Bytes bytes = __builtin_convertvector(lanes, Bytes) & 1;
  uint8_t each[LANES];
  __builtin_memcpy(each, &bytes, sizeof bytes);
  uint32_t bits = 0;
  for (int l = 0; l < LANES; ++l) bits |= (uint32_t)each[l] << l;
  return bits;
#endif
}

static size_t find_high(const float* s, size_t padded, float least, int32_t* index) {
  size_t count = 0;
  for (size_t c = 0; c < padded; c += LANES)
    for (uint32_t left = set_lanes(*(const Loose*)(s + c) >= Floats{} + least); left; left &= left - 1)
      index[count++] = (int32_t)(c + __builtin_ctz(left));
  return count;
}

static size_t near_top(const float* s, size_t padded, float margin, int32_t* index) {
  return find_high(s, padded, largest(s, padded) - margin, index);
}

static size_t posteriors(const float* scores, size_t n, size_t padded, float margin, int32_t* centers, int32_t* rows,
                         float* weights, float* tops, double* totals) {
  size_t count = 0;
  for (size_t i = 0; i < n; ++i, scores += padded) {
    const float top = tops[i] = largest(scores, padded), least = top - margin;
    const size_t begin = count;
    double total = 0;
    for (size_t c = 0; c < padded; c += LANES) {
      const Floats s = *(const Loose*)(scores + c);
      uint32_t left = set_lanes(s >= Floats{} + least);
      if (!left) continue;
      float e[LANES];
      *(Loose*)e = Exp::of(s - top);
      for (; left; left &= left - 1) {
        const int l = __builtin_ctz(left);
        centers[count] = (int32_t)(c + l), rows[count] = (int32_t)i, weights[count++] = e[l];
        total += e[l];
      }
    }
    totals[i] = total;
    const float factor = (float)(1.0 / total);
    for (size_t t = begin; t < count; ++t) weights[t] *= factor;
  }
  return count;
}

// The sum of all lanes, half by half.
template <int L>
struct Lanes {
  typedef float Vector __attribute__((vector_size(L * 4)));
  static inline float sum(Vector v) {
    typename Lanes<L / 2>::Vector low, high;
    __builtin_memcpy(&low, &v, sizeof low);
    __builtin_memcpy(&high, (const char*)&v + sizeof low, sizeof high);
    return Lanes<L / 2>::sum(low + high);
  }
};

template <>
struct Lanes<2> {
  typedef float Vector __attribute__((vector_size(8)));
  static inline float sum(Vector v) { return v[0] + v[1]; }
};

static void half_squares(const float* x, size_t width, const float* means, const float* rates, const int32_t* index,
                         size_t count, float* out) {
  for (size_t t = 0; t < count; ++t) {
    const float *mean = means + index[t] * width, *rate = rates + index[t] * width;
    Floats sum = {};
    for (size_t j = 0; j < width; j += LANES) {
      const Floats u = (*(const Loose*)(x + j) - *(const Loose*)(mean + j)) * *(const Loose*)(rate + j);
      sum += u * u;
    }
    out[t] = 0.5f * Lanes<LANES>::sum(sum);
  }
}

// V registers of columns side by side, so that one sum need not wait for another.
template <int V>
static inline void add_columns(const float* rows, const int32_t* index, const float* weights, size_t count,
                               size_t width, const float* mean, const float* rate, double* first, double* second) {
  Floats m[V], r[V], one[V], two[V];
  for (int a = 0; a < V; ++a) {
    m[a] = *(const Loose*)(mean + a * LANES), r[a] = *(const Loose*)(rate + a * LANES);
    one[a] = two[a] = Floats{};
  }
  for (size_t t = 0; t < count; ++t)
    for (int a = 0; a < V; ++a) {
      const Floats u = (*(const Loose*)(rows + index[t] * width + a * LANES) - m[a]) * r[a];
      one[a] += weights[t] * u;
      two[a] += weights[t] * (u * u - 1.0f);
    }
  for (int a = 0; a < V; ++a)
    for (int l = 0; l < LANES; ++l) first[a * LANES + l] += one[a][l], second[a * LANES + l] += two[a][l];
}

static void add_moments(const float* rows, const int32_t* index, const float* weights, size_t count, size_t width,
                        const float* mean, const float* rate, double* first, double* second) {
  constexpr size_t V = 4;
  size_t j = 0;
  for (; j + V * LANES <= width; j += V * LANES)
    add_columns<V>(rows + j, index, weights, count, width, mean + j, rate + j, first + j, second + j);
  for (; j < width; j += LANES)
    add_columns<1>(rows + j, index, weights, count, width, mean + j, rate + j, first + j, second + j);
}
