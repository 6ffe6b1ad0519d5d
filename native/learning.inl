// The two loops of stochastic gradient descent.

// Four sums hide the latency of the additions.
static float dot(const float* x, const float* w, size_t d) {
  typedef Pack<LANES> V;
  V s0 = V::zero(), s1 = s0, s2 = s0, s3 = s0;
  size_t j = 0;
  for (; j + 4 * LANES <= d; j += 4 * LANES) {
    s0.multiply_add(V::load(x + j), V::load(w + j));
    s1.multiply_add(V::load(x + j + LANES), V::load(w + j + LANES));
    s2.multiply_add(V::load(x + j + 2 * LANES), V::load(w + j + 2 * LANES));
    s3.multiply_add(V::load(x + j + 3 * LANES), V::load(w + j + 3 * LANES));
  }
  for (; j + LANES <= d; j += LANES) s0.multiply_add(V::load(x + j), V::load(w + j));
  s0.add(s1);
  s2.add(s3);
  s0.add(s2);
  float part[LANES];
  s0.store(part);
  for (int width = LANES / 2; width; width /= 2)
    for (int l = 0; l < width; ++l) part[l] += part[l + width];
  float sum = part[0];
  for (; j < d; ++j) sum += x[j] * w[j];
  return sum;
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
