#include <tuple>

#include <nanobind/stl/tuple.h>

#include "bindings.h"
#include "cells.h"
#include "resample.h"

namespace {

using manyclass::Band;
using manyclass::Lattice;
using manyclass::Profile;

typedef std::tuple<std::int64_t, std::int64_t> Axis;  // first, step

// Cells lie so that each meets a pixel at least, and so that no sum of places can overflow.
Lattice lattice_of(const Axis& axis, std::size_t count, std::size_t length, std::size_t taps) {
  const auto [first, step] = axis;
  const std::int64_t far = 1 << 30;
  require(count >= 1 && taps >= 1 && length >= 1, "image, profile and cells must not be empty");
  require(step >= 1 && step < far && first > -far && first < std::int64_t(length) && taps < std::size_t(far),
          "a lattice must start before the image ends, with a step of 1 or more");
  require(first + std::int64_t(taps) > 0 && std::int64_t(count - 1) <= (std::int64_t(length) - 1 - first) / step,
          "every cell must meet the image");
  return {std::ptrdiff_t(first), std::size_t(step), count};
}

Band band_of(const In<std::int32_t, 1>& starts, const In<float, 2>& weights, std::size_t length) {
  const std::size_t count = starts.shape(0), taps = weights.shape(0);
  require(weights.shape(1) == count, "weights must have a column for each of starts");
  for (std::size_t i = 0; i < count; ++i)
    require(starts(i) >= 0 && std::size_t(starts(i)) + taps <= length, "weights must lie within the image");
  return {starts.data(), weights.data(), taps, count};
}

template <class T>
void resample(const In<T, 3>& image, const In<std::int32_t, 1>& row_starts, const In<float, 2>& row_weights,
              const In<std::int32_t, 1>& column_starts, const In<float, 2>& column_weights, const Out<T, 3>& out) {
  const Band rows = band_of(row_starts, row_weights, image.shape(0));
  const Band columns = band_of(column_starts, column_weights, image.shape(1));
  require(out.shape(0) == rows.count && out.shape(1) == columns.count && out.shape(2) == image.shape(2),
          "out must have the shape that rows and columns give");
  require(image.size() < std::size_t(1) << 31, "image must have fewer than 2^31 numbers");
  nb::gil_scoped_release release;
  manyclass::resample(image.data(), image.shape(1), image.shape(2), rows, columns, out.data());
}

void gray_of_colors(const In<std::uint8_t, 3>& image, const In<float, 1>& weights, const Out<float, 2>& gray) {
  require(image.shape(2) == 3 && weights.shape(0) == 3, "pixels and weights must have 3 numbers");
  require(gray.shape(0) == image.shape(0) && gray.shape(1) == image.shape(1), "gray must have the size of image");
  nb::gil_scoped_release release;
  manyclass::gray_of_colors(image.data(), gray.size(), weights.data(), gray.data());
}

void orientation_cells(const In<float, 2>& image, Axis rows, Axis columns, const In<float, 1>& profile,
                       const Out<float, 3>& cells) {
  const std::size_t h = image.shape(0), w = image.shape(1), taps = profile.shape(0);
  require(cells.shape(2) == 8, "cells must have 8 numbers each");
  const Lattice down = lattice_of(rows, cells.shape(0), h, taps), right = lattice_of(columns, cells.shape(1), w, taps);
  nb::gil_scoped_release release;
  manyclass::orientation_cells(image.data(), h, w, down, right, {profile.data(), taps}, cells.data());
}

void color_cells(const In<std::uint8_t, 3>& image, Axis rows, Axis columns, const In<float, 1>& profile,
                 const Out<float, 3>& cells) {
  const std::size_t h = image.shape(0), w = image.shape(1), taps = profile.shape(0);
  require(cells.shape(2) == 8 && image.shape(2) == 3, "cells must have 8 numbers each, and pixels 3");
  const Lattice down = lattice_of(rows, cells.shape(0), h, taps), right = lattice_of(columns, cells.shape(1), w, taps);
  nb::gil_scoped_release release;
  manyclass::color_cells(image.data(), h, w, down, right, {profile.data(), taps}, cells.data());
}

void require_patches(const In<float, 3>& cells, std::size_t apart, std::size_t step, const Out<float, 3>& out) {
  const std::size_t high = out.shape(0), wide = out.shape(1), far = std::size_t(1) << 30;
  require(cells.shape(2) == 8, "a patch has 16 cells of 8 numbers");
  require(high >= 1 && wide >= 1 && apart < far && step < far && high < far && wide < far, "out must not be empty");
  require((high - 1) * step + 3 * apart < cells.shape(0) && (wide - 1) * step + 3 * apart < cells.shape(1),
          "patches must lie within the cells");
}

void sift_of_cells(const In<float, 3>& cells, std::size_t apart, std::size_t step, const In<float, 1>& window,
                   float least, bool root, const Out<float, 3>& out) {
  require_patches(cells, apart, step, out);
  require(out.shape(2) == 128 && window.shape(0) == 16, "a patch has 16 cells of 8 numbers");
  nb::gil_scoped_release release;
  manyclass::sift_of_cells(cells.data(), cells.shape(1), apart, step, out.shape(0), out.shape(1), window.data(), least,
                           root, out.data());
}

void color_of_cells(const In<float, 3>& cells, std::size_t apart, std::size_t step, std::size_t n,
                    const Out<float, 3>& out) {
  require_patches(cells, apart, step, out);
  require(out.shape(2) == 96 && n >= 1, "a patch has 16 cells of 6 statistics, of a pixel at least");
  nb::gil_scoped_release release;
  manyclass::color_of_cells(cells.data(), cells.shape(0), cells.shape(1), apart, step, out.shape(0), out.shape(1), n,
                            out.data());
}

}  // namespace

void bind_cells(nb::module_& m) {
  m.def("resample", &resample<float>, exact("image"), exact("row_starts"), exact("row_weights"), exact("column_starts"),
        exact("column_weights"), exact("out"),
        "Weighted sums of neighbors along y and then along x; weights (taps, entries).");
  m.def("resample", &resample<std::uint8_t>, exact("image"), exact("row_starts"), exact("row_weights"),
        exact("column_starts"), exact("column_weights"), exact("out"), "The same of bytes, rounded once.");
  m.def("gray_of_colors", &gray_of_colors, exact("image"), exact("weights"), exact("gray"),
        "Weighted sums of red, green and blue.");
  m.def("orientation_cells", &orientation_cells, exact("image"), nb::arg("rows"), nb::arg("columns"), exact("profile"),
        exact("cells"), "Lengths of gradients by 8 directions, pooled; rows and columns are (first, step).");
  m.def("color_cells", &color_cells, exact("image"), nb::arg("rows"), nb::arg("columns"), exact("profile"),
        exact("cells"), "Red, green, blue less 128, and their squares, pooled; rows and columns are (first, step).");
  m.def("sift_of_cells", &sift_of_cells, exact("cells"), nb::arg("apart"), nb::arg("step"), exact("window"),
        nb::arg("least"), nb::arg("root"), exact("out"), "SIFT of patches of 4 x 4 cells.");
  m.def("color_of_cells", &color_of_cells, exact("cells"), nb::arg("apart"), nb::arg("step"), nb::arg("n"),
        exact("out"), "Means and deviations of the colors of patches of 4 x 4 cells, each of n pixels.");
}
