#include "bindings.h"
#include "mixtures.h"

namespace {

typedef In<std::int64_t, 1> Index;

manyclass::Partition checked_partition(const Index& order, const Index& starts, std::size_t n) {
  require(starts.shape(0) >= 1 && starts(0) == 0, "starts must begin with 0");
  const std::size_t cells = starts.shape(0) - 1;
  for (std::size_t g = 0; g < cells; ++g) require(starts(g) <= starts(g + 1), "starts must ascend");
  require(std::size_t(starts(cells)) == order.shape(0), "starts must end with the length of order");
  for (std::size_t i = 0; i < order.shape(0); ++i)
    require(order(i) >= 0 && std::size_t(order(i)) < n, "order must name rows of X");
  return {order.data(), starts.data(), cells};
}

void require_sums(const Out<double, 2>& counts, const Out<double, 3>& sums, std::size_t cells, std::size_t k,
                  std::size_t d) {
  require(counts.shape(0) == cells && counts.shape(1) == k, "counts must have an entry per cell and center");
  require(sums.shape(0) == cells && sums.shape(1) == k && sums.shape(2) == d,
          "sums must have a row per cell and center");
}

std::int64_t mixture_sums(const In<float, 2>& X, const Index& order, const Index& starts, const In<float, 1>& origin,
                          const In<float, 2>& means, const In<float, 2>& rates, const In<float, 1>& logs, float margin,
                          const Out<double, 2>& counts, const Out<double, 3>& first, const Out<double, 3>& second,
                          const Out<double, 1>& total) {
  const std::size_t k = means.shape(0), d = X.shape(1);
  const manyclass::Partition cells = checked_partition(order, starts, X.shape(0));
  require(k >= 1 && d >= 1 && means.shape(1) == d, "means must have as many columns as X");
  require(origin.shape(0) == d, "origin must have as many numbers as a row of X");
  require(rates.shape(0) == k && rates.shape(1) == d && logs.shape(0) == k, "rates and logs must belong to means");
  require_sums(counts, first, cells.count, k, d);
  require_sums(counts, second, cells.count, k, d);
  require(total.shape(0) == 1, "total must be one number");
  nb::gil_scoped_release release;
  return manyclass::mixture_sums(X.data(), d, cells, origin.data(), means.data(), rates.data(), logs.data(), k, margin,
                                 counts.data(), first.data(), second.data(), total.data());
}

std::int64_t nearest_words(const In<float, 2>& X, const In<float, 2>& words, const Out<std::int32_t, 1>& labels) {
  require(words.shape(0) >= 1 && X.shape(1) >= 1 && words.shape(1) == X.shape(1),
          "words must have as many columns as X");
  require(labels.shape(0) == X.shape(0), "labels must have one entry per row of X");
  nb::gil_scoped_release release;
  return manyclass::nearest_words(X.data(), X.shape(0), X.shape(1), words.data(), words.shape(0), labels.data());
}

void residual_sums(const In<float, 2>& X, const Index& order, const Index& starts, const In<std::int32_t, 1>& labels,
                   const In<float, 2>& words, const Out<double, 2>& counts, const Out<double, 3>& sums) {
  const std::size_t k = words.shape(0), n = X.shape(0), d = X.shape(1);
  const manyclass::Partition cells = checked_partition(order, starts, n);
  require(k >= 1 && d >= 1 && words.shape(1) == d, "words must have as many columns as X");
  require(labels.shape(0) == n, "labels must have one entry per row of X");
  for (std::size_t i = 0; i < n; ++i) require(labels(i) >= 0 && std::size_t(labels(i)) < k, "labels must name words");
  require_sums(counts, sums, cells.count, k, d);
  nb::gil_scoped_release release;
  manyclass::residual_sums(X.data(), d, cells, labels.data(), words.data(), k, counts.data(), sums.data());
}

void project_rows(const In<float, 2>& X, const In<float, 2>& components, const In<float, 1>& offsets,
                  const Out<float, 2>& out) {
  const std::size_t n = X.shape(0), d = X.shape(1), p = components.shape(1);
  require(components.shape(0) == d && offsets.shape(0) == p, "components must have a row for each column of X");
  require(out.shape(0) == n && out.shape(1) == p, "out must have a row for each of X and a column for each component");
  nb::gil_scoped_release release;
  manyclass::project_rows(X.data(), n, d, components.data(), offsets.data(), p, out.data());
}

}  // namespace

void bind_mixtures(nb::module_& m) {
  m.def("mixture_sums", &mixture_sums, exact("X"), exact("order"), exact("starts"), exact("origin"), exact("means"),
        exact("rates"), exact("logs"), nb::arg("margin"), exact("counts"), exact("first"), exact("second"),
        exact("total"),
        "Add to the moments of the rows of each cell under a mixture; the first row without a density, or -1.");
  m.def("nearest_words", &nearest_words, exact("X"), exact("words"), exact("labels"),
        "The nearest of the words to every row of X; the first row that has none, or -1.");
  m.def("residual_sums", &residual_sums, exact("X"), exact("order"), exact("starts"), exact("labels"), exact("words"),
        exact("counts"), exact("sums"), "Add to the number and the residuals of the rows of each cell by their words.");
  m.def("project_rows", &project_rows, exact("X"), exact("components"), exact("offsets"), exact("out"),
        "Products of rows of X with components, plus offsets; every row by itself.");
}
