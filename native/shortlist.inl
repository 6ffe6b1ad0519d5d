// Sums of table entries that packed codes name, 4 bits for a block of columns; and products of bytes.

// The codes of SHORTLIST_CLASSES classes stand side by side, a byte for 2 blocks, those of the first half at even and
// of the second at odd places, as they part when bytes become longer numbers; tables (rows, 2 * bytes, 16) have one for
// every block. Entries are so small that eight of them fit into a byte, and `bytes`, a multiple of 4, so few
// that the sum of all fits into 16 bits: see shortlist.h.
constexpr int SHORTLIST_CLASSES = 32;

#if defined(__AVX2__)
constexpr bool FAST_LOOKUPS = true;
typedef uint8_t Codes __attribute__((vector_size(32)));
typedef uint8_t LooseCodes __attribute__((vector_size(32), aligned(1), may_alias));
typedef long long Table __attribute__((vector_size(16)));
typedef long long LooseTable __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint16_t Shorts __attribute__((vector_size(32)));
typedef char Signed __attribute__((vector_size(32)));

// Entries of one table, which is in both halves of a register.
static inline Codes look_up(const uint8_t* table, Codes which) {
  const Table t = *(const LooseTable*)table;
#if defined(__clang__)
  const Signed both = (Signed)__builtin_shufflevector(t, t, 0, 1, 0, 1);
#else
  const Signed both = (Signed)__builtin_ia32_vbroadcastsi256(t);
#endif
  return (Codes)__builtin_ia32_pshufb256(both, (Signed)which);
}

static inline void add_shorts(Shorts more, int32_t* sums) {
  typedef uint16_t Half __attribute__((vector_size(16)));
  typedef int32_t Whole __attribute__((vector_size(32)));
  typedef int32_t LooseWhole __attribute__((vector_size(32), aligned(4), may_alias));
  Half halves[2];
  __builtin_memcpy(halves, &more, sizeof more);
  for (int h = 0; h < 2; ++h) *(LooseWhole*)(sums + 8 * h) += __builtin_convertvector(halves[h], Whole);
}

template <int R>
static inline void lookup_rows(const uint8_t* codes, size_t bytes, const uint8_t* tables, size_t table_stride,
                               int32_t* sums, size_t sum_stride) {
  Shorts both[R], odd[R];  // sums of even + 256 * odd places, modulo 65,536, and of odd ones
  for (int r = 0; r < R; ++r) both[r] = odd[r] = Shorts{};
  for (size_t t = 0; t < bytes; t += 4) {
    Codes some[R];
    for (int r = 0; r < R; ++r) some[r] = Codes{};
    for (int s = 0; s < 4; ++s) {
      const Codes pair = *(const LooseCodes*)(codes + (t + s) * SHORTLIST_CLASSES);
      const Codes first = pair & 15, second = (Codes)((Shorts)pair >> 4) & 15;
      for (int r = 0; r < R; ++r) {
        const uint8_t* table = tables + r * table_stride + (t + s) * 32;
        some[r] += look_up(table, first) + look_up(table + 16, second);
        // Lest the compiler gathers all that is added up first, for which registers are too few.
        asm("" : "+x"(some[r]));
      }
    }
    for (int r = 0; r < R; ++r) {
      both[r] += (Shorts)some[r];
      odd[r] += (Shorts)some[r] >> 8;
    }
  }
  for (int r = 0; r < R; ++r) {
    add_shorts(both[r] - (odd[r] << 8), sums + r * sum_stride);
    add_shorts(odd[r], sums + r * sum_stride + SHORTLIST_CLASSES / 2);
  }
}

// Two products of a number below 128 and one of at most 127 fit into 16 bits.
template <int R>
static inline void dot_rows(const uint8_t* w, const int8_t* const* rows, size_t d, int32_t* sums) {
  typedef char LooseSigned __attribute__((vector_size(32), aligned(1), may_alias));
  typedef int16_t Wide __attribute__((vector_size(32)));
  typedef int32_t Whole __attribute__((vector_size(32)));
  const Wide ones = Wide{} + 1;
  Whole total[R];
  for (int r = 0; r < R; ++r) total[r] = Whole{};
  size_t j = 0;
  for (; j + 32 <= d; j += 32) {
    const Signed a = *(const LooseSigned*)(w + j);
    for (int r = 0; r < R; ++r) {
      const Wide pairs = (Wide)__builtin_ia32_pmaddubsw256(a, *(const LooseSigned*)(rows[r] + j));
      total[r] += (Whole)__builtin_ia32_pmaddwd256(pairs, ones);
    }
  }
  for (int r = 0; r < R; ++r) {
    sums[r] = 0;
    for (int l = 0; l < 8; ++l) sums[r] += total[r][l];
    for (size_t i = j; i < d; ++i) sums[r] += rows[r][i] * w[i];
  }
}
#else
constexpr bool FAST_LOOKUPS = false;

template <int R>
static inline void lookup_rows(const uint8_t* codes, size_t bytes, const uint8_t* tables, size_t table_stride,
                               int32_t* sums, size_t sum_stride) {
  for (int r = 0; r < R; ++r)
    for (size_t t = 0; t < bytes; ++t)
      for (int c = 0; c < SHORTLIST_CLASSES; ++c) {
        const uint8_t both = codes[t * SHORTLIST_CLASSES + 2 * c % SHORTLIST_CLASSES + 2 * c / SHORTLIST_CLASSES];
        const uint8_t* table = tables + r * table_stride + t * 32;
        sums[r * sum_stride + c] += table[both & 15] + table[16 + (both >> 4)];
      }
}

template <int R>
static inline void dot_rows(const uint8_t* w, const int8_t* const* rows, size_t d, int32_t* sums) {
  for (int r = 0; r < R; ++r) {
    sums[r] = 0;
    for (size_t j = 0; j < d; ++j) sums[r] += int32_t(int16_t(rows[r][j]) * int16_t(w[j]));
  }
}
#endif

static void add_lookups(const uint8_t* codes, size_t bytes, const uint8_t* tables, size_t rows, size_t table_stride,
                        int32_t* sums, size_t sum_stride) {
  size_t r = 0;
  for (; r + 4 <= rows; r += 4)
    lookup_rows<4>(codes, bytes, tables + r * table_stride, table_stride, sums + r * sum_stride, sum_stride);
  for (; r < rows; ++r)
    lookup_rows<1>(codes, bytes, tables + r * table_stride, table_stride, sums + r * sum_stride, sum_stride);
}

static void dot_bytes(const uint8_t* w, const int8_t* const* rows, size_t n, size_t d, int32_t* sums) {
  size_t r = 0;
  for (; r + 4 <= n; r += 4) dot_rows<4>(w, rows + r, d, sums + r);
  for (; r + 2 <= n; r += 2) dot_rows<2>(w, rows + r, d, sums + r);
  for (; r < n; ++r) dot_rows<1>(w, rows + r, d, sums + r);
}

static void rough_scores(const int32_t* sums, size_t k, int32_t zero, float unit, float spread, const float* offsets,
                         const float* slopes, const float* spreads, float* highest) {
  for (size_t c = 0; c < k; ++c)
    highest[c] = offsets[c] + slopes[c] * (unit * float(sums[c] - zero)) + spread * spreads[c];
}

static void nearest_points(const float* u, size_t blocks, float scale, const float* points, const float* squares,
                           int32_t* which, float* products) {
  typedef float Eight __attribute__((vector_size(32)));
  typedef float LooseEight __attribute__((vector_size(32), aligned(4), may_alias));
  typedef int32_t Whole __attribute__((vector_size(32)));
  typedef int32_t LooseWhole __attribute__((vector_size(32), aligned(4), may_alias));
  for (size_t i = 0; i < blocks; i += 8) {
    Eight s[3], best = Eight{} - 1e30f, product = {};
    for (int a = 0; a < 3; ++a) s[a] = scale * *(const LooseEight*)(u + a * blocks + i);
    Whole nearest = {};
    for (int e = 0; e < 8; ++e) {
      const Eight along = points[e] * s[0] + points[8 + e] * s[1] + points[16 + e] * s[2];
      const Whole sign = (Whole)along & INT32_MIN;
      const Eight size = (Eight)((Whole)along ^ sign), gain = size - 0.5f * squares[e];
      const Whole better = gain > best;
      best = (Eight)(((Whole)gain & better) | ((Whole)best & ~better));
      product = (Eight)(((Whole)size & better) | ((Whole)product & ~better));
      nearest = (((sign >> 31 & 8) | e) & better) | (nearest & ~better);
    }
    *(LooseWhole*)(which + i) = nearest;
    *(LooseEight*)(products + i) = product;
  }
}
