// Weights of classes, packed: 4 bits for three weights to score all classes roughly, 7 bits a weight for those that
// come near the best.
//
// With v = (x - center) * columns, and weights u of a class in the same units, a rough score is
//   slopes * sum_b q_b' v_b + offsets,
// b a block of three columns and q_b the nearest of 16 points to u_b, once u has unit variance.
#pragma once
#include <cstddef>
#include <cstdint>

namespace manyclass {

constexpr std::size_t POINTS = 8;  // and their opposites, which have numbers from 8 on

// What 16 points are nearest to normal numbers of unit variance on average: 0.236 of the square is lost, where signs
// alone lose 0.363 and four levels for each number 0.118. Found by Lloyd's iteration, and rounded: 3 axes, 4 diagonals,
// and one in between.
constexpr float POINT[3][POINTS] = {{1.77f, 0, 0, 1.02f, 1.02f, 0.91f, 0.91f, 0.35f},
                                    {0, 1.77f, 0, 1.02f, 1.02f, -0.91f, -0.91f, 0.35f},
                                    {0, 0, 1.6f, 1.02f, -1.02f, 0.91f, -0.91f, 0}};
constexpr float LONGEST_POINT = 1.77f;  // at most

constexpr std::size_t CLASS_GROUP = 128;  // classes whose codes stand side by side, two in a byte

// Fine weights are whole numbers from -FINE to FINE, stored FINE_ZERO higher.
constexpr int FINE = 63, FINE_ZERO = 64;

// How many blocks there are: block b holds columns b, b + blocks and b + 2 * blocks. Blocks are
// read by eights.
constexpr std::size_t blocks_of(std::size_t d) { return (d + 23) / 24 * 8; }

// bytes[j] = n + zero with n = x[j] / unit, rounded, between -127 and 127; rest[j] = x[j] - unit * n. Returns the sum
// of all n.
template <class Byte>
std::int32_t round_off(const float* __restrict x, std::size_t d, float unit, int zero, Byte* __restrict bytes,
                       float* __restrict rest) {
  const float rate = 1 / unit;
  std::int32_t sum = 0;
  for (std::size_t j = 0; j < d; ++j) {
    const std::int32_t n = std::int32_t(x[j] * rate + 128.5f) - 128;  // cutting off rounds what is above 0
    bytes[j] = Byte(n + zero);
    rest[j] = x[j] - unit * float(n);
    sum += n;
  }
  return sum;
}

// What is known of a class besides: `lengths` is |u| / sqrt(d), spreads are standard deviations for |v| = 1, and
// `entries` tells how many weights make up u, sum(u^2)^2 / sum(u^4).
struct ClassRecord {
  float offset, slope, spread, unit, fine_spread, length, entries;
};

// Packs a group of m classes of d columns; codes (blocks, 64), fine (m, d), records (m).
void pack_classes(const float* W, const float* biases, std::size_t m, std::size_t d, const float* mean,
                  const float* center, const float* columns, std::uint8_t* codes, std::uint8_t* fine,
                  ClassRecord* records);

}  // namespace manyclass
