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
    const int size = left >= 16 || left > 8 ? 16 : left > 4 ? 8 : left > 1 ? 4 : 1;
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

// Blocks whose tables are made at a time. 32 tables of 256 x 16 floats take half of a megabyte, which leaves room in
// the second-level cache of current processors. It depends on the tile alone, so that sums have one order.
size_t blocks_at_a_time(int tile) { return 32 * 16 / tile; }

// One tile of columns, rows [begin, end), all blocks. `tables` and `panel` are scratch.
struct MatmatTask {
  const Compressed& X;
  const float* W;
  size_t k;
  float* out;

  void tables(const Tile& tile, size_t q, size_t blocks, float* panel, float* tables) const {
    pack(W, X.d, k, q * X.width, blocks * X.width, tile, panel);
    kernels().make_tables(X.codebooks + q * X.centroids * X.width, blocks, X.centroids, X.width, panel, tile.size,
                          tables);
  }
  void gather(const Tile& tile, size_t q, size_t blocks, size_t begin, size_t end, const float* tables) const {
    kernels().gather_add(X.codes + begin * X.blocks + q, end - begin, X.blocks, blocks, X.centroids, tables,
                         tile.size, tile.columns, out + begin * k + tile.first, k);
  }
};

}  // namespace

void matmat(const Compressed& X, const float* W, size_t k, float* out, size_t threads) {
  const std::vector<Tile> tiles = tiles_of(k);
  const MatmatTask task{X, W, k, out};
  const size_t most = std::min<size_t>(X.blocks, blocks_at_a_time(tiles.empty() ? 16 : tiles.back().size));
  threads = std::max<size_t>(threads, 1);
  const size_t table_size = std::max<size_t>(std::min<size_t>(X.blocks, blocks_at_a_time(16)) * 16,
                                             most * (tiles.empty() ? 16 : tiles.back().size)) * X.centroids;
  const size_t panel_size = std::max<size_t>(std::min<size_t>(X.blocks, blocks_at_a_time(16)) * 16,
                                             most * (tiles.empty() ? 16 : tiles.back().size)) * X.width;
  Buffer<float> tables = allocate<float>(table_size * threads), panels = allocate<float>(panel_size * threads);
  std::memset(out, 0, X.n * k * sizeof(float));

  // Whole rounds of tiles go one to a thread; what is left over is shared by its rows.
  const size_t apart = tiles.size() / threads * threads;
  parallel_for(apart, threads, [&](size_t t, size_t worker) {
    const Tile& tile = tiles[t];
    float* table = tables.get() + worker * table_size;
    for (size_t q = 0; q < X.blocks; q += blocks_at_a_time(tile.size)) {
      const size_t blocks = std::min(blocks_at_a_time(tile.size), X.blocks - q);
      task.tables(tile, q, blocks, panels.get() + worker * panel_size, table);
      task.gather(tile, q, blocks, 0, X.n, table);
    }
  });
  for (size_t t = apart; t < tiles.size(); ++t) {
    const Tile& tile = tiles[t];
    for (size_t q = 0; q < X.blocks; q += blocks_at_a_time(tile.size)) {
      const size_t blocks = std::min(blocks_at_a_time(tile.size), X.blocks - q);
      task.tables(tile, q, blocks, panels.get(), tables.get());
      parallel_for(threads, threads, [&](size_t part, size_t) {
        task.gather(tile, q, blocks, X.n * part / threads, X.n * (part + 1) / threads, tables.get());
      });
    }
  }
}

void rmatmat(const Compressed& X, const float* R, size_t k, float* out, size_t threads) {
  // Rows whose sums are kept apart before they join the total: sums over many rows stay exact to float32, and the
  // values of one tile stay in the second-level cache.
  constexpr size_t ROWS = 4096, GROUP = 16, PANEL = 4;
  const std::vector<Tile> tiles = tiles_of(k);
  const size_t panels = (tiles.size() + PANEL - 1) / PANEL, groups = (X.blocks + GROUP - 1) / GROUP;
  threads = std::max<size_t>(threads, 1);
  const size_t sums_size = X.centroids * 16;
  struct Scratch {
    Buffer<std::uint8_t> turned;
    Buffer<float> values, sums, totals, folded;
  };
  std::vector<Scratch> scratch(std::min(threads, panels * groups));
  for (Scratch& s : scratch)
    s = {allocate<std::uint8_t>(GROUP * ROWS), allocate<float>(ROWS * 16), allocate<float>(sums_size),
         allocate<float>(PANEL * GROUP * sums_size), allocate<float>(X.width * 16)};

  parallel_for(panels * groups, threads, [&](size_t task, size_t worker) {
    const size_t panel = task / groups, q0 = task % groups * GROUP, blocks = std::min(GROUP, X.blocks - q0);
    const Tile* first = tiles.data() + panel * PANEL;
    const size_t count = std::min(PANEL, tiles.size() - panel * PANEL);
    Scratch& s = scratch[worker];
    const Kernels& loops = kernels();
    std::memset(s.totals.get(), 0, PANEL * GROUP * sums_size * sizeof(float));
    for (size_t i = 0; i < X.n; i += ROWS) {
      const size_t rows = std::min(ROWS, X.n - i);
      loops.turn(X.codes + i * X.blocks + q0, rows, X.blocks, blocks, s.turned.get(), ROWS);
      for (size_t t = 0; t < count; ++t) {
        pack(R, X.n, k, i, rows, first[t], s.values.get());
        const size_t length = X.centroids * first[t].size;
        for (size_t q = 0; q < blocks; ++q) {
          float *sums = s.sums.get(), *total = s.totals.get() + (t * GROUP + q) * sums_size;
          std::memset(sums, 0, length * sizeof(float));
          loops.scatter_add(s.turned.get() + q * ROWS, rows, s.values.get(), first[t].size, sums);
          for (size_t c = 0; c < length; ++c) total[c] += sums[c];
        }
      }
    }
    for (size_t t = 0; t < count; ++t)
      for (size_t q = 0; q < blocks; ++q) {
        const size_t j0 = (q0 + q) * X.width;
        loops.fold(X.codebooks + (q0 + q) * X.centroids * X.width, X.centroids, X.width,
                   s.totals.get() + (t * GROUP + q) * sums_size, first[t].size, s.folded.get());
        for (size_t j = 0; j < X.width && j0 + j < X.d; ++j)
          std::memcpy(out + (j0 + j) * k + first[t].first, s.folded.get() + j * first[t].size,
                      first[t].columns * sizeof(float));
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
