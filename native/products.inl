// Products with product-quantized rows (Algorithms 1 and 2 of Harchaoui et al., CVPR 2012), one tile of columns at
// a time.

template <int L>
static void make_tables_of(const float* codebooks, size_t blocks, size_t centroids, size_t width, const float* panel,
                           float* tables) {
  for (size_t q = 0; q < blocks; ++q) {
    const float* book = codebooks + q * centroids * width;
    const float* rows = panel + q * width * L;
    float* table = tables + q * ENTRIES * L;
    size_t c = 0;
    // Four centroids at a time share every load of the panel and hide the latency of the additions.
    for (; c + 4 <= centroids; c += 4) {
      Pack<L> s0 = Pack<L>::zero(), s1 = s0, s2 = s0, s3 = s0;
      const float* b = book + c * width;
      for (size_t j = 0; j < width; ++j) {
        Pack<L> row = Pack<L>::load(rows + j * L);
        s0.multiply_add(b[j], row);
        s1.multiply_add(b[width + j], row);
        s2.multiply_add(b[2 * width + j], row);
        s3.multiply_add(b[3 * width + j], row);
      }
      s0.store(table + c * L);
      s1.store(table + (c + 1) * L);
      s2.store(table + (c + 2) * L);
      s3.store(table + (c + 3) * L);
    }
    for (; c < centroids; ++c) {
      Pack<L> s = Pack<L>::zero();
      for (size_t j = 0; j < width; ++j) s.multiply_add(book[c * width + j], Pack<L>::load(rows + j * L));
      s.store(table + c * L);
    }
  }
}

template <int L>
static inline void add_at(float* sum, const Pack<L>& value) {
  Pack<L> total = Pack<L>::load(sum);
  total.add(value);
  total.store(sum);
}

// How many rows before their use the codes, and what goes with them, are asked for. Measured, X W with 128 columns,
// 20,000 x 4,096 in blocks of 16, one thread: 52 to 62 ms with 16, 63 to 69 ms with 64.
static constexpr size_t AHEAD = 16;

// Eight codes at a time, read as one word: half of the loads of the loop would otherwise be single bytes.
static inline uint64_t eight_codes(const uint8_t* codes) {
  uint64_t word;
  __builtin_memcpy(&word, codes, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

// The sum over blocks of the table entries of R rows. Two sums for each row are four or more chains of additions in
// flight while the tables arrive from the cache.
template <int L, int R>
static inline void gather_rows(const uint8_t* codes, size_t code_stride, size_t blocks, const float* tables,
                               Pack<L>* sums) {
  constexpr size_t table = ENTRIES * L;
  Pack<L> even[R], odd[R];
  for (int r = 0; r < R; ++r) even[r] = odd[r] = Pack<L>::zero();
  size_t q = 0;
  for (; q + 8 <= blocks; q += 8) {
    uint64_t word[R];
    for (int r = 0; r < R; ++r) word[r] = eight_codes(codes + r * code_stride + q);
    for (int h = 0; h < 8; h += 2)
      for (int r = 0; r < R; ++r) {
        even[r].add(tables + (q + h) * table + (word[r] >> 8 * h & 255) * L);
        odd[r].add(tables + (q + h + 1) * table + (word[r] >> (8 * h + 8) & 255) * L);
      }
  }
  for (; q < blocks; ++q)
    for (int r = 0; r < R; ++r) even[r].add(tables + q * table + (size_t)codes[r * code_stride + q] * L);
  for (int r = 0; r < R; ++r) {
    even[r].add(odd[r]);
    sums[r] = even[r];
  }
}

template <int L>
static void gather_add_of(const uint8_t* codes, size_t n, size_t code_stride, size_t blocks, const float* tables,
                          float* sums) {
  Pack<L> rows[2];
  size_t i = 0;
  for (; i + 2 <= n; i += 2) {
    // Codes of a block lie far apart, where the processor does not see them coming, and may stand on two cache lines.
    for (size_t r = i + AHEAD; r < i + AHEAD + 2; ++r) {
      __builtin_prefetch(codes + r * code_stride);
      __builtin_prefetch(codes + r * code_stride + blocks - 1);
    }
    gather_rows<L, 2>(codes + i * code_stride, code_stride, blocks, tables, rows);
    add_at<L>(sums + i * L, rows[0]);
    add_at<L>(sums + (i + 1) * L, rows[1]);
  }
  if (i < n) {
    gather_rows<L, 1>(codes + i * code_stride, code_stride, blocks, tables, rows);
    add_at<L>(sums + i * L, rows[0]);
  }
}

template <int L>
static void scatter_add_of(const uint8_t* codes, size_t n, size_t code_stride, size_t blocks, const float* values,
                           size_t value_stride, float* sums) {
  constexpr size_t table = ENTRIES * L;
  for (size_t i = 0; i < n; ++i) {
    __builtin_prefetch(codes + (i + AHEAD) * code_stride);
    __builtin_prefetch(codes + (i + AHEAD) * code_stride + blocks - 1);
    __builtin_prefetch(values + (i + AHEAD) * value_stride);
    __builtin_prefetch(values + (i + AHEAD) * value_stride + L - 1);
    const uint8_t* code = codes + i * code_stride;
    const Pack<L> value = Pack<L>::load(values + i * value_stride);
    size_t q = 0;
    for (; q + 8 <= blocks; q += 8) {
      const uint64_t word = eight_codes(code + q);
      for (int h = 0; h < 8; ++h) add_at<L>(sums + (q + h) * table + (word >> 8 * h & 255) * L, value);
    }
    for (; q < blocks; ++q) add_at<L>(sums + q * table + (size_t)code[q] * L, value);
  }
}

static void move_into(float* part, size_t count, float* total) {
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    add_at<16>(total + i, Pack<16>::load(part + i));
    Pack<16>::zero().store(part + i);
  }
  for (; i < count; ++i) total[i] += part[i], part[i] = 0;
}

template <int L>
static void fold_of(const float* codebook, size_t centroids, size_t width, const float* sums, float* out) {
  size_t j = 0;
  for (; j + 4 <= width; j += 4) {
    Pack<L> s0 = Pack<L>::zero(), s1 = s0, s2 = s0, s3 = s0;
    for (size_t c = 0; c < centroids; ++c) {
      const float* b = codebook + c * width + j;
      Pack<L> row = Pack<L>::load(sums + c * L);
      s0.multiply_add(b[0], row);
      s1.multiply_add(b[1], row);
      s2.multiply_add(b[2], row);
      s3.multiply_add(b[3], row);
    }
    s0.store(out + j * L);
    s1.store(out + (j + 1) * L);
    s2.store(out + (j + 2) * L);
    s3.store(out + (j + 3) * L);
  }
  for (; j < width; ++j) {
    Pack<L> s = Pack<L>::zero();
    for (size_t c = 0; c < centroids; ++c) s.multiply_add(codebook[c * width + j], Pack<L>::load(sums + c * L));
    s.store(out + j * L);
  }
}

static void make_tables(const float* codebooks, size_t blocks, size_t centroids, size_t width, const float* panel,
                        int tile, float* tables) {
  switch (tile) {
    case 1: return make_tables_of<1>(codebooks, blocks, centroids, width, panel, tables);
    case 4: return make_tables_of<4>(codebooks, blocks, centroids, width, panel, tables);
    case 8: return make_tables_of<8>(codebooks, blocks, centroids, width, panel, tables);
    default: return make_tables_of<16>(codebooks, blocks, centroids, width, panel, tables);
  }
}

static void gather_add(const uint8_t* codes, size_t n, size_t code_stride, size_t blocks, const float* tables, int tile,
                       float* sums) {
  switch (tile) {
    case 1: return gather_add_of<1>(codes, n, code_stride, blocks, tables, sums);
    case 4: return gather_add_of<4>(codes, n, code_stride, blocks, tables, sums);
    case 8: return gather_add_of<8>(codes, n, code_stride, blocks, tables, sums);
    default: return gather_add_of<16>(codes, n, code_stride, blocks, tables, sums);
  }
}

static void scatter_add(const uint8_t* codes, size_t n, size_t code_stride, size_t blocks, const float* values,
                        size_t value_stride, int tile, float* sums) {
  switch (tile) {
    case 1: return scatter_add_of<1>(codes, n, code_stride, blocks, values, value_stride, sums);
    case 4: return scatter_add_of<4>(codes, n, code_stride, blocks, values, value_stride, sums);
    case 8: return scatter_add_of<8>(codes, n, code_stride, blocks, values, value_stride, sums);
    default: return scatter_add_of<16>(codes, n, code_stride, blocks, values, value_stride, sums);
  }
}

static void fold(const float* codebook, size_t centroids, size_t width, const float* sums, int tile, float* out) {
  switch (tile) {
    case 1: return fold_of<1>(codebook, centroids, width, sums, out);
    case 4: return fold_of<4>(codebook, centroids, width, sums, out);
    case 8: return fold_of<8>(codebook, centroids, width, sums, out);
    default: return fold_of<16>(codebook, centroids, width, sums, out);
  }
}
