#include "compressed.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "dispatch.h"
#include "parallel.h"

namespace manyclass {
namespace {

using std::size_t;

// A run of columns [first, first + columns) that is treated as `tile` columns side by side.
struct Tile {
  size_t first, columns;
  int size;
};

std::vector<Tile> tiles_of(size_t k) {
  std::vector<Tile> tiles;
  for (size_t c = 0; c < k;) {
    const size_t left = k - c;
    const int size = left > 8 ? 16 : left > 4 ? 8 : left > 1 ? 4 : 1;
    tiles.push_back({c, std::min<size_t>(left, size), size});
    c += size;
  }
  return tiles;
}

// panel (rows, tile.size) = the tile's columns of rows [first, first + rows) of A (height, k), zeros outside A.
void pack(const float* A, size_t height, size_t k, size_t first, size_t rows, const Tile& tile, float* panel) {
  const size_t there = first < height ? std::min(rows, height - first) : 0;
  if (tile.columns < static_cast<size_t>(tile.size) || there < rows)
    std::memset(panel, 0, rows * tile.size * sizeof(float));
  for (size_t i = 0; i < there; ++i)
    std::memcpy(panel + i * tile.size, A + (first + i) * k + tile.first, tile.columns * sizeof(float));
}

// Blocks whose tables, or sums, are used at a time: a quarter of a megabyte of them, which stays in the second-level
// cache of current processors, and no more codes than one cache line, which is what the loops ask for ahead. It
// depends on the tile alone, so that sums have one order.
size_t blocks_at_a_time(int tile) { return std::min(64, 256 / tile); }

// One tile of columns of one run of rows of a product.
struct Piece {
  Tile tile;
  size_t begin, end;
};

// Whole rounds of tiles go one to a thread; the rows of what is left over are shared. A piece has so many rows at most
// that its part of the product stays small beside the product, and enough to pay for its tables.
std::vector<Piece> pieces_of(size_t n, size_t k, size_t threads) {
  constexpr size_t ROWS = 65536;
  const std::vector<Tile> tiles = tiles_of(k);
  const size_t apart = tiles.size() / threads * threads;
  std::vector<Piece> pieces;
  for (size_t t = 0; t < tiles.size(); ++t) {
    const size_t rows = t < apart ? ROWS : std::min(ROWS, (n + threads - 1) / threads);
    for (size_t i = 0; i < n; i += rows) pieces.push_back({tiles[t], i, std::min(n, i + rows)});
  }
  return pieces;
}

}  // namespace

void matmat(const Compressed& X, const float* W, size_t k, float* out, size_t threads) {
  threads = std::max<size_t>(threads, 1);
  const std::vector<Piece> pieces = pieces_of(X.n, k, threads);
  size_t most_rows = 0;
  for (const Piece& piece : pieces) most_rows = std::max(most_rows, piece.end - piece.begin);
  struct Scratch {
    Buffer<float> panel, tables, sums;
  };
  std::vector<Scratch> scratch(std::min(threads, std::max<size_t>(1, pieces.size())));
  for (Scratch& s : scratch)
    s = {allocate<float>(256 * X.width), allocate<float>(256 * ENTRIES), allocate<float>(most_rows * 16)};

  parallel_for(pieces.size(), threads, [&](size_t task, size_t worker) {
    const auto& [tile, begin, end] = pieces[task];
    const size_t step = blocks_at_a_time(tile.size), n = end - begin;
    Scratch& s = scratch[worker];
    const Kernels& loops = kernels();
    std::memset(s.sums.get(), 0, n * tile.size * sizeof(float));
    for (size_t q = 0; q < X.blocks; q += step) {
      const size_t blocks = std::min(step, X.blocks - q);
      pack(W, X.d, k, q * X.width, blocks * X.width, tile, s.panel.get());
      loops.make_tables(X.codebooks + q * X.centroids * X.width, blocks, X.centroids, X.width, s.panel.get(), tile.size,
                        s.tables.get());
      loops.gather_add(X.codes + begin * X.blocks + q, n, X.blocks, blocks, s.tables.get(), tile.size, s.sums.get());
    }
    for (size_t i = 0; i < n; ++i)
      std::memcpy(out + (begin + i) * k + tile.first, s.sums.get() + i * tile.size, tile.columns * sizeof(float));
  });
}

namespace {

// Rows whose sums are kept apart before they join the total, at most. A centroid that takes a large part of the rows
// may add up so many equal numbers that float32 drifts; its sums are cut shorter.
constexpr size_t ROWS = 8192;

size_t rows_at_a_time(const Compressed& X, size_t q0, size_t blocks) {
  constexpr size_t SAMPLE = 512, OFTEN = SAMPLE / 16;
  const size_t stride = std::max<size_t>(1, X.n / SAMPLE);
  for (size_t q = q0; q < q0 + blocks; ++q) {
    std::uint16_t seen[256] = {};
    for (size_t i = 0; i < X.n; i += stride)
      if (++seen[X.codes[i * X.blocks + q]] > OFTEN) return 512;
  }
  return ROWS;
}

}  // namespace

void rmatmat(const Compressed& X, const float* R, size_t k, float* out, size_t threads) {
  const std::vector<Tile> tiles = tiles_of(k);
  threads = std::max<size_t>(threads, 1);
  if (tiles.empty()) return;
  // Fewer blocks in a group where each thread must have some; every block is summed by itself, so that the bits do
  // not depend on it.
  const size_t share = (X.blocks * tiles.size() + 4 * threads - 1) / (4 * threads);
  const size_t group = std::min({X.blocks, blocks_at_a_time(tiles[0].size), share});
  const size_t groups = (X.blocks + group - 1) / group;
  std::vector<size_t> steps(groups);
  for (size_t g = 0; g < groups; ++g) steps[g] = rows_at_a_time(X, g * group, std::min(group, X.blocks - g * group));

  struct Scratch {
    Buffer<float> values, sums, totals, folded;
  };
  std::vector<Scratch> scratch(std::min(threads, groups * tiles.size()));
  const size_t room = group * ENTRIES * tiles[0].size;
  for (Scratch& s : scratch)
    s = {allocate<float>(ROWS * 16), allocate<float>(room), allocate<float>(room), allocate<float>(X.width * 16)};

  parallel_for(groups * tiles.size(), threads, [&](size_t task, size_t worker) {
    const Tile& tile = tiles[task / groups];
    const size_t q0 = task % groups * group, blocks = std::min(group, X.blocks - q0), step = steps[task % groups];
    const size_t length = blocks * ENTRIES * tile.size;
    const bool whole = tile.columns == static_cast<size_t>(tile.size);
    Scratch& s = scratch[worker];
    const Kernels& loops = kernels();
    // What fits in one step needs no total apart from its sums.
    float *totals = s.totals.get(), *sums = X.n <= step ? totals : s.sums.get();
    std::memset(totals, 0, length * sizeof(float));
    if (sums != totals) std::memset(sums, 0, length * sizeof(float));
    for (size_t i = 0; i < X.n; i += step) {
      const size_t rows = std::min(step, X.n - i);
      if (!whole) pack(R, X.n, k, i, rows, tile, s.values.get());
      loops.scatter_add(X.codes + i * X.blocks + q0, rows, X.blocks, blocks,
                        whole ? R + i * k + tile.first : s.values.get(), whole ? k : tile.size, tile.size, sums);
      if (sums != totals) loops.move_into(sums, length, totals);
    }
    for (size_t q = 0; q < blocks; ++q) {
      const size_t j0 = (q0 + q) * X.width;
      loops.fold(X.codebooks + (q0 + q) * X.centroids * X.width, X.centroids, X.width,
                 totals + q * ENTRIES * tile.size, tile.size, s.folded.get());
      for (size_t j = 0; j < X.width && j0 + j < X.d; ++j)
        std::memcpy(out + (j0 + j) * k + tile.first, s.folded.get() + j * tile.size, tile.columns * sizeof(float));
    }
  });
}

void decode(const Compressed& X, float* out, size_t threads) {
  constexpr size_t ROWS = 64;
  parallel_for((X.n + ROWS - 1) / ROWS, threads, [&](size_t task, size_t) {
    const size_t i = task * ROWS;
    kernels().decode(X.codes + i * X.blocks, std::min(ROWS, X.n - i), X.blocks, X.codebooks, X.centroids, X.width, X.d,
                     out + i * X.d);
  });
}

size_t encode(const float* x, const Compressed& books, size_t n, std::uint8_t* codes, size_t threads) {
  constexpr size_t ROWS = 256;
  const size_t padded = (books.centroids + 15) / 16 * 16;
  const size_t book = books.width * padded;
  Buffer<float> turned = allocate<float>(books.blocks * book);
  // The padding is so far away that its distance is infinite; it is never nearest.
  std::fill_n(turned.get(), books.blocks * book, 3e38f);
  for (size_t q = 0; q < books.blocks; ++q)
    for (size_t c = 0; c < books.centroids; ++c)
      for (size_t j = 0; j < books.width; ++j)
        turned[q * book + j * padded + c] = books.codebooks[(q * books.centroids + c) * books.width + j];
  std::atomic<size_t> bad{n};
  parallel_for((n + ROWS - 1) / ROWS, threads, [&](size_t task, size_t) {
    const size_t i = task * ROWS, rows = std::min(ROWS, n - i);
    for (size_t q = 0; q < books.blocks; ++q) {
      // The last block may be narrower than the others; its missing columns count for nothing.
      const size_t width = std::min(books.width, books.d - q * books.width);
      const size_t wrong = kernels().assign(x + i * books.d + q * books.width, rows, books.d, turned.get() + q * book,
                                            padded, width, codes + i * books.blocks + q, books.blocks);
      if (wrong < rows) {
        size_t seen = bad.load();
        while (i + wrong < seen && !bad.compare_exchange_weak(seen, i + wrong)) {
        }
      }
    }
  });
  return bad.load();
}

}  // namespace manyclass
