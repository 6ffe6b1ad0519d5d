#include <stdexcept>
#include <string>

#include "bindings.h"
#include "compressed.h"

namespace {

using manyclass::Compressed;

void require(bool holds, const char* sentence) {
  if (!holds) throw std::invalid_argument(sentence);
}

Compressed compressed(const In<std::uint8_t, 2>& codes, const In<float, 3>& codebooks, std::size_t d) {
  const Compressed X{codes.data(),       codebooks.data(),   codes.shape(0), codes.shape(1),
                     codebooks.shape(1), codebooks.shape(2), d};
  require(codebooks.shape(0) == X.blocks, "codes must have one column per codebook");
  require(X.centroids >= 1 && X.centroids <= 256, "codebooks must have 1 to 256 centroids");
  require(X.width >= 1 && d > (X.blocks - 1) * X.width && d <= X.blocks * X.width,
          "d must lie in the last block of the codebooks");
  // A code beyond the codebook would read outside it. With 256 centroids there is none.
  if (X.centroids < 256)
    for (std::size_t i = 0; i < X.n * X.blocks; ++i)
      require(X.codes[i] < X.centroids, "codes must be smaller than the number of centroids");
  return X;
}

void matmat(const In<std::uint8_t, 2>& codes, const In<float, 3>& codebooks, const In<float, 2>& W,
            const Out<float, 2>& out, std::size_t threads) {
  const Compressed X = compressed(codes, codebooks, W.shape(0));
  require(out.shape(0) == X.n && out.shape(1) == W.shape(1), "out must have shape (n, k)");
  nb::gil_scoped_release release;
  manyclass::matmat(X, W.data(), W.shape(1), out.data(), threads);
}

void rmatmat(const In<std::uint8_t, 2>& codes, const In<float, 3>& codebooks, const In<float, 2>& R,
             const Out<float, 2>& out, std::size_t threads) {
  const Compressed X = compressed(codes, codebooks, out.shape(0));
  require(R.shape(0) == X.n && out.shape(1) == R.shape(1), "R must have one row per row of codes");
  nb::gil_scoped_release release;
  manyclass::rmatmat(X, R.data(), R.shape(1), out.data(), threads);
}

void decode(const In<std::uint8_t, 2>& codes, const In<float, 3>& codebooks, const Out<float, 2>& out,
            std::size_t threads) {
  const Compressed X = compressed(codes, codebooks, out.shape(1));
  require(out.shape(0) == X.n, "out must have one row per row of codes");
  nb::gil_scoped_release release;
  manyclass::decode(X, out.data(), threads);
}

std::size_t encode(const In<float, 2>& x, const In<float, 3>& codebooks, const Out<std::uint8_t, 2>& codes,
                   std::size_t threads) {
  const Compressed books{nullptr,           codebooks.data(),   x.shape(0), codebooks.shape(0),
                         codebooks.shape(1), codebooks.shape(2), x.shape(1)};
  require(books.centroids >= 1 && books.centroids <= 256, "codebooks must have 1 to 256 centroids");
  require(books.d > (books.blocks - 1) * books.width && books.d <= books.blocks * books.width,
          "the columns of x must end in the last block of the codebooks");
  require(codes.shape(0) == x.shape(0) && codes.shape(1) == books.blocks, "codes must have shape (n, blocks)");
  nb::gil_scoped_release release;
  return manyclass::encode(x.data(), books, x.shape(0), codes.data(), threads);
}

}  // namespace

void bind_pq(nb::module_& m) {
  m.def("pq_matmat", &matmat, nb::arg("codes").noconvert(), nb::arg("codebooks").noconvert(),
        nb::arg("W").noconvert(), nb::arg("out").noconvert(), nb::arg("threads"), "out = X W");
  m.def("pq_rmatmat", &rmatmat, nb::arg("codes").noconvert(), nb::arg("codebooks").noconvert(),
        nb::arg("R").noconvert(), nb::arg("out").noconvert(), nb::arg("threads"), "out = X' R");
  m.def("pq_decode", &decode, nb::arg("codes").noconvert(), nb::arg("codebooks").noconvert(),
        nb::arg("out").noconvert(), nb::arg("threads"), "out = X");
  m.def("pq_encode", &encode, nb::arg("x").noconvert(), nb::arg("codebooks").noconvert(),
        nb::arg("codes").noconvert(), nb::arg("threads"),
        "codes = nearest centroids; returns the first row that is not finite, or n");
}
