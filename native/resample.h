// An image of another size, or smoothed: every pixel a weighted sum of some neighbors, first along y and then along x.
#pragma once
#include <cstddef>
#include <cstdint>

namespace manyclass {

// Along one axis: entry i of `count` is sum_t weights[t, i] * entry starts[i] + t;  t < taps.
struct Band {
  const std::int32_t* starts;
  const float* weights;
  std::size_t taps, count;
};

// image (h, w, channels) -> out (rows.count, columns.count, channels)
void resample(const float* image, std::size_t w, std::size_t channels, const Band& rows, const Band& columns,
              float* out);

// The same of bytes; sums are made in float32, and rounded once.
void resample(const std::uint8_t* image, std::size_t w, std::size_t channels, const Band& rows, const Band& columns,
              std::uint8_t* out);

}  // namespace manyclass
