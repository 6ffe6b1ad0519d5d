// Products with, and coding of, product-quantized rows: the blocking for the caches and the threads around the loops
// of kernels.h. Every result is the same, to the bit, for any number of threads.
#pragma once
#include <cstddef>
#include <cstdint>

namespace manyclass {

// X (n, d): row i is the first d numbers of the concatenation over q of codebooks[q, codes[i, q]].
struct Compressed {
  const std::uint8_t* codes;  // (n, blocks)
  const float* codebooks;     // (blocks, centroids, width)
  std::size_t n, blocks, centroids, width, d;
};

// out (n, k) = X W, W (d, k)
void matmat(const Compressed& X, const float* W, std::size_t k, float* out, std::size_t threads);

// out (d, k) = X' R, R (n, k)
void rmatmat(const Compressed& X, const float* R, std::size_t k, float* out, std::size_t threads);

// out (n, d) = X
void decode(const Compressed& X, float* out, std::size_t threads);

// codes (n, blocks): the nearest centroid of every block of x (n, d). Returns the first row that has a number which is
// not finite or too large to square, or n.
std::size_t encode(const float* x, const Compressed& books, std::size_t n, std::uint8_t* codes, std::size_t threads);

}  // namespace manyclass
