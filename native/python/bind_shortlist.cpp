#include "shortlist.h"

#include "bindings.h"
#include "judging.h"

namespace {

using PerClass = In<float, 1>;

// What both searches take, checked.
manyclass::ClassCodes codes_of(const In<float, 2>& W, const PerClass& biases, const In<std::uint8_t, 3>& codes,
                               const In<std::uint8_t, 2>& fine, const PerClass& mean, const PerClass& center,
                               const PerClass& columns, const PerClass& offsets, const PerClass& slopes,
                               const PerClass& spreads, const PerClass& units, const PerClass& fine_spreads,
                               const PerClass& lengths, float rounding) {
  const std::size_t k = W.shape(0), d = W.shape(1);
  require(mean.shape(0) == d && center.shape(0) == d && columns.shape(0) == d,
          "W, mean, center and columns must fit together");
  require(fine.shape(0) == k && fine.shape(1) == d, "fine must have the shape of W");
  require(codes.shape(0) == (k + 127) / 128 && codes.shape(1) == manyclass::blocks_of(d) && codes.shape(2) == 64,
          "codes must have shape (groups of 128 classes, blocks, 64)");
  for (const PerClass* one : {&biases, &offsets, &slopes, &spreads, &units, &fine_spreads, &lengths})
    require(one->shape(0) == k, "what is known of classes must have one entry per row of W");
  return {W.data(),
          biases.data(),
          codes.data(),
          fine.data(),
          mean.data(),
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
}

std::size_t top_of_shortlist(const In<float, 2>& X, const In<float, 2>& W, const PerClass& biases,
                             const In<std::uint8_t, 3>& codes, const In<std::uint8_t, 2>& fine, const PerClass& mean,
                             const PerClass& center, const PerClass& columns, const PerClass& offsets,
                             const PerClass& slopes, const PerClass& spreads, const PerClass& units,
                             const PerClass& fine_spreads, const PerClass& lengths, float rounding, float margin,
                             float fewest, const Out<std::int64_t, 2>& best) {
  const auto classes = codes_of(W, biases, codes, fine, mean, center, columns, offsets, slopes, spreads, units,
                                fine_spreads, lengths, rounding);
  const std::size_t top = best.shape(1);
  require(X.shape(1) == classes.d, "X and W must have as many columns");
  require(best.shape(0) == X.shape(0) && top >= 1 && top <= classes.k,
          "best must have a row per row of X, and 1 to k columns");
  nb::gil_scoped_release release;
  return manyclass::top_of_shortlist(classes, X.data(), X.shape(0), margin, fewest, top, best.data());
}

std::size_t find_rivals(const In<float, 2>& X, const In<float, 2>& W, const PerClass& biases,
                        const In<std::uint8_t, 3>& codes, const In<std::uint8_t, 2>& fine, const PerClass& mean,
                        const PerClass& center, const PerClass& columns, const PerClass& offsets,
                        const PerClass& slopes, const PerClass& spreads, const PerClass& units,
                        const PerClass& fine_spreads, const PerClass& lengths, float rounding, float margin,
                        float fewest, const In<float, 1>& own, const In<std::int64_t, 1>& y,
                        const Out<float, 1>& scores, const Out<std::int64_t, 1>& rivals) {
  const auto classes = codes_of(W, biases, codes, fine, mean, center, columns, offsets, slopes, spreads, units,
                                fine_spreads, lengths, rounding);
  const std::size_t n = X.shape(0);
  require(X.shape(1) == classes.d, "X and W must have as many columns");
  require(own.shape(0) == n && y.shape(0) == n && scores.shape(0) == n && rivals.shape(0) == n,
          "own, y, scores and rivals must have one entry per row of X");
  nb::gil_scoped_release release;
  return manyclass::find_rivals(classes, X.data(), n, margin, fewest, own.data(), y.data(), scores.data(),
                                rivals.data());
}

void own_scores(const In<float, 2>& X, const In<float, 2>& W, const PerClass& biases, const In<std::int64_t, 1>& y,
                const Out<float, 1>& own) {
  require(X.shape(1) == W.shape(1) && biases.shape(0) == W.shape(0), "X, W and biases must fit together");
  require(y.shape(0) == X.shape(0) && own.shape(0) == X.shape(0), "y and own must have one entry per row of X");
  nb::gil_scoped_release release;
  manyclass::own_scores(X.data(), X.shape(0), X.shape(1), W.data(), biases.data(), W.shape(0), y.data(), own.data());
}

void best_classes(const In<float, 2>& X, const In<float, 2>& W, const PerClass& biases, std::int64_t first,
                  const Out<float, 1>& scores, const Out<std::int64_t, 1>& classes) {
  const std::size_t n = X.shape(0);
  require(X.shape(1) == W.shape(1) && biases.shape(0) == W.shape(0), "X, W and biases must fit together");
  require(scores.shape(0) == n && classes.shape(0) == n, "scores and classes must have one entry per row of X");
  nb::gil_scoped_release release;
  manyclass::best_classes(X.data(), n, X.shape(1), W.data(), biases.data(), W.shape(0), first, scores.data(),
                          classes.data());
}

void pack_classes(const In<float, 2>& W, const PerClass& biases, const PerClass& mean, const PerClass& center,
                  const PerClass& columns, const Out<std::uint8_t, 2>& codes, const Out<std::uint8_t, 2>& fine,
                  const Out<float, 2>& records) {
  using manyclass::ClassRecord;
  const std::size_t m = W.shape(0), d = W.shape(1), wide = sizeof(ClassRecord) / sizeof(float);
  require(m <= manyclass::CLASS_GROUP && biases.shape(0) == m, "there must be at most 128 classes with a bias each");
  require(mean.shape(0) == d && center.shape(0) == d && columns.shape(0) == d,
          "W, mean, center and columns must fit together");
  require(codes.shape(0) == manyclass::blocks_of(d) && codes.shape(1) == 64, "codes must have shape (blocks, 64)");
  require(fine.shape(0) == m && fine.shape(1) == d, "fine must have the shape of W");
  require(records.shape(0) == m && records.shape(1) == wide, "records must have a row per class");
  nb::gil_scoped_release release;
  manyclass::pack_classes(W.data(), biases.data(), m, d, mean.data(), center.data(), columns.data(), codes.data(),
                          fine.data(), reinterpret_cast<ClassRecord*>(records.data()));
}

}  // namespace

void bind_shortlist(nb::module_& m) {
  m.def("top_of_shortlist", &top_of_shortlist, exact("X"), exact("W"), exact("biases"), exact("codes"), exact("fine"),
        exact("mean"), exact("center"), exact("columns"), exact("offsets"), exact("slopes"), exact("spreads"),
        exact("units"), exact("fine_spreads"), exact("lengths"), nb::arg("rounding"), nb::arg("margin"),
        nb::arg("fewest"), exact("best"),
        "Find the classes of highest score by packed weights; how many pairs needed a second look.");
  m.def("find_rivals", &find_rivals, exact("X"), exact("W"), exact("biases"), exact("codes"), exact("fine"),
        exact("mean"), exact("center"), exact("columns"), exact("offsets"), exact("slopes"), exact("spreads"),
        exact("units"), exact("fine_spreads"), exact("lengths"), nb::arg("rounding"), nb::arg("margin"),
        nb::arg("fewest"), exact("own"), exact("y"), exact("scores"), exact("rivals"),
        "Find a class that beats the own class of each row, by packed weights; how many pairs needed a second look.");
  m.def("own_scores", &own_scores, exact("X"), exact("W"), exact("biases"), exact("y"), exact("own"),
        "Score each row by its own class, where that is one of these.");
  m.def("best_classes", &best_classes, exact("X"), exact("W"), exact("biases"), nb::arg("first"), exact("scores"),
        exact("classes"), "Let classes join the best of each row.");
  m.def("pack_classes", &pack_classes, exact("W"), exact("biases"), exact("mean"), exact("center"), exact("columns"),
        exact("codes"), exact("fine"), exact("records"), "Pack the weights of at most 32 classes.");
  m.def("lookups_are_fast", &manyclass::lookups_are_fast, "Whether packed weights are faster than products of floats.");
}
