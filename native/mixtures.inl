// Rows against the centers of a mixture or of words: scores of all of them, and what the few that matter add up to.

// Columns that stand side by side, in `panels` as in padded rows; zeros fill what is left over.
constexpr int COLUMNS = 16;

// As many rows at a time as there are registers for their sums, beside what these are made of.
constexpr int CENTER_ROWS = LANES == 16 ? 12 : 4;

// One row and one panel: sum_j x[j] * (linear[j, :] + x[j] * square[j, :]), or without squares.
template <int N, bool SQUARES>
static inline void score_tile(const float* rows, size_t stride, size_t d, const float* panel, const float* offsets,
                              float* scores, size_t padded) {
  typedef Pack<COLUMNS> Scores;
  constexpr size_t depth = SQUARES ? 2 * COLUMNS : COLUMNS;
  Scores sum[N];
  for (int r = 0; r < N; ++r) sum[r] = Scores::load(offsets);
  for (size_t j = 0; j < d; ++j) {
    const Scores linear = Scores::load(panel + j * depth);
    const Scores square = SQUARES ? Scores::load(panel + j * depth + COLUMNS) : linear;
    for (int r = 0; r < N; ++r) {
      const float x = rows[r * stride + j];
      Scores slope = linear;
      if (SQUARES) slope.multiply_add(x, square);
      sum[r].multiply_add(x, slope);
    }
  }
  for (int r = 0; r < N; ++r) sum[r].store(scores + r * padded);
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

static void word_scores(const float* rows, size_t n, size_t stride, size_t d, const float* panels,
                        const float* offsets, size_t padded, float* scores) {
  score_centers<false>(rows, n, stride, d, panels, offsets, padded, scores);
}

static size_t near_top(const float* s, size_t padded, float margin, int32_t* index) {
  const float least = largest(s, padded) - margin;
  size_t count = 0;
  for (size_t c = 0; c < padded; c += LANES) {
    const Ints high = *(const Loose*)(s + c) >= Floats{} + least;
    uint64_t parts[LANES / 2], any = 0;
    __builtin_memcpy(parts, &high, sizeof parts);
    for (int l = 0; l < LANES / 2; ++l) any |= parts[l];
    if (!any) continue;
    for (size_t l = c; l < c + LANES; ++l) {
      index[count] = (int32_t)l;
      count += s[l] >= least;
    }
  }
  return count;
}

static void half_squares(const float* x, size_t width, const float* means, const float* rates, const int32_t* index,
                         size_t count, float* out) {
  for (size_t t = 0; t < count; ++t) {
    const float *mean = means + index[t] * width, *rate = rates + index[t] * width;
    Floats sum = {};
    for (size_t j = 0; j < width; j += LANES) {
      const Floats u = (*(const Loose*)(x + j) - *(const Loose*)(mean + j)) * *(const Loose*)(rate + j);
      sum += u * u;
    }
    // In halves, which is quicker than one after the other.
    float lanes[LANES];
    __builtin_memcpy(lanes, &sum, sizeof lanes);
    for (int half = LANES / 2; half; half /= 2)
      for (int l = 0; l < half; ++l) lanes[l] += lanes[l + half];
    out[t] = 0.5f * lanes[0];
  }
}

static void add_moments(const float* rows, const int32_t* index, const float* weights, size_t count, size_t width,
                        const float* mean, const float* rate, double* first, double* second) {
  for (size_t j = 0; j < width; j += LANES) {
    const Floats m = *(const Loose*)(mean + j), r = *(const Loose*)(rate + j);
    Floats one = {}, two = {};
    for (size_t t = 0; t < count; ++t) {
      const Floats u = (*(const Loose*)(rows + index[t] * width + j) - m) * r;
      one += weights[t] * u;
      two += weights[t] * (u * u - 1.0f);
    }
    for (int l = 0; l < LANES; ++l) first[j + l] += one[l], second[j + l] += two[l];
  }
}
