// A head of very many classes that keeps no floats: 4 bits for three weights to score all classes roughly, 4 or 8 bits
// a weight for those that may be among the best, and 8 bits more for those that then still may be.
//
// With v = (x - center) * columns, a row of whole numbers N in units of `unit`, and weights of a class in whole numbers
// n of units[c], a score is
//   mean' x + offsets[c] + unit * units[c] * sum_j n_j N_j.
// The sum is exact, so that scores are the same at every level and for any number of threads.
#pragma once
#include <cstddef>
#include <cstdint>

#include "class_codes.h"

namespace manyclass {

struct PackedHead {
  const std::uint8_t* codes;                      // (groups, blocks, 64), as shortlist.h has them
  const std::uint8_t* weights;                    // (k, d) of n + 128, or (k, (d + 1) / 2) of n + 8, two in a byte
  const std::uint8_t* low;                        // (k, d) of what n is above, in 256ths of a unit; or null
  const float *mean, *center, *columns;           // (d)
  const float *rough, *slopes, *spreads;          // (k) of rough scores: what is added, by what, and how far they stray
  const float *offsets, *units, *weight_spreads;  // (k) of weights, and how far scores without `low` stray for |v| = 1
  float rounding;                                 // as in shortlist.h
  bool nibbles;                                   // two weights in a byte
  std::size_t k, d;
};

// best (n, top): the classes of highest score of every row of X (n, d), the best first, of equals the first, and their
// scores; top <= k. What is rough is left out where it is `margin` standard deviations below; of rows that fewer than
// `fewest` entries make up, nothing. Returns how many pairs of a row and a class were scored by their weights.
std::size_t top_of_head(const PackedHead& head, const float* X, std::size_t n, float margin, float fewest,
                        std::size_t top, std::size_t threads, std::int64_t* best, float* scores);

// scores (n, count) of the classes from `first` on
void scores_of_head(const PackedHead& head, const float* X, std::size_t n, std::size_t first, std::size_t count,
                    std::size_t threads, float* scores);

}  // namespace manyclass
