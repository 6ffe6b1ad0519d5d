#include "resample.h"

#include <algorithm>
#include <vector>

#include "dispatch.h"
#include "parallel.h"

namespace manyclass {
namespace {

constexpr std::size_t LINES = 8;  // of one channel, which are worked on as if they were channels: a register full
constexpr std::size_t ROOM = 3;   // numbers that a loop may touch beyond the last

// The rows of an image as floats, `count` of them from a start on.
class FloatRows {
 public:
  FloatRows(const float* image, std::size_t width, std::size_t) : image_(image), width_(width) {}
  const float* from(const Kernels&, std::size_t start, std::size_t) { return image_ + start * width_; }

 private:
  const float* image_;
  std::size_t width_;
};

// The same of bytes, at most `most` of them: rows are turned to floats once, and kept while those that follow need
// them.
class ByteRows {
 public:
  ByteRows(const std::uint8_t* image, std::size_t width, std::size_t most)
      : image_(image), width_(width), most_(most), kept_(allocate<float>(2 * most * width)) {}

  const float* from(const Kernels& loops, std::size_t start, std::size_t count) {
    if (start < first_ || start > first_ + most_) {
      const std::size_t still = start < first_ || start > end_ ? 0 : end_ - start;
      std::copy_n(kept_.get() + (end_ - still - first_) * width_, still * width_, kept_.get());
      first_ = start;
      end_ = start + still;
    }
    for (; end_ < start + count; ++end_)
      loops.widen_bytes(image_ + end_ * width_, width_, kept_.get() + (end_ - first_) * width_);
    return kept_.get() + (start - first_) * width_;
  }

 private:
  const std::uint8_t* image_;
  std::size_t width_, most_, first_ = 0, end_ = 0;
  Buffer<float> kept_;
};

void write(const Kernels&, const float* from, std::size_t n, float* to) { std::copy_n(from, n, to); }

void write(const Kernels& loops, const float* from, std::size_t n, std::uint8_t* to) { loops.round_bytes(from, n, to); }

// to (n, m) = from' (m, n)
void transpose(const float* from, std::size_t m, std::size_t n, float* to) {
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < m; ++i) to[j * m + i] = from[i * n + j];
}

// Four rows of a band, or the fewer that are left: all that they are made of, `span` rows from `first` on, with weights
// (span, 4) that are zero where a row has no part in a sum.
struct RowGroup {
  std::size_t row, count, first, span;
  std::vector<float> weights;
};

std::vector<RowGroup> groups_of_four(const Band& rows) {
  std::vector<RowGroup> groups;
  for (std::size_t i = 0; i < rows.count; i += 4) {
    const std::size_t n = std::min<std::size_t>(4, rows.count - i);
    const auto [low, high] = std::minmax_element(rows.starts + i, rows.starts + i + n);
    const std::size_t first = std::size_t(*low), span = std::size_t(*high) + rows.taps - first;
    std::vector<float> weights(4 * span, 0.0f);
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t t = 0; t < rows.taps; ++t)
        weights[(std::size_t(rows.starts[i + r]) - first + t) * 4 + r] = rows.weights[t * rows.count + i + r];
    groups.push_back({i, n, first, span, std::move(weights)});
  }
  return groups;
}

template <class Rows, class T>
void resample_image(const T* image, std::size_t w, std::size_t channels, const Band& rows, const Band& columns,
                    T* out) {
  const Kernels& loops = kernels();
  const std::size_t together = channels == 1 ? LINES : 1;
  const std::size_t before = w * channels, after = columns.count * channels;
  auto lines = allocate<float>(together * std::max(before, after) + ROOM);
  auto mixed = allocate<float>(together * before + ROOM), blended = allocate<float>(together * after + ROOM);
  std::fill_n(lines.get(), together * before + ROOM, 0.0f);
  Rows source(image, before, rows.taps);
  for (std::size_t i = 0; i < rows.count; i += together) {
    const std::size_t n = std::min(together, rows.count - i);
    for (std::size_t r = 0; r < n; ++r)
      loops.mix_rows(source.from(loops, std::size_t(rows.starts[i + r]), rows.taps), before, rows.weights + i + r,
                     rows.taps, rows.count, lines.get() + r * before);
    if (together > 1) transpose(lines.get(), together, before, mixed.get());
    loops.blend(together > 1 ? mixed.get() : lines.get(), columns.starts, columns.weights, columns.taps,
                channels * together, columns.count, blended.get());
    if (together > 1) transpose(blended.get(), after, together, lines.get());
    write(loops, together > 1 ? lines.get() : blended.get(), n * after, out + i * after);
  }
}

// Of red, green and blue, four rows side by side: 16 numbers of a column, with one between the colors of two rows.
void resample_colors(const std::uint8_t* image, std::size_t w, const Band& rows, const Band& columns,
                     std::uint8_t* out) {
  const Kernels& loops = kernels();
  const std::vector<RowGroup> groups = groups_of_four(rows);
  std::size_t most = 0;
  for (const RowGroup& group : groups) most = std::max(most, group.span);
  ByteRows source(image, 3 * w, most);
  const auto mixed = allocate<float>(4 * 3 * w + ROOM), colors = allocate<float>(16 * w + ROOM);
  const auto blended = allocate<float>(16 * columns.count + ROOM);
  for (const RowGroup& group : groups) {
    loops.mix_four(source.from(loops, group.first, group.span), 3 * w, group.span, group.weights.data(), mixed.get());
    loops.interleave(mixed.get(), w, colors.get());
    loops.blend(colors.get(), columns.starts, columns.weights, columns.taps, 16, columns.count, blended.get());
    for (std::size_t r = 0; r < group.count; ++r)
      loops.round_colors(blended.get() + 4 * r, columns.count, out + (group.row + r) * columns.count * 3);
  }
}

}  // namespace

void resample(const float* image, std::size_t w, std::size_t channels, const Band& rows, const Band& columns,
              float* out) {
  resample_image<FloatRows>(image, w, channels, rows, columns, out);
}

void resample(const std::uint8_t* image, std::size_t w, std::size_t channels, const Band& rows, const Band& columns,
              std::uint8_t* out) {
  if (channels == 3)
    resample_colors(image, w, rows, columns, out);
  else
    resample_image<ByteRows>(image, w, channels, rows, columns, out);
}

}  // namespace manyclass
