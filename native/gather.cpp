#include "gather.h"

#include <algorithm>
#include <cstring>

#include "parallel.h"

namespace manyclass {

void gather(const char* X, std::size_t bytes, const std::int64_t* index, std::size_t n, char* out,
            std::size_t threads) {
  const std::size_t part = 64;
  parallel_for((n + part - 1) / part, threads, [&](std::size_t task, std::size_t) {
    for (std::size_t i = task * part; i < std::min(n, (task + 1) * part); ++i)
      std::memcpy(out + i * bytes, X + std::size_t(index[i]) * bytes, bytes);
  });
}

}  // namespace manyclass
