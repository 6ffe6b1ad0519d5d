#include "bindings.h"
#include "gather.h"

void bind_gather(nb::module_& m) {
  m.def(
      "gather",
      [](In<float, 2> X, In<std::int64_t, 1> index, Out<float, 2> out, std::size_t threads) {
        const std::size_t n = index.shape(0), d = X.shape(1);
        if (out.shape(0) != n || out.shape(1) != d) throw nb::value_error("out must have a row for each of index");
        for (std::size_t i = 0; i < n; ++i)
          if (index.data()[i] < 0 || std::size_t(index.data()[i]) >= X.shape(0))
            throw nb::index_error("index must be in [0, rows of X)");
        nb::gil_scoped_release free;
        manyclass::gather(reinterpret_cast<const char*>(X.data()), d * sizeof(float), index.data(), n,
                          reinterpret_cast<char*>(out.data()), threads);
      },
      exact("X"), exact("index"), exact("out"), nb::arg("threads"), "out = X[index]");
}
