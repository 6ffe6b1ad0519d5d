// Rows gathered around the Gaussians of a mixture, or around words: posteriors and moments, the nearest word,
// residuals.
//
// Rows of X (n, d) are taken in the order of `order`; those of cell g are order[starts[g]] to order[starts[g + 1] - 1].
// Every call is the work of one thread, and what a row gives depends on nothing but the row.
#pragma once
#include <cstddef>
#include <cstdint>

namespace manyclass {

// Some rows, divided into cells.
struct Partition {
  const std::int64_t* order;
  const std::int64_t* starts;  // (count + 1)
  std::size_t count;
};

// With x_i row i less the origin (d), q(i, c) the share of exp(logs[c] - |(x_i - means_c) rates_c|^2 / 2) in its sum
// over c, and u = (x - mean) rate:
//   counts[g, c] += sum q,  first[g, c, :] += sum q u,  second[g, c, :] += sum q (u^2 - 1)   over the rows i of cell g
//   total += sum_i log sum_c exp(...)
// Shares below exp(-margin) of the largest are left out. Returns the first row that has no finite density, or -1.
std::int64_t mixture_sums(const float* X, std::size_t d, const Partition& cells, const float* origin,
                          const float* means, const float* rates, const float* logs, std::size_t k, float margin,
                          double* counts, double* first, double* second, double* total);

// labels[i] = argmin_c |x_i - words_c|, the smallest c among equals. Returns the first row whose distance is not a
// finite number, or -1.
std::int64_t nearest_words(const float* X, std::size_t n, std::size_t d, const float* words, std::size_t k,
                           std::int32_t* labels);

// counts[g, c] += 1 and sums[g, c, :] += x_i - words_c  over the rows i of cell g with labels[i] = c
void residual_sums(const float* X, std::size_t d, const Partition& cells, const std::int32_t* labels,
                   const float* words, std::size_t k, double* counts, double* sums);

// out (n, p): out[i, c] = offsets[c] + sum_j X[i, j] * components[j, c], one chain of additions each, so that a row
// depends on itself alone.
void project_rows(const float* X, std::size_t n, std::size_t d, const float* components, const float* offsets,
                  std::size_t p, float* out);

}  // namespace manyclass
