// Between rows of numbers and rows of codes: the nearest centroid of every block, and back.

// The compiler is told that codebooks and rows lie apart, or it copies one number at a time. Measured, one thread,
// 4,096 columns in blocks of 8: 1.7 us a row, and 3.7 without.
template <int W>
static void decode_rows(const uint8_t* codes, size_t n, size_t blocks, const float* codebooks, size_t centroids,
                        size_t width, size_t d, float* __restrict out) {
  const size_t whole = d / width, rest = d - whole * width, last = centroids - 1;
  const size_t w = W ? W : width;
  for (size_t i = 0; i < n; ++i) {
    const uint8_t* code = codes + i * blocks;
    float* __restrict row = out + i * d;
    for (size_t q = 0; q < whole; ++q) {
      // A code that no codebook has, from a damaged file, must not lead outside.
      const float* from = codebooks + (q * centroids + (code[q] < last ? code[q] : last)) * w;
      for (size_t j = 0; j < w; ++j) row[q * w + j] = from[j];
    }
    if (!rest) continue;
    const float* from = codebooks + (whole * centroids + (code[whole] < last ? code[whole] : last)) * w;
    for (size_t j = 0; j < rest; ++j) row[whole * w + j] = from[j];
  }
}

static void decode(const uint8_t* codes, size_t n, size_t blocks, const float* codebooks, size_t centroids,
                   size_t width, size_t d, float* out) {
  switch (width) {
    case 4: return decode_rows<4>(codes, n, blocks, codebooks, centroids, width, d, out);
    case 8: return decode_rows<8>(codes, n, blocks, codebooks, centroids, width, d, out);
    case 16: return decode_rows<16>(codes, n, blocks, codebooks, centroids, width, d, out);
    default: return decode_rows<0>(codes, n, blocks, codebooks, centroids, width, d, out);
  }
}

typedef float Floats __attribute__((vector_size(LANES * 4)));
typedef float LooseFloats __attribute__((vector_size(LANES * 4), aligned(4), may_alias));
typedef int32_t Ints __attribute__((vector_size(LANES * 4)));

// The nearest of `padded` centroids to each of R rows; W is the width where it is known, 0 elsewhere.
template <int W, int R>
static inline void nearest(const float* x, size_t x_stride, float scale, const float* turned, size_t padded,
                           size_t width, float* distance, int32_t* index) {
  const size_t w = W ? W : width;
  Floats best[R];
  Ints which[R];
  for (int r = 0; r < R; ++r) {
    best[r] = Floats{} + __builtin_inff();
    which[r] = Ints{};
  }
  Ints here;
  for (int l = 0; l < LANES; ++l) here[l] = l;
  for (size_t c = 0; c < padded; c += LANES) {
    Floats sum[R];
    for (int r = 0; r < R; ++r) sum[r] = Floats{};
    for (size_t j = 0; j < w; ++j) {
      const Floats centroid = *(const LooseFloats*)(turned + j * padded + c);
      for (int r = 0; r < R; ++r) {
        const Floats difference = scale * x[r * x_stride + j] - centroid;
        sum[r] += difference * difference;
      }
    }
    for (int r = 0; r < R; ++r) {
      const Ints closer = sum[r] < best[r];
      best[r] = closer ? sum[r] : best[r];
      which[r] = closer ? here : which[r];
    }
    here += LANES;
  }
  for (int r = 0; r < R; ++r) {
    float d = best[r][0];
    int32_t m = which[r][0];
    for (int l = 1; l < LANES; ++l)
      if (best[r][l] < d || (best[r][l] == d && which[r][l] < m)) d = best[r][l], m = which[r][l];
    distance[r] = d;
    index[r] = m;
  }
}

template <int W>
static size_t assign_of(const float* x, size_t n, size_t x_stride, float scale, const float* turned, size_t padded,
                        size_t width, uint8_t* codes, size_t code_stride) {
  constexpr int R = 2;
  float distance[R];
  int32_t index[R];
  size_t bad = n;
  for (size_t i = 0; i < n; i += R) {
    const int rows = n - i < R ? 1 : R;
    if (rows == R)
      nearest<W, R>(x + i * x_stride, x_stride, scale, turned, padded, width, distance, index);
    else
      nearest<W, 1>(x + i * x_stride, x_stride, scale, turned, padded, width, distance, index);
    for (int r = 0; r < rows; ++r) {
      codes[(i + r) * code_stride] = (uint8_t)index[r];
      if (!(distance[r] < __builtin_inff()) && bad == n) bad = i + r;
    }
  }
  return bad;
}

static size_t assign(const float* x, size_t n, size_t x_stride, float scale, const float* turned, size_t padded,
                     size_t width, uint8_t* codes, size_t code_stride) {
  switch (width) {
    case 4: return assign_of<4>(x, n, x_stride, scale, turned, padded, width, codes, code_stride);
    case 8: return assign_of<8>(x, n, x_stride, scale, turned, padded, width, codes, code_stride);
    case 16: return assign_of<16>(x, n, x_stride, scale, turned, padded, width, codes, code_stride);
    default: return assign_of<0>(x, n, x_stride, scale, turned, padded, width, codes, code_stride);
  }
}

static void mix(const float* x, size_t n, size_t stride, size_t groups, const float* mixer, size_t size, size_t padded,
                float* out) {
  for (size_t i = 0; i < n; ++i)
    for (size_t g = 0; g < groups; ++g) {
      const float* from = x + i * stride + g * size;
      float* to = out + i * stride + g * size;
      for (size_t c = 0; c < size; c += 16) {
        Pack<16> sum = Pack<16>::zero();
        for (size_t j = 0; j < size; ++j) sum.multiply_add(from[j], Pack<16>::load(mixer + j * padded + c));
        if (c + 16 <= size) {
          sum.store(to + c);
        } else {
          float part[16];
          sum.store(part);
          for (size_t l = 0; c + l < size; ++l) to[c + l] = part[l];
        }
      }
    }
}
