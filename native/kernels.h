// The hot loops, as one table of functions per instruction set.
//
// Conventions: every array is row-major and compact. n rows, k columns, `blocks` bytes per row of codes, `centroids`
// (at most 256) entries per codebook, `width` columns per block. A *tile* is a group of 1, 4, 8 or 16 columns of a
// product; a table holds, for every block and centroid, the `tile` numbers that belong together, side by side.
//
// The loops never allocate, never throw and include no standard header but <stddef.h> and <stdint.h>: an inline
// function compiled here for a new processor might otherwise be the copy that the linker keeps for everyone.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace manyclass {

struct Kernels {
  const char* level;

  // tables[q, c, :] = sum_j codebooks[q, c, j] * panel[q * width + j, :]                       for `blocks` blocks
  void (*make_tables)(const float* codebooks, size_t blocks, size_t centroids, size_t width, const float* panel,
                      int tile, float* tables);

  // out[i, :columns] += sum_q tables[q, codes[i, q], :columns], summed apart and then added;  rows of codes are
  // `code_stride` bytes apart, rows of out `out_stride` floats
  void (*gather_add)(const uint8_t* codes, size_t n, size_t code_stride, size_t blocks, size_t centroids,
                     const float* tables, int tile, size_t columns, float* out, size_t out_stride);

  // sums[codes[i], :] += values[i, :]                                                          for one block
  void (*scatter_add)(const uint8_t* codes, size_t n, const float* values, int tile, float* sums);

  // out[j, :] = sum_c codebook[c, j] * sums[c, :]                                              for one block
  void (*fold)(const float* codebook, size_t centroids, size_t width, const float* sums, int tile, float* out);

  // turned[q, i] = codes[i, q]
  void (*turn)(const uint8_t* codes, size_t n, size_t code_stride, size_t blocks, uint8_t* turned,
               size_t turned_stride);

  // out[i, :] = the first d numbers of the concatenation over q of codebooks[q, codes[i, q]]
  void (*decode)(const uint8_t* codes, size_t n, size_t blocks, const float* codebooks, size_t centroids,
                 size_t width, size_t d, float* out);

  // codes[i] = argmin_c sum_j (x[i, j] - turned[j, c])^2, the smallest c among equals;         for one block
  // `turned` is (width, padded) with padded a multiple of 16. Returns the first row whose distance is not a finite
  // number, or n.
  size_t (*assign)(const float* x, size_t n, size_t x_stride, const float* turned, size_t padded, size_t width,
                   uint8_t* codes, size_t code_stride);
};

}  // namespace manyclass
