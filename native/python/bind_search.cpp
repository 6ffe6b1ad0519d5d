#include <nanobind/stl/optional.h>

#include "bindings.h"
#include "search.h"

namespace {

void require_best(const Out<float, 2>& scores, const Out<std::int64_t, 2>& positions, std::size_t queries) {
  require(scores.shape(0) == queries && scores.shape(1) >= 1, "scores must have a row per query and a column");
  require(positions.shape(0) == queries && positions.shape(1) == scores.shape(1),
          "positions must have the shape of scores");
}

void best_rows(const In<float, 2>& X, const std::optional<In<std::int64_t, 1>>& index, const In<float, 2>& Q,
               std::int64_t offset, const Out<float, 2>& scores, const Out<std::int64_t, 2>& positions,
               std::size_t threads) {
  const std::size_t n = X.shape(0), d = X.shape(1), listed = index ? index->shape(0) : n;
  require(Q.shape(1) == d, "Q must have as many columns as X");
  require_best(scores, positions, Q.shape(0));
  for (std::size_t i = 0; index && i < listed; ++i)
    require((*index)(i) >= 0 && std::size_t((*index)(i)) < n, "index must name rows of X");
  nb::gil_scoped_release release;
  manyclass::best_rows(X.data(), index ? index->data() : nullptr, listed, d, Q.data(), Q.shape(0), offset,
                       scores.shape(1), scores.data(), positions.data(), threads);
}

void best_scores(const In<float, 2>& S, const In<std::int64_t, 1>& index, const Out<float, 2>& scores,
                 const Out<std::int64_t, 2>& positions, std::size_t threads) {
  require(index.shape(0) == S.shape(1), "index must have one entry per column of S");
  require_best(scores, positions, S.shape(0));
  nb::gil_scoped_release release;
  manyclass::best_scores(S.data(), index.data(), S.shape(1), S.shape(0), scores.shape(1), scores.data(),
                         positions.data(), threads);
}

}  // namespace

void bind_search(nb::module_& m) {
  m.def("best_rows", &best_rows, exact("X"), exact("index"), exact("Q"), nb::arg("offset"), exact("scores"),
        exact("positions"), nb::arg("threads"),
        "Let rows of X (those of an ascending index, or all if it is None) join the best by their product with Q.");
  m.def("best_scores", &best_scores, exact("S"), exact("index"), exact("scores"), exact("positions"),
        nb::arg("threads"), "Let the columns of S, with the positions of an ascending index, join the best.");
}
