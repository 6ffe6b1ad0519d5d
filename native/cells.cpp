#include "cells.h"

#include <algorithm>

#include "dispatch.h"
#include "parallel.h"

namespace manyclass {
namespace {

// The share of row y in the cell that starts at `start`; the rows at the ends stand also for those beyond.
float weight_of(std::ptrdiff_t y, std::ptrdiff_t h, std::ptrdiff_t start, const Profile& profile) {
  const std::ptrdiff_t taps = std::ptrdiff_t(profile.taps);
  const std::ptrdiff_t from = y == 0 ? 0 : y - start, to = y == h - 1 ? taps : y - start + 1;
  float weight = 0.0f;
  for (std::ptrdiff_t k = std::max<std::ptrdiff_t>(0, from); k < std::min(taps, to); ++k) weight += profile.weights[k];
  return weight;
}

// pixels_of(y, out) writes the 8 numbers of every pixel of a row.
template <class Pixels>
void pool_image(std::size_t h, std::size_t w, const Lattice& rows, const Lattice& columns, const Profile& profile,
                const Pixels& pixels_of, float* cells) {
  const Kernels& loops = kernels();
  const std::ptrdiff_t end = columns.first + std::ptrdiff_t((columns.count - 1) * columns.step + profile.taps);
  const std::size_t before = std::size_t(std::max<std::ptrdiff_t>(0, -columns.first));
  const std::size_t after = std::size_t(std::max<std::ptrdiff_t>(0, end - std::ptrdiff_t(w)));
  const std::size_t width = columns.count * 8;
  Buffer<float> line = allocate<float>((before + w + after) * 8), pooled = allocate<float>(width);
  const std::ptrdiff_t taps = std::ptrdiff_t(profile.taps), step = std::ptrdiff_t(rows.step);
  std::fill_n(cells, rows.count * width, 0.0f);
  for (std::ptrdiff_t y = 0; y < std::ptrdiff_t(h); ++y) {
    // Cells that start at y or above, and end below it.
    const std::ptrdiff_t over = y - taps - rows.first, from = over < 0 ? 0 : over / step + 1;
    const std::ptrdiff_t until = y < rows.first ? 0 : (y - rows.first) / step + 1;
    const std::ptrdiff_t to = std::min(until, std::ptrdiff_t(rows.count));
    if (from >= to) continue;
    float* inside = line.get() + before * 8;
    pixels_of(std::size_t(y), inside);
    for (std::size_t x = 0; x < before; ++x) std::copy_n(inside, 8, line.get() + x * 8);
    for (std::size_t x = 0; x < after; ++x) std::copy_n(inside + (w - 1) * 8, 8, inside + (w + x) * 8);
    const std::size_t skip = std::size_t(std::ptrdiff_t(before) + columns.first);
    loops.pool(line.get() + skip * 8, profile.weights, profile.taps, columns.step, columns.count, pooled.get());
    for (std::ptrdiff_t c = from; c < to; ++c)
      loops.add_multiple(weight_of(y, std::ptrdiff_t(h), rows.first + c * step, profile), pooled.get(), width,
                         cells + std::size_t(c) * width);
  }
}

void gradient(const float* image, std::size_t h, std::size_t w, std::size_t y, float* dx, float* dy) {
  const float* here = image + y * w;
  const float* above = y > 0 ? here - w : here;
  const float* below = y + 1 < h ? here + w : here;
  const float half = y > 0 && y + 1 < h ? 0.5f : 1.0f;
  for (std::size_t x = 0; x < w; ++x) dy[x] = half * (below[x] - above[x]);
  for (std::size_t x = 1; x + 1 < w; ++x) dx[x] = 0.5f * (here[x + 1] - here[x - 1]);
  dx[0] = w > 1 ? here[1] - here[0] : 0.0f;
  if (w > 1) dx[w - 1] = here[w - 1] - here[w - 2];
}

}  // namespace

void gray_of_colors(const std::uint8_t* pixels, std::size_t n, const float* weights, float* gray) {
  kernels().gray(pixels, n, weights, gray);
}

void orientation_cells(const float* image, std::size_t h, std::size_t w, Lattice rows, Lattice columns, Profile profile,
                       float* cells) {
  const Kernels& loops = kernels();
  Buffer<float> dx = allocate<float>(w), dy = allocate<float>(w);
  auto pixels_of = [&](std::size_t y, float* out) {
    gradient(image, h, w, y, dx.get(), dy.get());
    loops.vote(dx.get(), dy.get(), w, out);
  };
  pool_image(h, w, rows, columns, profile, pixels_of, cells);
}

void color_cells(const std::uint8_t* image, std::size_t h, std::size_t w, Lattice rows, Lattice columns,
                 Profile profile, float* cells) {
  const Kernels& loops = kernels();
  auto pixels_of = [&](std::size_t y, float* out) { loops.color_powers(image + y * w * 3, w, out); };
  pool_image(h, w, rows, columns, profile, pixels_of, cells);
}

void sift_of_cells(const float* cells, std::size_t columns, std::size_t apart, std::size_t step, std::size_t high,
                   std::size_t wide, const float* window, float least, bool root, float* out) {
  const Kernels& loops = kernels();
  for (std::size_t i = 0; i < high; ++i)
    loops.sift(cells + i * step * columns * 8, apart * columns * 8, apart * 8, step * 8, wide, window, least, root,
               out + i * wide * 128);
}

void color_of_cells(const float* cells, std::size_t rows, std::size_t columns, std::size_t apart, std::size_t step,
                    std::size_t high, std::size_t wide, std::size_t n, float* out) {
  Buffer<float> statistics = allocate<float>(rows * columns * 6 + 2);
  kernels().color_statistics(cells, rows * columns, double(n), statistics.get());
  for (std::size_t i = 0; i < high; ++i)
    for (std::size_t j = 0; j < wide; ++j)
      for (std::size_t y = 0; y < 4; ++y) {
        const float* from = statistics.get() + ((i * step + y * apart) * columns + j * step) * 6;
        if (apart == 1)
          std::copy_n(from, 24, out);
        else
          for (std::size_t x = 0; x < 4; ++x) std::copy_n(from + x * apart * 6, 6, out + x * 6);
        out += 24;
      }
}

}  // namespace manyclass
