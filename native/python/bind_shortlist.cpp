#include "shortlist.h"

#include "bindings.h"

namespace {

using PerClass = In<float, 1>;

std::size_t top_of_shortlist(const In<float, 2>& X, const In<float, 2>& W, const PerClass& biases,
                             const In<std::uint8_t, 3>& codes, const In<std::uint8_t, 2>& fine, const PerClass& center,
                             const PerClass& columns, const PerClass& offsets, const PerClass& slopes,
                             const PerClass& spreads, const PerClass& units, const PerClass& fine_spreads,
                             const PerClass& lengths, float rounding, float margin, float fewest,
                             const Out<std::int64_t, 2>& best) {
  const std::size_t k = W.shape(0), d = W.shape(1), top = best.shape(1);
  require(X.shape(1) == d && center.shape(0) == d && columns.shape(0) == d,
          "X, W, center and columns must fit together");
  require(fine.shape(0) == k && fine.shape(1) == d, "fine must have the shape of W");
  require(codes.shape(0) == (k + 31) / 32 && codes.shape(1) == manyclass::blocks_of(d) / 2 && codes.shape(2) == 32,
          "codes must have shape (groups of 32 classes, bytes, 32)");
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
                                      d};
  nb::gil_scoped_release release;
  return manyclass::top_of_shortlist(classes, X.data(), X.shape(0), margin, fewest, top, best.data());
}

void pack_classes(const In<float, 2>& W, const PerClass& biases, const PerClass& mean, const PerClass& center,
                  const PerClass& columns, const Out<std::uint8_t, 2>& codes, const Out<std::uint8_t, 2>& fine,
                  const Out<float, 2>& records) {
  using manyclass::ClassRecord;
  const std::size_t m = W.shape(0), d = W.shape(1), wide = sizeof(ClassRecord) / sizeof(float);
  require(m <= manyclass::CLASS_GROUP && biases.shape(0) == m, "there must be at most 32 classes with a bias each");
  require(mean.shape(0) == d && center.shape(0) == d && columns.shape(0) == d,
          "W, mean, center and columns must fit together");
  require(codes.shape(0) == manyclass::blocks_of(d) / 2 && codes.shape(1) == 32, "codes must have shape (bytes, 32)");
  require(fine.shape(0) == m && fine.shape(1) == d, "fine must have the shape of W");
  require(records.shape(0) == m && records.shape(1) == wide, "records must have a row per class");
  nb::gil_scoped_release release;
  manyclass::pack_classes(W.data(), biases.data(), m, d, mean.data(), center.data(), columns.data(), codes.data(),
                          fine.data(), reinterpret_cast<ClassRecord*>(records.data()));
}

}  // namespace

void bind_shortlist(nb::module_& m) {
  m.def("top_of_shortlist", &top_of_shortlist, exact("X"), exact("W"), exact("biases"), exact("codes"), exact("fine"),
        exact("center"), exact("columns"), exact("offsets"), exact("slopes"), exact("spreads"), exact("units"),
        exact("fine_spreads"), exact("lengths"), nb::arg("rounding"), nb::arg("margin"), nb::arg("fewest"),
        exact("best"), "Find the classes of highest score by packed weights; how many pairs needed a second look.");
  m.def("pack_classes", &pack_classes, exact("W"), exact("biases"), exact("mean"), exact("center"), exact("columns"),
        exact("codes"), exact("fine"), exact("records"), "Pack the weights of at most 32 classes.");
  m.def("lookups_are_fast", &manyclass::lookups_are_fast, "Whether packed weights are faster than products of floats.");
}
