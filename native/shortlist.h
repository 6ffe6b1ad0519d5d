// The classes of highest score of many: all are scored roughly, what may be among the best by 7 bits a weight, and what
// still may be by the weights themselves.
//
// The error of a score is a sum of d small ones, which x and the class decide together, and behaves as if it were
// drawn: of standard deviation |v| * spreads. What lies `margin` of them below is left out. Entries of the tables of a
// row are q'v of all points q in whole units, from 1 to 31, so that eight of them fit into a byte.
#pragma once
#include <cstddef>
#include <cstdint>

#include "class_codes.h"

namespace manyclass {

struct ClassCodes {
  const float* W;                               // (k, d)
  const float* biases;                          // (k)
  const std::uint8_t* codes;                    // (groups, blocks, 64)
  const std::uint8_t* fine;                     // (k, d)
  const float *mean, *center, *columns;         // (d)
  const float *offsets, *slopes, *spreads;      // (k) rough scores, and their spread for |v| = 1
  const float *units, *fine_spreads, *lengths;  // (k) of fine weights; their spread for |v| = 1; |u| / sqrt(d)
  float rounding;                               // spread of rough scores by rounded tables, in units of that by |v|
  std::size_t k, d;
};

// best (n, top): the classes of highest score of every row of X (n, d), the best first, of equals the first; top <= k.
// Rows that fewer than `fewest` entries make up have -1 instead. Returns how many pairs of a row and a class were
// scored by 7 bits.
std::size_t top_of_shortlist(const ClassCodes& classes, const float* X, std::size_t n, float margin, float fewest,
                             std::size_t top, std::int64_t* best);

// For every row of X (n, d) whose own class y has the score own, of which class it is not: rivals (n) is a class c that
// scores higher, or as high with c < y, and scores (n) its score; -1 where there is none, -2 where fewer than `fewest`
// entries make up the row, or own is no finite number. Classes may be of a range, y counted from its first, and lie
// outside. A class is a rival or not by itself: whether there is one depends on the row and on which classes there are,
// and not on how they are divided. Returns how many pairs were scored by 7 bits after the first that seem to be some.
std::size_t find_rivals(const ClassCodes& classes, const float* X, std::size_t n, float margin, float fewest,
                        const float* own, const std::int64_t* y, float* scores, std::int64_t* rivals);

// own[i] = biases[y[i]] + X[i]' W[y[i]], as find_rivals has scores, where 0 <= y[i] < k
void own_scores(const float* X, std::size_t n, std::size_t d, const float* W, const float* biases, std::size_t k,
                const std::int64_t* y, float* own);

bool lookups_are_fast();

}  // namespace manyclass
