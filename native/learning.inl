// The loops of stochastic gradient descent.

// x' w, where at(j) gives LANES numbers of w from the j-th on and one(j) the j-th. Four sums hide the latency of the
// additions.
template <class At, class One>
static inline float sum_products(const float* x, size_t d, const At& at, const One& one) {
  typedef Pack<LANES> V;
  V s0 = V::zero(), s1 = s0, s2 = s0, s3 = s0;
  size_t j = 0;
  for (; j + 4 * LANES <= d; j += 4 * LANES) {
    s0.multiply_add(V::load(x + j), at(j));
    s1.multiply_add(V::load(x + j + LANES), at(j + LANES));
    s2.multiply_add(V::load(x + j + 2 * LANES), at(j + 2 * LANES));
    s3.multiply_add(V::load(x + j + 3 * LANES), at(j + 3 * LANES));
  }
  for (; j + LANES <= d; j += LANES) s0.multiply_add(V::load(x + j), at(j));
  s0.add(s1);
  s2.add(s3);
  s0.add(s2);
  float part[LANES];
  s0.store(part);
  for (int width = LANES / 2; width; width /= 2)
    for (int l = 0; l < width; ++l) part[l] += part[l + width];
  float sum = part[0];
  for (; j < d; ++j) sum += x[j] * one(j);
  return sum;
}

static float dot(const float* x, const float* w, size_t d) {
  typedef Pack<LANES> V;
  return sum_products(x, d, [=](size_t j) { return V::load(w + j); }, [=](size_t j) { return w[j]; });
}

static float move_and_dot(float a, const float* last, const float* x, size_t d, float* w) {
  typedef Pack<LANES> V;
  auto moved = [=](size_t j) {
    V sum = V::load(w + j);
    sum.multiply_add(a, V::load(last + j));
    sum.store(w + j);
    return sum;
  };
  return sum_products(x, d, moved, [=](size_t j) { return w[j] += a * last[j]; });
}

static void add_multiple(float a, const float* x, size_t d, float* w) {
  typedef Pack<LANES> V;
  size_t j = 0;
  for (; j + LANES <= d; j += LANES) {
    V sum = V::load(w + j);
    sum.multiply_add(a, V::load(x + j));
    sum.store(w + j);
  }
  for (; j < d; ++j) w[j] += a * x[j];
}
