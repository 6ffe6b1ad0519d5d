// Cells of local descriptors: 8 numbers per pixel, pooled with a profile; and SIFT of the cells.

typedef Pack<8> Eight;

// The angle whose tangent is r in [0, 1], in units of 45 degrees, to 5e-7.
static inline float eighths(float r) {
  const float u = r * r;
  float p = 0.0084829824f;
  p = p * u - 0.0422199182f;
  p = p * u + 0.100737154f;
  p = p * u - 0.168145925f;
  p = p * u + 0.252111614f;
  p = p * u - 0.424200207f;
  p = p * u + 1.27323425f;
  return p * r;
}

static inline float absolute(float x) { return x < 0 ? -x : x; }

static void gray(const uint8_t* pixels, size_t n, const float* weights, float* out) {
  const float red = weights[0], green = weights[1], blue = weights[2];
  for (size_t i = 0; i < n; ++i)
    out[i] = (float)pixels[3 * i] * red + (float)pixels[3 * i + 1] * green + (float)pixels[3 * i + 2] * blue;
}

static void color_powers(const uint8_t* pixels, size_t n, float* out) {
  constexpr size_t SOME = 64;
  float line[3 * SOME + 1];
  for (size_t begin = 0; begin < n; begin += SOME, pixels += 3 * SOME) {
    const size_t m = n - begin < SOME ? n - begin : SOME;
    for (size_t i = 0; i < 3 * m; ++i) line[i] = (float)pixels[i] - 128.0f;
    line[3 * m] = 0.0f;
    // Four numbers at a time; what follows takes the place of the fourth.
    for (size_t i = 0; i < m; ++i, out += 8) {
      const Pack<4> color = Pack<4>::load(line + 3 * i);
      Pack<4> square = Pack<4>::zero();
      square.multiply_add(color, color);
      color.store(out);
      square.store(out + 3);
      out[6] = out[7] = 0.0f;
    }
  }
}

constexpr size_t VOTERS = 64;  // pixels whose directions are found together

static void vote(const float* dx, const float* dy, size_t w, float* votes) {
  float direction[VOTERS], length[VOTERS];
  for (size_t begin = 0; begin < w; begin += VOTERS) {
    const size_t n = w - begin < VOTERS ? w - begin : VOTERS;
    for (size_t i = 0; i < n; ++i) {
      const float x = dx[begin + i], y = dy[begin + i], a = absolute(x), b = absolute(y);
      const float low = a < b ? a : b, high = a < b ? b : a;
      float angle = eighths(low / (high > 1e-30f ? high : 1e-30f));
      angle = b > a ? 2.0f - angle : angle;
      angle = x < 0 ? 4.0f - angle : angle;
      direction[i] = y < 0 ? 8.0f - angle : angle;
      length[i] = __builtin_sqrtf(x * x + y * y);
    }
    float* out = votes + begin * 8;
    for (size_t i = 0; i < n; ++i)
      for (int t = 0; t < 8; ++t) {
        const float away = absolute(direction[i] - float(t)), near = away < 4.0f ? 1.0f - away : away - 7.0f;
        out[i * 8 + t] = near > 0 ? near * length[i] : 0.0f;
      }
  }
}

// R cells at a time, so that one sum need not wait for another.
template <int R>
static inline void pool_some(const float* pixels, const float* profile, size_t taps, size_t stride, float* out) {
  Eight sum[R];
  for (int r = 0; r < R; ++r) sum[r] = Eight::zero();
  for (size_t k = 0; k < taps; ++k)
    for (int r = 0; r < R; ++r) sum[r].multiply_add(profile[k], Eight::load(pixels + (r * stride + k) * 8));
  for (int r = 0; r < R; ++r) sum[r].store(out + r * 8);
}

static void pool(const float* pixels, const float* profile, size_t taps, size_t stride, size_t count, float* out) {
  size_t c = 0;
  for (; c + 4 <= count; c += 4) pool_some<4>(pixels + c * stride * 8, profile, taps, stride, out + c * 8);
  for (; c < count; ++c) pool_some<1>(pixels + c * stride * 8, profile, taps, stride, out + c * 8);
}

static inline float sum_of_eight(const Eight& e) {
  float v[8];
  e.store(v);
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

static inline float squares(const Eight* cells) {
  Eight sum[4] = {Eight::zero(), Eight::zero(), Eight::zero(), Eight::zero()};
  for (int c = 0; c < 16; ++c) sum[c % 4].multiply_add(cells[c], cells[c]);
  sum[0].add(sum[1]);
  sum[2].add(sum[3]);
  sum[0].add(sum[2]);
  return sum_of_eight(sum[0]);
}

static inline float mass(const Eight* cells) {
  Eight sum[4] = {cells[0], cells[1], cells[2], cells[3]};
  for (int c = 4; c < 16; ++c) sum[c % 4].add(cells[c]);
  sum[0].add(sum[1]);
  sum[2].add(sum[3]);
  sum[0].add(sum[2]);
  return sum_of_eight(sum[0]);
}

static inline void sift_patch(const float* cells, size_t down, size_t right, const float* window, float least,
                              bool root, float* out) {
  Eight v[16];
  for (int c = 0; c < 16; ++c) {
    v[c] = Eight::zero();
    v[c].multiply_add(window[c], Eight::load(cells + (c / 4) * down + (c % 4) * right));
  }
  // Below the least there is nothing to see but rounding, which must not be blown up to unit length.
  if (!(mass(v) >= least)) {
    for (int i = 0; i < 128; ++i) out[i] = 0.0f;
    return;
  }
  const float scale = 1.0f / __builtin_sqrtf(squares(v));
  for (int c = 0; c < 16; ++c)
    for (int a = 0; a < Eight::N; ++a)
      for (int l = 0; l < Eight::V; ++l) {
        const float x = v[c].v[a][l] * scale;
        v[c].v[a][l] = x < 0.2f ? x : 0.2f;
      }
  const float last = 1.0f / (root ? mass(v) : __builtin_sqrtf(squares(v)));
  for (int c = 0; c < 16; ++c) {
    Eight e = Eight::zero();
    e.multiply_add(last, v[c]);
    e.store(out + c * 8);
  }
  if (root)
    for (int i = 0; i < 128; ++i) out[i] = __builtin_sqrtf(out[i]);
}

static void sift(const float* cells, size_t down, size_t right, size_t stride, size_t count, const float* window,
                 float least, int root, float* out) {
  for (size_t p = 0; p < count; ++p) sift_patch(cells + p * stride, down, right, window, least, root, out + p * 128);
}

// A color at a time and one number beyond, over which the next is written.
static void color_statistics(const float* cells, size_t n, double count, float* out) {
  for (size_t i = 0; i < n; ++i, cells += 8, out += 6) {
    float mean[4], deviation[4];
    for (int c = 0; c < 4; ++c) {
      const double sum = cells[c], squares = cells[3 + c];
      mean[c] = (float)(sum / count + 128.0) / 255.0f;
      // A difference of whole numbers below 2^53, hence exact and never negative.
      deviation[c] = (float)(__builtin_sqrt(count * squares - sum * sum) / count) / 255.0f;
    }
    Pack<4>::load(mean).store(out);
    Pack<4>::load(deviation).store(out + 3);
  }
}
