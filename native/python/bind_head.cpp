#include "head.h"

#include "bindings.h"

namespace {

using PerClass = In<float, 1>;
using Bytes = In<std::uint8_t, 2>;

// What both take, checked. Without a second byte of weights, `low` has no rows.
manyclass::PackedHead head_of(const In<std::uint8_t, 3>& codes, const Bytes& weights, const Bytes& low,
                              const PerClass& mean, const PerClass& center, const PerClass& columns,
                              const PerClass& rough, const PerClass& slopes, const PerClass& spreads,
                              const PerClass& offsets, const PerClass& units, const PerClass& weight_spreads,
                              float rounding, int bits) {
  const std::size_t k = offsets.shape(0), d = mean.shape(0);
  require(k >= 1 && d >= 1 && k < (std::size_t{1} << 31) && d <= (1 << 16), "there must be some classes and columns");
  require(center.shape(0) == d && columns.shape(0) == d, "mean, center and columns must fit together");
  require(bits == 4 || bits == 8 || bits == 12 || bits == 16, "bits must be 4, 8, 12 or 16");
  const bool nibbles = bits % 8 == 4, longer = bits > 8;
  require(codes.shape(0) == (k + 127) / 128 && codes.shape(1) == manyclass::blocks_of(d) && codes.shape(2) == 64,
          "codes must have shape (groups of 128 classes, blocks, 64)");
  require(weights.shape(0) == k && weights.shape(1) == (nibbles ? (d + 1) / 2 : d),
          "weights must have a row per class, and a byte or half a byte per column");
  require(longer ? low.shape(0) == k && low.shape(1) == d : low.shape(0) == 0,
          "low must have a row per class and a byte per column, or no rows with 8 bits and less");
  for (const PerClass* one : {&rough, &slopes, &spreads, &units, &weight_spreads})
    require(one->shape(0) == k, "what is known of classes must have one entry for each");
  return {codes.data(),
          weights.data(),
          longer ? low.data() : nullptr,
          mean.data(),
          center.data(),
          columns.data(),
          rough.data(),
          slopes.data(),
          spreads.data(),
          offsets.data(),
          units.data(),
          weight_spreads.data(),
          rounding,
          nibbles,
          k,
          d};
}

std::size_t top_of_head(const In<float, 2>& X, const In<std::uint8_t, 3>& codes, const Bytes& weights, const Bytes& low,
                        const PerClass& mean, const PerClass& center, const PerClass& columns, const PerClass& rough,
                        const PerClass& slopes, const PerClass& spreads, const PerClass& offsets, const PerClass& units,
                        const PerClass& weight_spreads, float rounding, int bits, float margin, float fewest,
                        std::size_t threads, const Out<std::int64_t, 2>& best, const Out<float, 2>& scores) {
  const auto head = head_of(codes, weights, low, mean, center, columns, rough, slopes, spreads, offsets, units,
                            weight_spreads, rounding, bits);
  const std::size_t n = X.shape(0), top = best.shape(1);
  require(X.shape(1) == head.d, "X must have as many columns as the head");
  require(best.shape(0) == n && top >= 1 && top <= head.k, "best must have a row per row of X, and 1 to k columns");
  require(scores.shape(0) == n && scores.shape(1) == top, "scores must have the shape of best");
  nb::gil_scoped_release release;
  return manyclass::top_of_head(head, X.data(), n, margin, fewest, top, threads, best.data(), scores.data());
}

void scores_of_head(const In<float, 2>& X, const In<std::uint8_t, 3>& codes, const Bytes& weights, const Bytes& low,
                    const PerClass& mean, const PerClass& center, const PerClass& columns, const PerClass& rough,
                    const PerClass& slopes, const PerClass& spreads, const PerClass& offsets, const PerClass& units,
                    const PerClass& weight_spreads, float rounding, int bits, std::size_t first, std::size_t threads,
                    const Out<float, 2>& scores) {
  const auto head = head_of(codes, weights, low, mean, center, columns, rough, slopes, spreads, offsets, units,
                            weight_spreads, rounding, bits);
  const std::size_t n = X.shape(0), count = scores.shape(1);
  require(X.shape(1) == head.d, "X must have as many columns as the head");
  require(scores.shape(0) == n && first <= head.k && count <= head.k - first,
          "scores must have a row per row of X, and a column for each of these classes");
  nb::gil_scoped_release release;
  manyclass::scores_of_head(head, X.data(), n, first, count, threads, scores.data());
}

}  // namespace

void bind_head(nb::module_& m) {
  m.def("top_of_head", &top_of_head, exact("X"), exact("codes"), exact("weights"), exact("low"), exact("mean"),
        exact("center"), exact("columns"), exact("rough"), exact("slopes"), exact("spreads"), exact("offsets"),
        exact("units"), exact("weight_spreads"), nb::arg("rounding"), nb::arg("bits"), nb::arg("margin"),
        nb::arg("fewest"), nb::arg("threads"), exact("best"), exact("scores"),
        "Find the classes of highest score of a packed head; how many pairs were scored by their weights.");
  m.def("scores_of_head", &scores_of_head, exact("X"), exact("codes"), exact("weights"), exact("low"), exact("mean"),
        exact("center"), exact("columns"), exact("rough"), exact("slopes"), exact("spreads"), exact("offsets"),
        exact("units"), exact("weight_spreads"), nb::arg("rounding"), nb::arg("bits"), nb::arg("first"),
        nb::arg("threads"), exact("scores"), "Score rows by the weights of a range of classes of a packed head.");
}
