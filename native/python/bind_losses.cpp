#include <nanobind/stl/optional.h>

#include "bindings.h"
#include "losses.h"

namespace {

void softmax_loss(const In<float, 2>& S, const In<std::int64_t, 1>& y, const std::optional<In<float, 1>>& weights,
                  const Out<float, 2>& R, const Out<double, 1>& values, std::size_t threads) {
  const std::size_t n = S.shape(0), k = S.shape(1);
  require(R.shape(0) == n && R.shape(1) == k, "R must have the shape of S");
  require(y.shape(0) == n && values.shape(0) == n, "y and values must have one entry per row of S");
  require(!weights || weights->shape(0) == n, "weights must have one entry per row of S, or be None");
  for (std::size_t i = 0; i < n; ++i)
    require(y(i) >= 0 && std::size_t(y(i)) < k, "labels must name classes that there are");
  nb::gil_scoped_release release;
  manyclass::softmax_loss(S.data(), n, k, y.data(), weights ? weights->data() : nullptr, R.data(), values.data(),
                          threads);
}

}  // namespace

void bind_losses(nb::module_& m) {
  m.def("softmax_loss", &softmax_loss, exact("S"), exact("y"), exact("weights"), exact("R"), exact("values"),
        nb::arg("threads"), "values and gradients R of the softmax loss of each row of S, which may be R.");
}
