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

// Rows of a chunk: X' R adds them up by code before it moves on, and each (chunk, block) is crowded or not.
constexpr std::size_t CHUNK_ROWS = 8192;

// crowded (ceil(n / CHUNK_ROWS), blocks): 1 where one centroid other than zero takes more than 256 rows of a chunk.
// Their sum in float32 could otherwise drift, by 2^-25 of it for each equal row; where codes are spread evenly, no
// centroid takes so many, and the shorter sums would cost time for nothing. tests/data/test_quantized.py adds up a
// million equal rows to 1e-5.
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
