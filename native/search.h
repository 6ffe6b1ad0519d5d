// The best of many: rows by their inner product with a query, or by scores that are given.
#pragma once
#include <cstddef>
#include <cstdint>

namespace manyclass {

// scores, positions (queries, k) hold the best so far, best first, among equals the lowest position first; where there
// are fewer, -infinity and -1 at the end. Both functions let further rows join, whose positions are higher than all
// before. A score of NaN or -infinity never joins. The result depends on neither threads nor the way rows are divided.

// Row index[i] of X (., d), or row i if there is no index (nullptr), for i < n; its position is offset + its row.
void best_rows(const float* X, const std::int64_t* index, std::size_t n, std::size_t d, const float* Q,
               std::size_t queries, std::int64_t offset, std::size_t k, float* scores, std::int64_t* positions,
               std::size_t threads);

// S (queries, n): row i has the position index[i], which ascends.
void best_scores(const float* S, const std::int64_t* index, std::size_t n, std::size_t queries, std::size_t k,
                 float* scores, std::int64_t* positions, std::size_t threads);

}  // namespace manyclass
