// The class of highest score of every row, of all classes of a range.
#pragma once
#include <cstddef>
#include <cstdint>

namespace manyclass {

// scores, classes (n) hold the best so far and its score, -infinity where there is none; the k classes of W (k, d), of
// numbers from `first` on, join where biases[c] + X[i]' W[c] is higher, or as high and c is lower. A score depends on
// its row and its class alone: classes may come in any parts, in any order. A score of NaN or -infinity never joins.
void best_classes(const float* X, std::size_t n, std::size_t d, const float* W, const float* biases, std::size_t k,
                  std::int64_t first, float* scores, std::int64_t* classes);

}  // namespace manyclass
