#include <string>

#include "bindings.h"
#include "compressed.h"

namespace {

using manyclass::Compressed;

Compressed compressed(const In<std::uint8_t, 2>& codes, const In<float, 3>& codebooks, std::size_t d) {
  const Compressed X{
      codes.data(), codebooks.data(), codes.shape(0), codes.shape(1), codebooks.shape(1), codebooks.shape(2), d};
  require(codebooks.shape(0) == X.blocks, "codes must have one column per codebook");
  require(X.centroids >= 1 && X.centroids <= 256, "codebooks must have 1 to 256 centroids");
  require(X.width >= 1 && d > (X.blocks - 1) * X.width && d <= X.blocks * X.width,
          "d must lie in the last block of the codebooks");
  return X;
}

void matmat(const In<std::uint8_t, 2>& codes, const In<float, 3>& codebooks, const In<float, 2>& W,
            const Out<float, 2>& out, std::size_t threads) {
  const Compressed X = compressed(codes, codebooks, W.shape(0));
  require(out.shape(0) == X.n && out.shape(1) == W.shape(1), "out must have shape (n, k)");
  nb::gil_scoped_release release;
  manyclass::matmat(X, W.data(), W.shape(1), out.data(), threads);
}

void find_crowded(const In<std::uint8_t, 2>& codes, const In<float, 3>& codebooks, const Out<std::uint8_t, 2>& crowded,
                  std::size_t threads) {
  const Compressed X = compressed(codes, codebooks, codebooks.shape(0) * codebooks.shape(2));
  require(crowded.shape(0) == (X.n + manyclass::CHUNK_ROWS - 1) / manyclass::CHUNK_ROWS && crowded.shape(1) == X.blocks,
          "crowded must have shape (chunks, blocks)");
  nb::gil_scoped_release release;
  manyclass::find_crowded(X, crowded.data(), threads);
}

void rmatmat(const In<std::uint8_t, 2>& codes, const In<float, 3>& codebooks, const In<std::uint8_t, 2>& crowded,
             const In<float, 2>& R, const Out<float, 2>& out, std::size_t threads) {
  const Compressed X = compressed(codes, codebooks, out.shape(0));
  require(R.shape(0) == X.n && out.shape(1) == R.shape(1), "R must have one row per row of codes");
  require(crowded.shape(0) == (X.n + manyclass::CHUNK_ROWS - 1) / manyclass::CHUNK_ROWS && crowded.shape(1) == X.blocks,
          "crowded must have shape (chunks, blocks)");
  nb::gil_scoped_release release;
  manyclass::rmatmat(X, crowded.data(), R.data(), R.shape(1), out.data(), threads);
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
  const Compressed books{
      nullptr, codebooks.data(), x.shape(0), codebooks.shape(0), codebooks.shape(1), codebooks.shape(2), x.shape(1)};
  require(books.centroids >= 1 && books.centroids <= 256, "codebooks must have 1 to 256 centroids");
  require(books.d > (books.blocks - 1) * books.width && books.d <= books.blocks * books.width,
          "the columns of x must end in the last block of the codebooks");
  require(codes.shape(0) == x.shape(0) && codes.shape(1) == books.blocks, "codes must have shape (n, blocks)");
  nb::gil_scoped_release release;
  return manyclass::encode(x.data(), books, x.shape(0), codes.data(), threads);
}

void mix(const In<float, 2>& x, const In<float, 2>& mixer, std::size_t first, const Out<float, 2>& out,
         std::size_t threads) {
  const std::size_t size = mixer.shape(0), padded = mixer.shape(1), d = x.shape(1);
  require(out.shape(0) == x.shape(0) && out.shape(1) == d && first <= d, "out must have the shape of x");
  require(size >= 1 && padded % 16 == 0 && padded >= size && padded < size + 16, "mixer must be (size, padded)");
  nb::gil_scoped_release release;
  manyclass::mix(x.data(), x.shape(0), d, mixer.data(), size, padded, first, (d - first) / size, out.data(), threads);
}

}  // namespace

void bind_pq(nb::module_& m) {
  m.def("pq_matmat", &matmat, exact("codes"), exact("codebooks"), exact("W"), exact("out"), nb::arg("threads"),
        "out = X W");
  m.attr("CHUNK_ROWS") = manyclass::CHUNK_ROWS;
  m.def("pq_find_crowded", &find_crowded, exact("codes"), exact("codebooks"), exact("crowded"), nb::arg("threads"),
        "Where sums of rows must be kept short.");
  m.def("mix", &mix, exact("x"), exact("mixer"), nb::arg("first"), exact("out"), nb::arg("threads"),
        "Whole groups of columns from `first` on, multiplied.");
  m.def("pq_rmatmat", &rmatmat, exact("codes"), exact("codebooks"), exact("crowded"), exact("R"), exact("out"),
        nb::arg("threads"), "out = X' R");
  m.def("pq_decode", &decode, exact("codes"), exact("codebooks"), exact("out"), nb::arg("threads"), "out = X");
  m.def("pq_encode", &encode, exact("x"), exact("codebooks"), exact("codes"), nb::arg("threads"),
        "codes = nearest centroids; returns the first row that is not finite, or n");
}
