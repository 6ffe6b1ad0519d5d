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

// L columns of four sums at a time.
template <int L>
static inline void mix_four_columns(const float* rows, size_t width, size_t span, const float* weights, float* out) {
  Pack<L> sum[4];
  for (int r = 0; r < 4; ++r) sum[r] = Pack<L>::zero();
  for (size_t t = 0; t < span; ++t) {
    const Pack<L> x = Pack<L>::load(rows + t * width);
    for (int r = 0; r < 4; ++r) sum[r].multiply_add(weights[t * 4 + r], x);
  }
  for (int r = 0; r < 4; ++r) sum[r].store(out + r * width);
}

static void mix_four(const float* rows, size_t width, size_t span, const float* weights, float* out) {
  constexpr size_t L = 2 * LANES;
  size_t j = 0;
  for (; j + L <= width; j += L) mix_four_columns<L>(rows + j, width, span, weights, out + j);
  for (; j < width; ++j) mix_four_columns<1>(rows + j, width, span, weights, out + j);
}

// Four numbers at a time; what follows a color takes the place of the fourth.
static void interleave(const float* colors, size_t w, float* out) {
  for (size_t x = 0; x < w; ++x)
    for (size_t r = 0; r < 4; ++r) Pack<4>::load(colors + (r * w + x) * 3).store(out + (x * 4 + r) * 4);
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
  if (depth == 16)
    for (; i + 4 <= count; i += 4) blend_some<16, 4>(row, starts + i, weights + i, taps, depth, count, out + i * depth);
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

static void round_colors(const float* x, size_t n, uint8_t* out) {
  typedef float Four __attribute__((vector_size(16), aligned(4), may_alias));
  typedef float Floats4 __attribute__((vector_size(16)));
  typedef uint8_t Bytes __attribute__((vector_size(16)));
  constexpr float whole = 8388608.0f;  // 2^23: added to it, a number below 256 is a byte, the lowest of the sum
  for (size_t i = 0; i < n; ++i, x += 16, out += 3) {
    const Floats4 any = *(const Four*)x, low = any > 0.0f ? any : Floats4{}, top = Floats4{} + 255.0f;
    const Bytes sum = (Bytes)((low < top ? low : top) + whole);
#if LANES > 4
    const Bytes bytes = __builtin_shufflevector(sum, sum, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12);
    // What is written beyond a pixel is overwritten by the next.
    __builtin_memcpy(out, &bytes, i + 1 < n ? 4 : 3);
#else
    uint32_t bits[4];
    __builtin_memcpy(bits, &sum, sizeof bits);
    for (int c = 0; c < 3; ++c) out[c] = (uint8_t)bits[c];
#endif
  }
}
