// Weighted sums of neighbors: of rows, number by number, and of the pixels of one row.

static void widen_bytes(const uint8_t* x, size_t n, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = (float)x[i];
}

template <int L>
static inline void mix_columns(const float* rows, size_t width, const float* weights, size_t taps, size_t count,
                               float* out) {
  Pack<L> sum = Pack<L>::zero();
  for (size_t t = 0; t < taps; ++t) sum.multiply_add(weights[t * count], Pack<L>::load(rows + t * width));
  sum.store(out);
}

static void mix_rows(const float* rows, size_t width, const float* weights, size_t taps, size_t count, float* out) {
  constexpr size_t L = 4 * LANES;
  size_t j = 0;
  for (; j + L <= width; j += L) mix_columns<L>(rows + j, width, weights, taps, count, out + j);
  for (; j + LANES <= width; j += LANES) mix_columns<LANES>(rows + j, width, weights, taps, count, out + j);
  for (; j < width; ++j) mix_columns<1>(rows + j, width, weights, taps, count, out + j);
}

// N pixels at a time, so that one sum need not wait for another.
template <int L, int N>
static inline void blend_some(const float* row, const int32_t* starts, const float* weights, size_t taps, size_t depth,
                              size_t count, float* out) {
  Pack<L> sum[N];
  const float* from[N];
  for (int r = 0; r < N; ++r) sum[r] = Pack<L>::zero(), from[r] = row + size_t(starts[r]) * depth;
  for (size_t t = 0; t < taps; ++t)
    for (int r = 0; r < N; ++r) sum[r].multiply_add(weights[t * count + r], Pack<L>::load(from[r] + t * depth));
  for (int r = 0; r < N; ++r) sum[r].store(out + r * depth);
}

static void blend(const float* row, const int32_t* starts, const float* weights, size_t taps, size_t depth,
                  size_t count, float* out) {
  size_t i = 0;
  if (depth <= 4)
    for (; i + 4 <= count; i += 4) blend_some<4, 4>(row, starts + i, weights + i, taps, depth, count, out + i * depth);
  if (depth == 8)
    for (; i + 4 <= count; i += 4) blend_some<8, 4>(row, starts + i, weights + i, taps, depth, count, out + i * depth);
  // Pixel by pixel, as the last four numbers of one may reach into the next.
  for (; i < count; ++i)
    for (size_t c = 0; c < depth; c += 4)
      blend_some<4, 1>(row + c, starts + i, weights + i, taps, depth, count, out + i * depth + c);
}

static void round_bytes(const float* x, size_t n, uint8_t* out) {
  constexpr float whole = 8388608.0f;  // 2^23, above which floats are whole numbers
  for (size_t i = 0; i < n; ++i) {
    const float low = x[i] > 0.0f ? x[i] : 0.0f, v = low < 255.0f ? low : 255.0f;
    out[i] = (uint8_t)(int32_t)((v + whole) - whole);
  }
}
