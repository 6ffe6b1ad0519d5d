#include "class_codes.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "dispatch.h"

namespace manyclass {
namespace {

using std::size_t;

constexpr float TINY = 1e-20f;

}  // namespace

void pack_classes(const float* W, const float* biases, size_t m, size_t d, const float* mean, const float* center,
                  const float* columns, std::uint8_t* codes, std::uint8_t* fine, ClassRecord* records) {
  const Kernels& loops = kernels();
  const size_t blocks = blocks_of(d);
  const float root = std::sqrt(float(d));
  std::vector<float> u(3 * blocks), other(3 * blocks), rates(d), products(blocks);
  std::vector<std::int32_t> nearest(blocks);
  float squares_of[2 * POINTS];
  for (size_t e = 0; e < 2 * POINTS; ++e) {
    squares_of[e] = 0;
    for (const auto& point : POINT) squares_of[e] += point[e % POINTS] * point[e % POINTS];
  }
  for (size_t j = 0; j < d; ++j) rates[j] = 1 / columns[j];
  std::fill_n(codes, blocks * CLASS_GROUP / 2, std::uint8_t(0));
  auto norm = [&](const std::vector<float>& x) { return std::sqrt(loops.dot(x.data(), x.data(), d)); };
  for (size_t c = 0; c < m; ++c) {
    ClassRecord& of = records[c];
    for (size_t j = 0; j < d; ++j) u[j] = W[c * d + j] - mean[j];
    of.offset = biases[c] + loops.dot(u.data(), center, d);
    float most[8] = {};
    for (size_t j = 0; j < d; ++j) {
      u[j] *= rates[j];
      other[j] = u[j] * u[j];
    }
    const size_t whole = d / 8 * 8;
    for (size_t j = 0; j < whole; j += 8)
      for (size_t l = 0; l < 8; ++l) most[l] = std::max(most[l], other[j + l]);
    for (size_t j = whole; j < d; ++j) most[0] = std::max(most[0], other[j]);
    const float squares = loops.dot(u.data(), u.data(), d), fourths = loops.dot(other.data(), other.data(), d);
    const float size = std::sqrt(squares);
    of.entries = fourths > 0 ? squares * squares / fourths : float(d);
    of.length = size / root;

    const float scale = root / std::max(size, TINY);
    loops.nearest_points(u.data(), blocks, scale, POINT[0], squares_of, nearest.data(), products.data());
    float product = 0, square = 0;
    for (size_t i = 0; i < blocks; ++i) {
      product += products[i];
      square += squares_of[nearest[i]];
    }
    const float along = std::max(product / scale, TINY), ratio = std::sqrt(square) * size / along;
    of.slope = squares / along;
    // Where codes happen to be exact, those of the rows are not.
    of.spread = of.length * std::sqrt(std::max(ratio * ratio - 1, 0.1f));
    // Quarters of a group stand in low bits at even and at odd places, and then so in high bits.
    constexpr size_t PLACES = CLASS_GROUP / 2;
    const size_t place = 2 * c % PLACES + 2 * c / PLACES % 2;
    for (size_t i = 0; i < blocks; ++i) codes[i * PLACES + place] |= std::uint8_t(nearest[i] << (c < PLACES ? 0 : 4));

    of.unit = std::sqrt(*std::max_element(most, most + 8)) / FINE;
    round_off(u.data(), d, std::max(of.unit, TINY), FINE_ZERO, fine + c * d, other.data());
    of.fine_spread = norm(other) / root;
  }
}

}  // namespace manyclass
