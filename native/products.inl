// Products with product-quantized rows (Algorithms 1 and 2 of Harchaoui et al., CVPR 2012), one tile of columns at
// a time.

template <int L>
static void make_tables_of(const float* codebooks, size_t blocks, size_t centroids, size_t width, const float* panel,
                           float* tables) {
  for (size_t q = 0; q < blocks; ++q) {
    const float* book = codebooks + q * centroids * width;
    const float* rows = panel + q * width * L;
    float* table = tables + q * centroids * L;
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
static inline void add_to(float* out, const Pack<L>& sum, size_t columns) {
  if (columns == L) {
    Pack<L> total = Pack<L>::load(out);
    total.add(sum);
    total.store(out);
  } else {
    float part[L];
    sum.store(part);
    for (size_t c = 0; c < columns; ++c) out[c] += part[c];
  }
}

template <int L>
static void gather_add_of(const uint8_t* codes, size_t n, size_t code_stride, size_t blocks, size_t centroids,
                          const float* tables, size_t columns, float* out, size_t out_stride) {
  const size_t table = centroids * L;
  size_t i = 0;
  // Two rows and two sums each: four chains of additions are in flight while the tables arrive from the cache.
  for (; i + 2 <= n; i += 2) {
    const uint8_t* a = codes + i * code_stride;
    const uint8_t* b = a + code_stride;
    Pack<L> a0 = Pack<L>::zero(), a1 = a0, b0 = a0, b1 = a0;
    const float* t = tables;
    size_t q = 0;
    for (; q + 2 <= blocks; q += 2, t += 2 * table) {
      a0.add(t + (size_t)a[q] * L);
      b0.add(t + (size_t)b[q] * L);
      a1.add(t + table + (size_t)a[q + 1] * L);
      b1.add(t + table + (size_t)b[q + 1] * L);
    }
    if (q < blocks) {
      a0.add(t + (size_t)a[q] * L);
      b0.add(t + (size_t)b[q] * L);
    }
    a0.add(a1);
    b0.add(b1);
    add_to<L>(out + i * out_stride, a0, columns);
    add_to<L>(out + (i + 1) * out_stride, b0, columns);
  }
  if (i < n) {
    const uint8_t* a = codes + i * code_stride;
    Pack<L> a0 = Pack<L>::zero(), a1 = a0;
    size_t q = 0;
    for (; q + 2 <= blocks; q += 2) {
      a0.add(tables + q * table + (size_t)a[q] * L);
      a1.add(tables + (q + 1) * table + (size_t)a[q + 1] * L);
    }
    if (q < blocks) a0.add(tables + q * table + (size_t)a[q] * L);
    a0.add(a1);
    add_to<L>(out + i * out_stride, a0, columns);
  }
}

template <int L>
static void scatter_add_of(const uint8_t* codes, size_t n, const float* values, float* sums) {
  for (size_t i = 0; i < n; ++i) {
    float* s = sums + (size_t)codes[i] * L;
    Pack<L> sum = Pack<L>::load(s);
    sum.add(values + i * L);
    sum.store(s);
  }
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

static void gather_add(const uint8_t* codes, size_t n, size_t code_stride, size_t blocks, size_t centroids,
                       const float* tables, int tile, size_t columns, float* out, size_t out_stride) {
  switch (tile) {
    case 1: return gather_add_of<1>(codes, n, code_stride, blocks, centroids, tables, columns, out, out_stride);
    case 4: return gather_add_of<4>(codes, n, code_stride, blocks, centroids, tables, columns, out, out_stride);
    case 8: return gather_add_of<8>(codes, n, code_stride, blocks, centroids, tables, columns, out, out_stride);
    default: return gather_add_of<16>(codes, n, code_stride, blocks, centroids, tables, columns, out, out_stride);
  }
}

static void scatter_add(const uint8_t* codes, size_t n, const float* values, int tile, float* sums) {
  switch (tile) {
    case 1: return scatter_add_of<1>(codes, n, values, sums);
    case 4: return scatter_add_of<4>(codes, n, values, sums);
    case 8: return scatter_add_of<8>(codes, n, values, sums);
    default: return scatter_add_of<16>(codes, n, values, sums);
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

static void turn(const uint8_t* codes, size_t n, size_t code_stride, size_t blocks, uint8_t* turned,
                 size_t turned_stride) {
  for (size_t i = 0; i < n; ++i)
    for (size_t q = 0; q < blocks; ++q) turned[q * turned_stride + i] = codes[i * code_stride + q];
}
