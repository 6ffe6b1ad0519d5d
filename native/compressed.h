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

// Rows that X' R adds up in one go, at most.
constexpr std::size_t STRETCH = 8192;

// crowded (ceil(n / STRETCH), blocks): 1 where one centroid other than zero takes so many rows of a stretch that their
// sum in float32 could drift by more than the rounding of a few numbers.
void find_crowded(const Compressed& X, std::uint8_t* crowded, std::size_t threads);

// out (d, k) = X' R, R (n, k); `crowded` as find_crowded gives it
void rmatmat(const Compressed& X, const std::uint8_t* crowded, const float* R, std::size_t k, float* out,
             std::size_t threads);

// out (n, d) = X
void decode(const Compressed& X, float* out, std::size_t threads);

// codes (n, blocks): the nearest centroid of every block of x (n, d). Returns the first row whose distance from every
// centroid is not a finite number, or n.
std::size_t encode(const float* x, const Compressed& books, std::size_t n, std::uint8_t* codes, std::size_t threads);

// Columns [first, first + groups * size) of out (n, d) = those of x, every group of `size` multiplied with the mixer
// (size, padded), whose columns beyond `size` are zeros; padded is a multiple of 16. Each row is computed by itself.
void mix(const float* x, std::size_t n, std::size_t d, const float* mixer, std::size_t size, std::size_t padded,
         std::size_t first, std::size_t groups, float* out, std::size_t threads);

}  // namespace manyclass
