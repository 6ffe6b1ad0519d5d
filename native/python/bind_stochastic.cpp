#include <nanobind/stl/optional.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "bindings.h"
#include "stochastic.h"

namespace {

using manyclass::Examples;
using manyclass::LinearWeights;
using manyclass::Loss;
using manyclass::Negatives;
using manyclass::Violator;
using Labels = In<std::int32_t, 1>;
using Starts = std::optional<In<std::int64_t, 1>>;

void require_classes(const Labels& labels, std::int64_t least, std::int64_t most) {
  for (std::size_t i = 0; i < labels.shape(0); ++i)
    require(labels(i) >= least && labels(i) <= most, "labels must name classes that there are");
}

LinearWeights linear_weights(const Out<float, 2>& W, const Out<float, 1>& biases, const Out<double, 1>& scales,
                             const Out<std::int64_t, 1>& steps) {
  const std::size_t k = W.shape(0);
  require(k >= 1, "there must be a class");
  require(biases.shape(0) == k && scales.shape(0) == k && steps.shape(0) == k,
          "biases, scales and steps must have one entry per class");
  return {W.data(), biases.data(), scales.data(), steps.data(), k};
}

// Where the classes of each example begin in y, and the end of the last; without `starts` it has one each.
std::vector<std::int64_t> checked_starts(const Starts& starts, const Labels& y, std::size_t n) {
  std::vector<std::int64_t> places(n + 1);
  if (!starts) {
    require(y.shape(0) == n, "y must have one entry per row of X, or starts be given");
    std::iota(places.begin(), places.end(), 0);
    return places;
  }
  require(starts->shape(0) == n + 1, "starts must have one entry per row of X and one more");
  std::copy_n(starts->data(), n + 1, places.begin());
  require(places[0] == 0 && places[n] == std::int64_t(y.shape(0)), "starts must begin with 0 and end with that of y");
  for (std::size_t i = 0; i < n; ++i) require(places[i] <= places[i + 1], "starts must not fall");
  for (std::size_t i = 0; i < n; ++i)
    for (std::int64_t l = places[i] + 1; l < places[i + 1]; ++l)
      require(y(l - 1) < y(l), "classes of a row must be in order, and different");
  return places;
}

// Examples of other classes than these have the label -1, or none.
Examples examples(const In<float, 2>& X, const Labels& y, const In<float, 1>& weights, std::size_t k,
                  const std::vector<std::int64_t>& starts) {
  const std::size_t n = X.shape(0);
  require(weights.shape(0) == n, "weights must have one entry per row of X");
  require_classes(y, -1, static_cast<std::int64_t>(k) - 1);
  return {X.data(), y.data(), weights.data(), n, X.shape(1), starts.data()};
}

Negatives negatives(const In<double, 1>& offsets, const In<double, 1>& shares, std::size_t n, std::size_t k) {
  require(offsets.shape(0) == n && shares.shape(0) == k + 1,
          "offsets must have one entry per row of X, shares one per class and one more");
  for (std::size_t i = 0; i < n; ++i) require(offsets(i) >= 0 && offsets(i) < 1, "offsets must be in [0, 1)");
  require(shares(0) >= 0 && shares(0) < 1e15, "shares must begin with 0, or where those of other classes end");
  for (std::size_t c = 0; c < k; ++c)
    require(shares(c + 1) >= shares(c) && shares(c + 1) - shares(c) <= 1, "shares must have lengths in [0, 1]");
  return {offsets.data(), shares.data()};
}

void one_vs_rest(const In<float, 2>& X, const Labels& y, const In<float, 1>& weights, const In<double, 1>& offsets,
                 const In<double, 1>& shares, const Out<float, 2>& W, const Out<float, 1>& biases,
                 const Out<double, 1>& scales, const Out<std::int64_t, 1>& steps, Loss loss, double step,
                 double regularization, double bias_rate, double decay, const Out<double, 1>& losses,
                 std::size_t threads, const Starts& starts) {
  const LinearWeights model = linear_weights(W, biases, scales, steps);
  const std::vector<std::int64_t> places = checked_starts(starts, y, X.shape(0));
  const Examples run = examples(X, y, weights, model.k, places);
  const Negatives drawn = negatives(offsets, shares, run.n, model.k);
  require(W.shape(1) == X.shape(1) && losses.shape(0) == model.k, "W must be as wide as X, losses as long as W");
  nb::gil_scoped_release release;
  manyclass::one_vs_rest(run, drawn, model, loss, {step, regularization, bias_rate, decay}, losses.data(), threads);
}

void one_vs_rest_block(const In<float, 2>& X, const Labels& y, const In<float, 1>& weights,
                       const In<double, 1>& offsets, const In<double, 1>& shares, const Out<float, 2>& W,
                       const Out<float, 1>& biases, const Out<double, 1>& scales, const Out<std::int64_t, 1>& steps,
                       Loss loss, double step, double regularization, double bias_rate, double decay,
                       const In<float, 2>& G, const Out<float, 2>& S, const Out<double, 1>& losses, std::size_t threads,
                       const Starts& starts) {
  const LinearWeights model = linear_weights(W, biases, scales, steps);
  const std::vector<std::int64_t> places = checked_starts(starts, y, X.shape(0));
  const Examples run = examples(X, y, weights, model.k, places);
  const Negatives drawn = negatives(offsets, shares, run.n, model.k);
  require(G.shape(0) == run.n && G.shape(1) == run.n, "G must have shape (n, n)");
  require(S.shape(0) == run.n && S.shape(1) == model.k && losses.shape(0) == model.k, "S must have shape (n, k)");
  nb::gil_scoped_release release;
  manyclass::one_vs_rest_block(run, drawn, model, loss, {step, regularization, bias_rate, decay}, G.data(), S.data(),
                               losses.data(), threads);
}

double joint_block(const In<float, 2>& X, const Labels& y, const In<float, 1>& weights, const Out<float, 2>& W,
                   const Out<float, 1>& biases, const Out<double, 1>& scales, const Out<std::int64_t, 1>& steps,
                   Violator violator, double step, double regularization, double bias_rate, double decay,
                   const In<float, 2>& G, const Out<float, 2>& S, const In<std::uint64_t, 1>& draws,
                   const Out<std::int32_t, 1>& rivals, const Out<float, 1>& pulls) {
  const LinearWeights model = linear_weights(W, biases, scales, steps);
  const std::size_t n = X.shape(0);
  require(model.k >= 2, "there must be at least two classes");
  require(
      y.shape(0) == n && weights.shape(0) == n && draws.shape(0) == n && rivals.shape(0) == n && pulls.shape(0) == n,
      "y, weights, draws, rivals and pulls must have one entry per row of X");
  require_classes(y, 0, static_cast<std::int64_t>(model.k) - 1);
  require(G.shape(0) == n && G.shape(1) == n && S.shape(0) == n && S.shape(1) == model.k,
          "G must have shape (n, n) and S (n, k)");
  const Examples run{X.data(), y.data(), weights.data(), n, X.shape(1)};
  nb::gil_scoped_release release;
  return manyclass::joint_block(run, model, violator, {step, regularization, bias_rate, decay}, G.data(), S.data(),
                                draws.data(), rivals.data(), pulls.data());
}

void draw_rivals(const Labels& y, const In<std::uint64_t, 1>& draws, std::size_t k,
                 const Out<std::int32_t, 1>& rivals) {
  require(k >= 2 && draws.shape(0) == y.shape(0) && rivals.shape(0) == y.shape(0),
          "draws and rivals must have one entry per label");
  require_classes(y, 0, static_cast<std::int64_t>(k) - 1);
  manyclass::draw_rivals(y.data(), y.shape(0), k, draws.data(), rivals.data());
}

void score_two(const In<float, 2>& X, const In<float, 2>& W, const In<std::int32_t, 2>& classes, const Out<float, 2>& S,
               std::size_t threads) {
  require(W.shape(1) == X.shape(1) && S.shape(0) == X.shape(0) && S.shape(1) == W.shape(0) &&
              classes.shape(0) == X.shape(0) && classes.shape(1) == 2,
          "X, W, classes and S must fit together");
  for (std::size_t i = 0; i < 2 * X.shape(0); ++i)
    require(classes.data()[i] >= 0 && std::size_t(classes.data()[i]) < W.shape(0), "classes must be there");
  nb::gil_scoped_release release;
  manyclass::score_two(X.data(), X.shape(0), X.shape(1), W.data(), W.shape(0), classes.data(), S.data(), threads);
}

void move_two(const In<float, 2>& X, const Labels& y, const Labels& rivals, const In<float, 1>& pulls,
              const Out<float, 2>& W, std::size_t threads) {
  const std::size_t n = X.shape(0);
  require(W.shape(1) == X.shape(1) && y.shape(0) == n && rivals.shape(0) == n && pulls.shape(0) == n,
          "X, y, rivals, pulls and W must fit together");
  require_classes(y, 0, static_cast<std::int64_t>(W.shape(0)) - 1);
  require_classes(rivals, -1, static_cast<std::int64_t>(W.shape(0)) - 1);
  nb::gil_scoped_release release;
  manyclass::move_two(X.data(), n, X.shape(1), W.data(), W.shape(0), y.data(), rivals.data(), pulls.data(), threads);
}

void move_some(const In<float, 2>& X, const In<float, 2>& A, const Out<float, 2>& W, std::size_t threads) {
  require(A.shape(0) == X.shape(0) && A.shape(1) == W.shape(0) && W.shape(1) == X.shape(1),
          "X, A and W must fit together");
  nb::gil_scoped_release release;
  manyclass::move_some(X.data(), X.shape(0), X.shape(1), A.data(), W.data(), W.shape(0), threads);
}

}  // namespace

void bind_stochastic(nb::module_& m) {
  nb::enum_<Loss>(m, "Loss", "Losses of a margin.")
      .value("hinge", Loss::hinge)
      .value("squared_hinge", Loss::squared_hinge)
      .value("logistic", Loss::logistic)
      .value("squared", Loss::squared);
  nb::enum_<Violator>(m, "Violator", "Which class that violates the margin is moved down.")
      .value("max", Violator::max, "the one with the highest score")
      .value("random", Violator::random, "one drawn at random")
      .value("sampled", Violator::sampled, "the first that is found among draws");
  m.def("one_vs_rest", &one_vs_rest, exact("X"), exact("y"), exact("weights"), exact("offsets"), exact("shares"),
        exact("W"), exact("biases"), exact("scales"), exact("steps"), exact("loss"), nb::arg("step"),
        nb::arg("regularization"), nb::arg("bias_rate"), nb::arg("decay"), exact("losses"), nb::arg("threads"),
        exact("starts") = nb::none(), "One pass of one-vs-rest over a run of examples.");
  m.def("one_vs_rest_block", &one_vs_rest_block, exact("X"), exact("y"), exact("weights"), exact("offsets"),
        exact("shares"), exact("W"), exact("biases"), exact("scales"), exact("steps"), exact("loss"), nb::arg("step"),
        nb::arg("regularization"), nb::arg("bias_rate"), nb::arg("decay"), exact("G"), exact("S"), exact("losses"),
        nb::arg("threads"), exact("starts") = nb::none(), "The same from scores and Gram matrix; S becomes A.");
  m.def("joint_block", &joint_block, exact("X"), exact("y"), exact("weights"), exact("W"), exact("biases"),
        exact("scales"), exact("steps"), exact("violator"), nb::arg("step"), nb::arg("regularization"),
        nb::arg("bias_rate"), nb::arg("decay"), exact("G"), exact("S"), exact("draws"), exact("rivals"), exact("pulls"),
        "One block of multiclass, ranking or weighted ranking.");
  m.def("draw_rivals", &draw_rivals, exact("y"), exact("draws"), nb::arg("k"), exact("rivals"),
        "The class that ranking draws for each example.");
  m.def("score_two", &score_two, exact("X"), exact("W"), exact("classes"), exact("S"), nb::arg("threads"),
        "Scores of two classes of each example.");
  m.def("move_some", &move_some, exact("X"), exact("A"), exact("W"), nb::arg("threads"),
        "W += A' X for A that is mostly zeros.");
  m.def("move_two", &move_two, exact("X"), exact("y"), exact("rivals"), exact("pulls"), exact("W"), nb::arg("threads"),
        "The updates that a block of a joint machine chose.");
}
