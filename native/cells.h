// Cells: sums of 8 numbers per pixel over the neighborhoods of a regular lattice.
#pragma once
#include <cstddef>
#include <cstdint>

namespace manyclass {

// Along one axis: cell c is the sum over k of profile[k] times what is at pixel first + c * step + k, where the first
// and the last pixel go on beyond the image. `first` may be negative.
struct Lattice {
  std::ptrdiff_t first;
  std::size_t step, count;
};

struct Profile {
  const float* weights;
  std::size_t taps;
};

// gray[i] = red * weights[0] + green * weights[1] + blue * weights[2] of n pixels of 3 bytes
void gray_of_colors(const std::uint8_t* pixels, std::size_t n, const float* weights, float* gray);

// cells (rows.count, columns.count, 8), pooled with profile(y) profile(x)

// of the gradients of a gray image (h, w): their lengths, shared between the two nearest of 8 directions, 45 degrees
// apart from +x towards +y. The gradient is the difference of the neighbors by 2, at an edge that of the two pixels.
void orientation_cells(const float* image, std::size_t h, std::size_t w, Lattice rows, Lattice columns, Profile profile,
                       float* cells);

// of an image (h, w, 3) of bytes, less 128: red, green, blue, their squares, 0, 0. Sums of whole numbers below 2^24
// are exact.
void color_cells(const std::uint8_t* image, std::size_t h, std::size_t w, Lattice rows, Lattice columns,
                 Profile profile, float* cells);

// Patches of 4 x 4 cells, which lie `apart` cells from each other; patches are `step` cells from each other, `high`
// by `wide` of them. out (high * wide, 128) in the order y, x, direction: cells times window (16), of unit length, cut
// at 0.2, and of unit length again; or, with root, square roots of shares. Zeros if the sum is less than `least`.
void sift_of_cells(const float* cells, std::size_t columns, std::size_t apart, std::size_t step, std::size_t high,
                   std::size_t wide, const float* window, float least, bool root, float* out);

// Likewise out (high * wide, 96) of color_cells with a profile of ones, n pixels in each: of every cell the means of
// red, green and blue, then their standard deviations, in [0, 1].
void color_of_cells(const float* cells, std::size_t rows, std::size_t columns, std::size_t apart, std::size_t step,
                    std::size_t high, std::size_t wide, std::size_t n, float* out);

}  // namespace manyclass
