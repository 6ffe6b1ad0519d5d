// Scores of rows against a panel of queries, and which of them are high enough.

// Columns whose products are added up in one register before they join the total, lest long sums drift. The order of
// the additions depends on d alone: a score has the same bits wherever its row and its query stand.
constexpr size_t SEARCH_CHUNK = 256;
constexpr int SEARCH_PANEL = 2 * LANES;
constexpr int SEARCH_NARROW = LANES < 8 ? LANES : 8;

// A panel of P queries. R rows at a time: as many sums as registers can hold beside what they are made of.
template <int P>
struct PanelSearch {
  typedef Pack<P> Scores;
  static constexpr int V = P < LANES ? P : LANES;
  typedef int32_t Whole __attribute__((vector_size(V * 4)));
  static constexpr int R = P == SEARCH_NARROW || LANES == 16 ? 8 : 6;

  // `next` are the rows that come after these: they are fetched meanwhile, as so many short runs at once are more than
  // the processor foresees.
  template <int N>
  static inline void score(const float* const* rows, const float* const* next, size_t d, const float* panel,
                           Scores* total) {
    for (int r = 0; r < N; ++r) total[r] = Scores::zero();
    for (size_t begin = 0; begin < d; begin += SEARCH_CHUNK) {
      const size_t end = begin + SEARCH_CHUNK < d ? begin + SEARCH_CHUNK : d;
      Scores sum[N];
      for (int r = 0; r < N; ++r) sum[r] = Scores::zero();
      for (size_t j = begin; j < end; ++j) {
        if (j % 16 == 0)
          for (int r = 0; r < N; ++r) __builtin_prefetch(next[r] + j);
        const Scores q = Scores::load(panel + j * P);
        for (int r = 0; r < N; ++r) sum[r].multiply_add(rows[r][j], q);
      }
      for (int r = 0; r < N; ++r) total[r].add(sum[r]);
    }
  }

  // Whether any score is above its limit; most often none is.
  static inline bool any_above(const Scores& s, const Scores& limits) {
    Whole any = (Whole)(s.v[0] > limits.v[0]);
    for (int a = 1; a < Scores::N; ++a) any |= (Whole)(s.v[a] > limits.v[a]);
    int32_t lanes[V], found = 0;
    __builtin_memcpy(lanes, &any, sizeof lanes);
    for (int l = 0; l < V; ++l) found |= lanes[l];
    return found != 0;
  }

  template <int N>
  static inline void tile(const float* const* rows, const float* const* next, size_t d, const float* panel,
                          const float* limits, float* scores, uint32_t* masks) {
    Scores total[N];
    score<N>(rows, next, d, panel, total);
    const Scores least = Scores::load(limits);
    for (int r = 0; r < N; ++r) {
      masks[r] = 0;
      if (!any_above(total[r], least)) continue;
      total[r].store(scores + r * P);
      for (int q = 0; q < P; ++q) masks[r] |= uint32_t(scores[r * P + q] > limits[q]) << q;
    }
  }

  static void search(const float* const* rows, size_t n, size_t d, const float* panel, const float* limits,
                     float* scores, uint32_t* masks) {
    size_t i = 0;
    for (; i + R <= n; i += R) {
      const float* const* next = rows + (i + 2 * R <= n ? i + R : i);
      tile<R>(rows + i, next, d, panel, limits, scores + i * P, masks + i);
    }
    for (; i < n; ++i) tile<1>(rows + i, rows + i, d, panel, limits, scores + i * P, masks + i);
  }
};

static void search_rows(const float* const* rows, size_t n, size_t d, const float* panel, size_t width,
                        const float* limits, float* scores, uint32_t* masks) {
  if (width == SEARCH_PANEL)
    PanelSearch<SEARCH_PANEL>::search(rows, n, d, panel, limits, scores, masks);
  else
    PanelSearch<SEARCH_NARROW>::search(rows, n, d, panel, limits, scores, masks);
}
