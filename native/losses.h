// Losses of all scores of a row.
#pragma once
#include <cstddef>
#include <cstdint>

namespace manyclass {

// values[i] = log(sum_c exp(S[i, c])) - S[i, y[i]] and R[i, c] = weights[i] * (exp(S[i, c]) / sum - [c = y[i]]), for
// S (n, k) with k >= 1; R may be S, and without weights (nullptr) each is 1. Threads share out the rows, and each row
// is the work of one.
void softmax_loss(const float* S, std::size_t n, std::size_t k, const std::int64_t* y, const float* weights, float* R,
                  double* values, std::size_t threads);

}  // namespace manyclass
