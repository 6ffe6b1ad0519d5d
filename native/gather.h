// Rows that lie apart, put together.
#pragma once
#include <cstddef>
#include <cstdint>

namespace manyclass {

// out[i] = X[index[i]], rows of `bytes` bytes each; the index is valid.
void gather(const char* X, std::size_t bytes, const std::int64_t* index, std::size_t n, char* out, std::size_t threads);

}  // namespace manyclass
