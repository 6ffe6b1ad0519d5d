#include "shortlist.h"

#include "bindings.h"

namespace {

using PerClass = In<float, 1>;

std::size_t top_of_shortlist(const In<float, 2>& X, const In<float, 2>& W, const PerClass& biases,
                             const In<std::uint8_t, 3>& codes, const In<std::int8_t, 2>& fine, const PerClass& center,
                             const PerClass& columns, const PerClass& offsets, const PerClass& slopes,
                             const PerClass& spreads, const PerClass& units, const PerClass& fine_spreads,
                             const PerClass& lengths, float rounding, float margin, const Out<std::int64_t, 2>& best) {
  const std::size_t k = W.shape(0), d = W.shape(1), width = 4 * codes.shape(1), top = best.shape(1);
  require(X.shape(1) == d && center.shape(0) == d && columns.shape(0) == d,
          "X, W, center and columns must fit together");
  require(fine.shape(0) == k && fine.shape(1) == d, "fine must have the shape of W");
  require(codes.shape(0) == (k + 31) / 32 && codes.shape(2) == 32 && width >= d && width % 16 == 0,
          "codes must have shape (groups of 32 classes, a multiple of 4 bytes, 32)");
  for (const PerClass* one : {&biases, &offsets, &slopes, &spreads, &units, &fine_spreads, &lengths})
    require(one->shape(0) == k, "what is known of classes must have one entry per row of W");
  require(best.shape(0) == X.shape(0) && top >= 1 && top <= k, "best must have a row per row of X, and 1 to k columns");
  const manyclass::ClassCodes classes{W.data(),
                                      biases.data(),
                                      codes.data(),
                                      fine.data(),
                                      center.data(),
                                      columns.data(),
                                      offsets.data(),
                                      slopes.data(),
                                      spreads.data(),
                                      units.data(),
                                      fine_spreads.data(),
                                      lengths.data(),
                                      rounding,
                                      k,
                                      d,
                                      width};
  nb::gil_scoped_release release;
  return manyclass::top_of_shortlist(classes, X.data(), X.shape(0), margin, top, best.data());
}

}  // namespace

void bind_shortlist(nb::module_& m) {
  m.def("top_of_shortlist", &top_of_shortlist, exact("X"), exact("W"), exact("biases"), exact("codes"), exact("fine"),
        exact("center"), exact("columns"), exact("offsets"), exact("slopes"), exact("spreads"), exact("units"),
        exact("fine_spreads"), exact("lengths"), nb::arg("rounding"), nb::arg("margin"), exact("best"),
        "Find the classes of highest score by packed weights; how many pairs needed a second look.");
  m.def("lookups_are_fast", &manyclass::lookups_are_fast, "Whether packed weights are faster than products of floats.");
}
