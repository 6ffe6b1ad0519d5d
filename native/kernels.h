// The hot loops, as one table of functions per instruction set.
//
// Conventions: every array is row-major and compact. n rows, k columns, `blocks` bytes per row of codes, `centroids`
// (at most ENTRIES) entries per codebook, `width` columns per block. A *tile* is a group of 1, 4, 8 or 16 columns of a
// product; a table holds, for every block and centroid, the `tile` numbers that belong together, side by side.
//
// The loops never allocate, never throw and include no standard header but <stddef.h> and <stdint.h>: an inline
// function compiled here for a new processor might otherwise be the copy that the linker keeps for everyone.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace manyclass {

// What one byte can name. Tables and sums keep room for all of it, whatever the number of centroids, so that the place
// of a block is known when the loops are compiled.
constexpr size_t ENTRIES = 256;

struct Kernels {
  const char* level;

  // tables (blocks, ENTRIES, tile): tables[q, c, :] = sum_j codebooks[q, c, j] * panel[q * width + j, :] for `blocks`
  // blocks
  void (*make_tables)(const float* codebooks, size_t blocks, size_t centroids, size_t width, const float* panel,
                      int tile, float* tables);

  // sums (n, tile): sums[i, :] += sum_q tables[q, codes[i, q], :], summed apart and then added;  rows of codes are
  // `code_stride` bytes apart
  void (*gather_add)(const uint8_t* codes, size_t n, size_t code_stride, size_t blocks, const float* tables, int tile,
                     float* sums);

  // sums (blocks, ENTRIES, tile): sums[q, codes[i, q], :] += values[i, :];  rows of values are `value_stride` floats
  // apart
  void (*scatter_add)(const uint8_t* codes, size_t n, size_t code_stride, size_t blocks, const float* values,
                      size_t value_stride, int tile, float* sums);

  // total[i] += part[i]; part[i] = 0
  void (*move_into)(float* part, size_t count, float* total);

  // out[j, :] = sum_c codebook[c, j] * sums[c, :]                                              for one block
  void (*fold)(const float* codebook, size_t centroids, size_t width, const float* sums, int tile, float* out);

  // out[i, :] = the first d numbers of the concatenation over q of codebooks[q, codes[i, q]]
  void (*decode)(const uint8_t* codes, size_t n, size_t blocks, const float* codebooks, size_t centroids, size_t width,
                 size_t d, float* out);

  // codes[i] = argmin_c sum_j (scale * x[i, j] - turned[j, c])^2, the smallest c among equals;  for one block
  // `turned` is (width, padded) with padded a multiple of 16. Returns the first row whose distance is not a finite
  // number, or n.
  size_t (*assign)(const float* x, size_t n, size_t x_stride, float scale, const float* turned, size_t padded,
                   size_t width, uint8_t* codes, size_t code_stride);

  // out[i, g * size + c] = sum_j x[i, g * size + j] * mixer[j, c]  for c < size;  rows of x and out are `stride` apart
  void (*mix)(const float* x, size_t n, size_t stride, size_t groups, const float* mixer, size_t size, size_t padded,
              float* out);

  // x' w
  float (*dot)(const float* x, const float* w, size_t d);

  // w += a last, and then x' w, with the bits of add_multiple and dot, in one pass over w
  float (*move_and_dot)(float a, const float* last, const float* x, size_t d, float* w);

  // w += a x
  void (*add_multiple)(float a, const float* x, size_t d, float* w);

  // sums (rows, 128): sums[r, c] += sum_b tables[r, b, code of class c for block b] for b < blocks, a multiple of 8 of
  // at most 2,048;  codes (blocks, 64) have two classes in a byte, see shortlist.inl; tables (rows, blocks, 16) of
  // which any eight entries add up to less than 256; rows of tables and sums are `table_stride` and `sum_stride`
  // numbers apart. Where it is not fast, products of floats are faster.
  void (*add_lookups)(const uint8_t* codes, size_t blocks, const uint8_t* tables, size_t rows, size_t table_stride,
                      int32_t* sums, size_t sum_stride);
  bool fast_lookups;

  // tables (blocks, 16): tables[b, e] = zero + rate * s, rounded, with s = v[0, b] p[0] + v[1, b] p[1] + v[2, b] p[2]
  // of the points p (3, 8) and then of their opposites;  v is (3, blocks). Entries are the same at every level.
  void (*fill_tables)(const float* v, size_t blocks, float rate, const float* points, float zero, uint8_t* tables);

  // which[i] = the number e of the point p, of 8 points (3, 8) and then their opposites, that is nearest to
  // s = scale * (u[0, i], u[1, i], u[2, i]) with u (3, blocks), and products[i] = p's;  squares[e] = p'p, blocks is a
  // multiple of 8
  void (*nearest_points)(const float* u, size_t blocks, float scale, const float* points, const float* squares,
                         int32_t* which, float* products);

  // sums[i] = sum_j rows[i][j] * w[j] for i < n;  w is below 128, no entry of a row is -128, and d at most 2^17
  void (*dot_bytes)(const uint8_t* w, const int8_t* const* rows, size_t n, size_t d, int32_t* sums);

  // highest[c] = offsets[c] + slopes[c] * unit * (sums[c] - zero) + spread * spreads[c]
  void (*rough_scores)(const int32_t* sums, size_t k, int32_t zero, float unit, float spread, const float* offsets,
                       const float* slopes, const float* spreads, float* highest);

  // p[c] = weight * exp(s[c] - top) / total, with total = sum_c exp(s[c] - top); returns top = max_c s[c];  k >= 1,
  // p may be s. A row with a NaN, or with infinite scores that leave no distribution, gives NaN throughout.
  float (*softmax)(const float* s, size_t k, float weight, float* p, double* total);

  // How many queries may stand side by side in a panel (d, width): so many, at most 32, or a few.
  size_t search_panel, search_narrow;

  // scores[i, q] = sum_j rows[i][j] * panel[j, q], and bit q of masks[i] is set where that is above limits[q]; rows of
  // scores whose mask is 0 are not written. A score depends on its row and its query alone, never on where they stand.
  void (*search_rows)(const float* const* rows, size_t n, size_t d, const float* panel, size_t width,
                      const float* limits, float* scores, uint32_t* masks);

  // scores (n, padded): scores[i, c] = offsets[c] - sum_j (rows[i, j] * rate[j, c] + shift[j, c])^2, with panels
  // (padded / 16, d, 2, 16) that hold rate and shift for 16 centers at a time; rows of rows are `stride` apart
  void (*mixture_scores)(const float* rows, size_t n, size_t stride, size_t d, const float* panels,
                         const float* offsets, size_t padded, float* scores);

  // scores[i, c] = offsets[c] + sum_j rows[i, j] * words[j, c];  panels of words are (padded / 16, d, 16)
  void (*word_scores)(const float* rows, size_t n, size_t stride, size_t d, const float* panels, const float* offsets,
                      size_t padded, float* scores);

  // Of every row i of scores (n, padded): tops[i] = max_c s[c], totals[i] = the sum of e = exp(s[c] - tops[i]) over all
  // c with s[c] >= tops[i] - margin; for these, ascending and row after row, centers[t] = c, rows[t] = i and
  // weights[t] = e / totals[i]. Returns how many. There is room for all; NaN are left out.
  size_t (*posteriors)(const float* scores, size_t n, size_t padded, float margin, int32_t* centers, int32_t* rows,
                       float* weights, float* tops, double* totals);

  // index = all c with s[c] >= least, ascending; returns how many. There is room for all, and padded a multiple of 16.
  size_t (*find_high)(const float* s, size_t padded, float least, int32_t* index);

  // index = all c with s[c] >= max(s) - margin, ascending; returns how many. There is room for all; NaN are left out.
  size_t (*near_top)(const float* s, size_t padded, float margin, int32_t* index);

  // out[t] = sum_j ((x[j] - means[c, j]) * rates[c, j])^2 / 2 with c = index[t];  width is a multiple of 16 here and
  // below
  void (*half_squares)(const float* x, size_t width, const float* means, const float* rates, const int32_t* index,
                       size_t count, float* out);

  // first[j] += sum_t weights[t] u[t, j],  second[j] += sum_t weights[t] (u[t, j]^2 - 1)  with
  // u[t, j] = (rows[index[t], j] - mean[j]) * rate[j];  each sum is made in float32 and then added
  void (*add_moments)(const float* rows, const int32_t* index, const float* weights, size_t count, size_t width,
                      const float* mean, const float* rate, double* first, double* second);

  // out[i] = red * weights[0] + green * weights[1] + blue * weights[2] of n pixels of 3 bytes
  void (*gray)(const uint8_t* pixels, size_t n, const float* weights, float* out);

  // out (n, 8): red, green and blue less 128, their squares, 0, 0
  void (*color_powers)(const uint8_t* pixels, size_t n, float* out);

  // out (n, 6), with room for one more: means and standard deviations in [0, 1] of red, green and blue, of n cells of
  // `count` pixels whose color_powers were added up
  void (*color_statistics)(const float* cells, size_t n, double count, float* out);

  // votes (w, 8): the length of the gradient (dx, dy), shared linearly between the two nearest of 8 directions, which
  // are 45 degrees apart from +x towards +y
  void (*vote)(const float* dx, const float* dy, size_t w, float* votes);

  // out (count, 8): out[c, :] = sum_k profile[k] * pixels[c * stride + k, :]
  void (*pool)(const float* pixels, const float* profile, size_t taps, size_t stride, size_t count, float* out);

  // out[j] = sum_t weights[t * count] * rows[t, j], with rows of `width` numbers
  void (*mix_rows)(const float* rows, size_t width, const float* weights, size_t taps, size_t count, float* out);

  // out (4, width): out[r, j] = sum_t weights[t, r] * rows[t, j] for t < span
  void (*mix_four)(const float* rows, size_t width, size_t span, const float* weights, float* out);

  // out (w, 4, 4): out[x, r] = red, green and blue of colors[r, x], and then anything;  colors (4, w, 3) have room for
  // one number more
  void (*interleave)(const float* colors, size_t w, float* out);

  // out[i, c] = sum_t weights[t, i] * row[starts[i] + t, c] for `depth` numbers c;  row and out have room for 3 more
  void (*blend)(const float* row, const int32_t* starts, const float* weights, size_t taps, size_t depth, size_t count,
                float* out);

  void (*widen_bytes)(const uint8_t* x, size_t n, float* out);

  // out[i] = the whole number in [0, 255] that is nearest to x[i], of two the even one
  void (*round_bytes)(const float* x, size_t n, uint8_t* out);

  // out (n, 3): the same of the first three numbers of every row of x, rows being 16 apart
  void (*round_colors)(const float* x, size_t n, uint8_t* out);

  // out (count, 128): SIFT of a line of patches, `stride` floats apart, with 4 x 4 cells of 8 numbers, `down` and
  // `right` floats apart: times window (16), of unit length, cut at 0.2, of unit length; with root, square roots of
  // shares. Zeros where the sum is less than `least`.
  void (*sift)(const float* cells, size_t down, size_t right, size_t stride, size_t count, const float* window,
               float least, int root, float* out);
};

}  // namespace manyclass
