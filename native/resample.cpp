#include "resample.h"

#include <algorithm>
#include <vector>

#include "dispatch.h"

namespace manyclass {

void resample(const float* image, std::size_t w, std::size_t channels, const Band& rows, const Band& columns,
              float* out) {
  const Kernels& loops = kernels();
  const std::size_t width = columns.count * channels;
  std::vector<std::int32_t> starts(width);
  std::vector<float> weights(columns.taps * width), line(w * channels);
  for (std::size_t i = 0; i < width; ++i) {
    starts[i] = std::int32_t(columns.starts[i / channels] * channels + i % channels);
    for (std::size_t t = 0; t < columns.taps; ++t)
      weights[t * width + i] = columns.weights[t * columns.count + i / channels];
  }
  for (std::size_t i = 0; i < rows.count; ++i) {
    std::fill(line.begin(), line.end(), 0.0f);
    const float* from = image + std::size_t(rows.starts[i]) * line.size();
    for (std::size_t t = 0; t < rows.taps; ++t)
      loops.add_multiple(rows.weights[t * rows.count + i], from + t * line.size(), line.size(), line.data());
    loops.blend(line.data(), starts.data(), weights.data(), columns.taps, channels, width, out + i * width);
  }
}

}  // namespace manyclass
