#include "losses.h"

#include <algorithm>
#include <cmath>

#include "dispatch.h"
#include "parallel.h"

namespace manyclass {

void softmax_loss(const float* S, std::size_t n, std::size_t k, const std::int64_t* y, const float* weights, float* R,
                  double* values, std::size_t threads) {
  constexpr std::size_t ROWS = 64;
  const Kernels& loops = kernels();
  parallel_for((n + ROWS - 1) / ROWS, threads, [&](std::size_t task, std::size_t) {
    for (std::size_t i = task * ROWS; i < std::min(n, (task + 1) * ROWS); ++i) {
      const float weight = weights ? weights[i] : 1.0f, right = S[i * k + y[i]];
      double total;
      const float top = loops.softmax(S + i * k, k, weight, R + i * k, &total);
      R[i * k + y[i]] -= weight;
      values[i] = std::log(total) - (double(right) - top);
    }
  });
}

}  // namespace manyclass
