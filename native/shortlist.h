// The classes of highest score of many: all are scored roughly, by 2 bits a weight, what may be among the best by 8
// bits, and what still may be by the weights themselves.
//
// With v = (x - center) * columns, and weights u of a class in the same units, a rough score is
//   slopes * sum_j n_j (code_j - 1.5) + offsets,    v ~ h n,  n whole numbers,
// with |n_j| + |n_{j+1}| <= PAIR_SUM in every pair of columns: entries of its table are then at most 3 * PAIR_SUM, and
// eight of them fit into a byte. The error is a sum of d small ones, which x and the class decide together, and behaves
// as if it were drawn: of standard deviation |v| * spreads. What lies `margin` of them below is left out.
#pragma once
#include <cstddef>
#include <cstdint>

namespace manyclass {

constexpr int PAIR_SUM = 10;

struct ClassCodes {
  const float* W;                 // (k, d)
  const float* biases;            // (k)
  const std::uint8_t* codes;      // (groups, width / 4, 32) classes side by side, 4 columns a byte; width >= d
  const std::int8_t* fine;        // (k, d)
  const float *center, *columns;  // (d)
  const float *offsets, *slopes, *spreads;      // (k) rough scores, and their spread for |v| = 1
  const float *units, *fine_spreads, *lengths;  // (k) of fine weights; their spread for |v| = 1; |u| / sqrt(d)
  float rounding;                               // spread of rough scores by |v - h n|, in units of that by |v|
  std::size_t k, d, width;
};

// best (n, top): the classes of highest score of every row of X (n, d), the best first, of equals the first; top <= k.
// Returns how many pairs of a row and a class were scored by 8 bits.
std::size_t top_of_shortlist(const ClassCodes& classes, const float* X, std::size_t n, float margin, std::size_t top,
                             std::int64_t* best);

bool lookups_are_fast();

}  // namespace manyclass
