// Sums of table entries that packed codes name, 4 bits for a block of columns; and products of bytes.

// Codes of 128 classes (blocks, 64) stand side by side: place p has class p / 2 in its low four bits and class 64 + p /
// 2 in its high ones, if p is odd each 32 further; so they part when bytes become longer numbers. Tables (rows, blocks,
// 16) serve both. Entries are so small that eight of them fit into a byte, and `blocks`, a multiple of 8, so few that
// the sum of all fits into 16 bits: see shortlist.h.
constexpr int CODE_BYTES = 64;

#if defined(__AVX2__)
constexpr bool FAST_LOOKUPS = true;
constexpr int BYTES = 4 * LANES;  // of a register
typedef uint8_t Codes __attribute__((vector_size(BYTES)));
typedef uint8_t LooseCodes __attribute__((vector_size(BYTES), aligned(1), may_alias));
typedef uint16_t Shorts __attribute__((vector_size(BYTES)));

// One table in all quarters or halves of a register, which the load does by itself.
static inline Codes spread(const uint8_t* table) {
  typedef uint8_t Table __attribute__((vector_size(16), aligned(1), may_alias));
  Codes all;
#if LANES == 16
  asm("vbroadcasti32x4 %1, %0" : "=v"(all) : "m"(*(const Table*)table));
#else
  asm("vbroadcasti128 %1, %0" : "=x"(all) : "m"(*(const Table*)table));
#endif
  return all;
}

static inline Codes look_up(Codes table, Codes which) {
  Codes entries;
  asm("vpshufb %2, %1, %0" : "=v"(entries) : "v"(table), "v"(which));
  return entries;
}

static inline void add_shorts(Shorts more, int32_t* sums) {
  uint16_t each[BYTES / 2];
  __builtin_memcpy(each, &more, sizeof more);
  for (int l = 0; l < BYTES / 2; ++l) sums[l] += each[l];
}

template <int R>
static inline void lookup_rows(const uint8_t* codes, size_t blocks, const uint8_t* tables, size_t table_stride,
                               int32_t* sums, size_t sum_stride) {
  Shorts both[R][2], odd[R][2];  // sums of even + 256 * odd places, modulo 65,536, and of odd ones
  for (int r = 0; r < R; ++r)
    for (int h = 0; h < 2; ++h) both[r][h] = odd[r][h] = Shorts{};
  for (size_t b = 0; b < blocks; b += 8) {
    Codes some[R][2];
    for (int s = 0; s < 8; ++s) {
      const Codes pair = *(const LooseCodes*)(codes + (b + s) * CODE_BYTES);
      const Codes low = pair & 15, high = (Codes)((Shorts)pair >> 4) & 15;
      for (int r = 0; r < R; ++r) {
        const Codes table = spread(tables + r * table_stride + (b + s) * 16);
        some[r][0] = s ? some[r][0] + look_up(table, low) : look_up(table, low);
        some[r][1] = s ? some[r][1] + look_up(table, high) : look_up(table, high);
      }
    }
    for (int r = 0; r < R; ++r)
      for (int h = 0; h < 2; ++h) {
        both[r][h] += (Shorts)some[r][h];
        odd[r][h] += (Shorts)some[r][h] >> 8;
      }
  }
  for (int r = 0; r < R; ++r)
    for (int h = 0; h < 2; ++h) {
      int32_t* half = sums + r * sum_stride + h * CODE_BYTES;
      add_shorts(both[r][h] - (odd[r][h] << 8), half);
      add_shorts(odd[r][h], half + CODE_BYTES / 2);
    }
}

typedef int32_t Whole __attribute__((vector_size(BYTES)));
typedef char Signed __attribute__((vector_size(BYTES)));
typedef char LooseSigned __attribute__((vector_size(BYTES), aligned(1), may_alias));

// total + the products of w and x, in fours: two products of a number below 128 and one of at most 127 fit into 16
// bits.
static inline Whole add_products(Whole total, Signed w, const int8_t* x) {
  typedef int16_t Wide __attribute__((vector_size(BYTES)));
  const Wide ones = Wide{} + 1;
  Wide pairs, fours;
  asm("vpmaddubsw %2, %1, %0" : "=v"(pairs) : "v"(w), "m"(*(const LooseSigned*)x));
  asm("vpmaddwd %2, %1, %0" : "=v"(fours) : "v"(pairs), "v"(ones));
  return total + (Whole)fours;
}

// The sum of all lanes, half by half.
template <int L, class Vector>
static inline int32_t sum_of(Vector v) {
  if constexpr (L == 1) {
    return v[0];
  } else {
    typedef int32_t Half __attribute__((vector_size(L * 2)));
    Half low, high;
    __builtin_memcpy(&low, &v, sizeof low);
    __builtin_memcpy(&high, (const char*)&v + sizeof low, sizeof high);
    return sum_of<L / 2>(low + high);
  }
}

template <int R>
static inline void dot_rows(const uint8_t* w, const int8_t* const* rows, size_t d, int32_t* sums) {
  Whole total[R];
  for (int r = 0; r < R; ++r) total[r] = Whole{};
  size_t j = 0;
  for (; j + BYTES <= d; j += BYTES) {
    const Signed some = *(const LooseSigned*)(w + j);
    for (int r = 0; r < R; ++r) total[r] = add_products(total[r], some, rows[r] + j);
  }
  for (int r = 0; r < R; ++r) {
    sums[r] = sum_of<LANES>(total[r]);
    for (size_t i = j; i < d; ++i) sums[r] += rows[r][i] * w[i];
  }
}
#else
constexpr bool FAST_LOOKUPS = false;

constexpr int BYTES = CODE_BYTES;

template <int R>
static inline void lookup_rows(const uint8_t* codes, size_t blocks, const uint8_t* tables, size_t table_stride,
                               int32_t* sums, size_t sum_stride) {
  for (int r = 0; r < R; ++r)
    for (size_t b = 0; b < blocks; ++b)
      for (int p = 0; p < CODE_BYTES; ++p) {
        const uint8_t both = codes[b * CODE_BYTES + p];
        const uint8_t* table = tables + r * table_stride + b * 16;
        int32_t* sum = sums + r * sum_stride + p / 2 + p % 2 * (CODE_BYTES / 2);
        sum[0] += table[both & 15];
        sum[CODE_BYTES] += table[both >> 4];
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

static void add_lookups(const uint8_t* codes, size_t blocks, const uint8_t* tables, size_t rows, size_t table_stride,
                        int32_t* sums, size_t sum_stride) {
  for (int part = 0; part < CODE_BYTES; part += BYTES) {
    const uint8_t* some = codes + part;
    int32_t* of = sums + part / 2;
    size_t r = 0;
    for (; r + 4 <= rows; r += 4)
      lookup_rows<4>(some, blocks, tables + r * table_stride, table_stride, of + r * sum_stride, sum_stride);
    for (; r < rows; ++r)
      lookup_rows<1>(some, blocks, tables + r * table_stride, table_stride, of + r * sum_stride, sum_stride);
  }
}

static void dot_bytes(const uint8_t* w, const int8_t* const* rows, size_t n, size_t d, int32_t* sums) {
  size_t r = 0;
  for (; r + 8 <= n; r += 8) dot_rows<8>(w, rows + r, d, sums + r);
  for (; r + 4 <= n; r += 4) dot_rows<4>(w, rows + r, d, sums + r);
  for (; r + 2 <= n; r += 2) dot_rows<2>(w, rows + r, d, sums + r);
  for (; r < n; ++r) dot_rows<1>(w, rows + r, d, sums + r);
}

static void rough_scores(const int32_t* sums, size_t k, int32_t zero, float unit, float spread, const float* offsets,
                         const float* slopes, const float* spreads, float* highest) {
  for (size_t c = 0; c < k; ++c)
    highest[c] = offsets[c] + slopes[c] * (unit * float(sums[c] - zero)) + spread * spreads[c];
}

// Entries are the same at every level: no product and sum become one operation, which would round once.
static void fill_tables(const float* v, size_t blocks, float rate, const float* points, float zero, uint8_t* tables) {
  typedef float Eight __attribute__((vector_size(32)));
  typedef float LooseEight __attribute__((vector_size(32), aligned(4), may_alias));
  typedef int32_t Whole __attribute__((vector_size(32)));
  typedef uint8_t Bytes __attribute__((vector_size(8), aligned(1), may_alias));
  const Eight half = Eight{} + (zero + 0.5f);  // which makes cutting off rounding
  for (size_t b = 0; b < blocks; ++b, tables += 16) {
    Eight along = {};
    for (int a = 0; a < 3; ++a) {
      Eight product = rate * v[b + a * blocks] * *(const LooseEight*)(points + 8 * a);
#if defined(__AVX2__)
      asm("" : "+v"(product));
#endif
      along = a ? along + product : product;
    }
    *(Bytes*)tables = __builtin_convertvector(__builtin_convertvector(half + along, Whole), Bytes);
    *(Bytes*)(tables + 8) = __builtin_convertvector(__builtin_convertvector(half - along, Whole), Bytes);
  }
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
