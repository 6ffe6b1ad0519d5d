#include "compressed.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
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
// that its part of the product stays small beside the product, and enough to pay for its tables. To sum
// each tile apart was measured, 20,000 x 4,096 in blocks of 16, 1,000 columns: 277 ms, not 397; ROWS is not tuned.
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
    Buffer<float> panel, tables, sums, totals;
  };
  std::vector<Scratch> scratch(std::min(threads, std::max<size_t>(1, pieces.size())));
  for (Scratch& s : scratch)
    s = {allocate<float>(256 * X.width), allocate<float>(256 * ENTRIES), allocate<float>(most_rows * 16),
         allocate<float>(most_rows * 16)};

  parallel_for(pieces.size(), threads, [&](size_t task, size_t worker) {
    const auto& [tile, begin, end] = pieces[task];
    const size_t step = blocks_at_a_time(tile.size), n = end - begin, length = n * tile.size;
    Scratch& s = scratch[worker];
    const Kernels& loops = kernels();
    std::memset(s.sums.get(), 0, length * sizeof(float));
    // Where there are very many blocks, sums of sixteen steps join a total of their own: long sums drift.
    const bool long_sums = X.blocks > 16 * step;
    if (long_sums) std::memset(s.totals.get(), 0, length * sizeof(float));
    for (size_t q = 0; q < X.blocks; q += step) {
      const size_t blocks = std::min(step, X.blocks - q);
      pack(W, X.d, k, q * X.width, blocks * X.width, tile, s.panel.get());
      loops.make_tables(X.codebooks + q * X.centroids * X.width, blocks, X.centroids, X.width, s.panel.get(), tile.size,
                        s.tables.get());
      loops.gather_add(X.codes + begin * X.blocks + q, n, X.blocks, blocks, s.tables.get(), tile.size, s.sums.get());
      if (long_sums && (q / step % 16 == 15 || q + step >= X.blocks))
        loops.move_into(s.sums.get(), length, s.totals.get());
    }
    const float* sums = long_sums ? s.totals.get() : s.sums.get();
    for (size_t i = 0; i < n; ++i)
      std::memcpy(out + (begin + i) * k + tile.first, sums + i * tile.size, tile.columns * sizeof(float));
  });
}

namespace {

// Numbers that one sum takes before it joins another: equal ones drift by at most 2^-25 for each.
constexpr size_t LONGEST = 256;

}  // namespace

void find_crowded(const Compressed& X, std::uint8_t* crowded, size_t threads) {
  // Blocks whose counts, 8 KiB, stay near. Measured, 20,000 rows of 256 blocks: 16 take 4.3 to 5.1 ms,
  // 4 take 5.3 or more, 64 take 6.2 or more.
  constexpr size_t TOGETHER = 16;
  // Rows of a centroid that is zero multiply to nothing, however many they are.
  std::vector<std::uint8_t> zero(X.blocks * X.centroids);
  for (size_t c = 0; c < zero.size(); ++c) {
    const float* centroid = X.codebooks + c * X.width;
    zero[c] = std::all_of(centroid, centroid + X.width, [](float value) { return value == 0; });
  }
  parallel_for((X.n + CHUNK_ROWS - 1) / CHUNK_ROWS, threads, [&](size_t chunk, size_t) {
    const size_t begin = chunk * CHUNK_ROWS, end = std::min(X.n, begin + CHUNK_ROWS);
    for (size_t q0 = 0; q0 < X.blocks; q0 += TOGETHER) {
      const size_t blocks = std::min(TOGETHER, X.blocks - q0);
      std::uint16_t seen[TOGETHER][ENTRIES] = {};
      for (size_t i = begin; i < end; ++i)
        for (size_t q = 0; q < blocks; ++q) ++seen[q][X.codes[i * X.blocks + q0 + q]];
      for (size_t q = 0; q < blocks; ++q) {
        bool found = false;
        for (size_t c = 0; c < X.centroids; ++c) found |= seen[q][c] > LONGEST && !zero[(q0 + q) * X.centroids + c];
        crowded[chunk * X.blocks + q0 + q] = found;
      }
    }
  });
}

namespace {

// The sums by code of one tile of columns and one group of blocks, and what becomes of them.
class Sums {
 public:
  Sums(const Compressed& X, const std::uint8_t* crowded, const float* R, size_t k, size_t group, int tile)
      : X_(X), crowded_(crowded), R_(R), k_(k), sums_(allocate<float>(group * ENTRIES * tile)),
        totals_(allocate<float>(group * ENTRIES * tile)), values_(allocate<float>(CHUNK_ROWS * 16)),
        folded_(allocate<float>(X.width * 16)), out_(allocate<double>(group * X.width * 16)) {}

  void product(const Tile& tile, size_t q0, size_t blocks, float* out) {
    tile_ = tile;
    entry_ = ENTRIES * tile.size;
    std::memset(sums_.get(), 0, blocks * entry_ * sizeof(float));
    std::memset(totals_.get(), 0, blocks * entry_ * sizeof(float));
    std::memset(out_.get(), 0, blocks * X_.width * tile.size * sizeof(double));
    const size_t chunks = (X_.n + CHUNK_ROWS - 1) / CHUNK_ROWS;
    for (size_t s = 0; s < chunks; ++s) {
      add_chunk(s, q0, blocks);
      // Few enough that the total of a crowded block is no longer than its sums.
      if (s % (LONGEST * LONGEST / CHUNK_ROWS) == LONGEST * LONGEST / CHUNK_ROWS - 1 || s + 1 == chunks)
        fold(q0, blocks);
    }
    for (size_t j = 0; j < blocks * X_.width && q0 * X_.width + j < X_.d; ++j)
      for (size_t c = 0; c < tile.columns; ++c)
        out[(q0 * X_.width + j) * k_ + tile.first + c] = float(out_[j * tile.size + c]);
  }

 private:
  // Runs of blocks that are crowded alike are added up together, so that no block's sums depend on its neighbors.
  void add_chunk(size_t s, size_t q0, size_t blocks) {
    const size_t begin = s * CHUNK_ROWS, rows = std::min(CHUNK_ROWS, X_.n - begin);
    const bool whole = tile_.columns == static_cast<size_t>(tile_.size);
    if (!whole) pack(R_, X_.n, k_, begin, rows, tile_, values_.get());
    const float* values = whole ? R_ + begin * k_ + tile_.first : values_.get();
    const size_t stride = whole ? k_ : tile_.size;
    const std::uint8_t* crowded = crowded_ + s * X_.blocks + q0;
    for (size_t q = 0; q < blocks;) {
      size_t end = q + 1;
      while (end < blocks && crowded[end] == crowded[q]) ++end;
      const size_t step = crowded[q] ? LONGEST : CHUNK_ROWS;
      for (size_t i = 0; i < rows; i += step) {
        loops_.scatter_add(X_.codes + (begin + i) * X_.blocks + q0 + q, std::min(step, rows - i), X_.blocks, end - q,
                           values + i * stride, stride, tile_.size, sums_.get() + q * entry_);
        for (size_t b = q; b < end; ++b)
          loops_.move_into(sums_.get() + b * entry_, X_.centroids * tile_.size, totals_.get() + b * entry_);
      }
      q = end;
    }
  }

  void fold(size_t q0, size_t blocks) {
    for (size_t q = 0; q < blocks; ++q) {
      loops_.fold(X_.codebooks + (q0 + q) * X_.centroids * X_.width, X_.centroids, X_.width, totals_.get() + q * entry_,
                  tile_.size, folded_.get());
      double* out = out_.get() + q * X_.width * tile_.size;
      for (size_t j = 0; j < X_.width * tile_.size; ++j) out[j] += folded_[j];
    }
    std::memset(totals_.get(), 0, blocks * entry_ * sizeof(float));
  }

  const Compressed& X_;
  const std::uint8_t* crowded_;
  const float* R_;
  size_t k_;
  Buffer<float> sums_, totals_, values_, folded_;
  Buffer<double> out_;
  Tile tile_{};
  size_t entry_ = 0;
  const Kernels& loops_ = kernels();
};

}  // namespace

void rmatmat(const Compressed& X, const std::uint8_t* crowded, const float* R, size_t k, float* out, size_t threads) {
  const std::vector<Tile> tiles = tiles_of(k);
  threads = std::max<size_t>(threads, 1);
  if (tiles.empty()) return;
  // Fewer blocks in a group where each thread must have some.
  const size_t share = (X.blocks * tiles.size() + 4 * threads - 1) / (4 * threads);
  const size_t group = std::min({X.blocks, blocks_at_a_time(tiles[0].size), share});
  const size_t groups = (X.blocks + group - 1) / group;
  std::vector<Sums> sums;
  for (size_t worker = 0; worker < std::min(threads, groups * tiles.size()); ++worker)
    sums.emplace_back(X, crowded, R, k, group, tiles[0].size);
  parallel_for(groups * tiles.size(), threads, [&](size_t task, size_t worker) {
    const size_t q0 = task % groups * group;
    sums[worker].product(tiles[task / groups], q0, std::min(group, X.blocks - q0), out);
  });
}

void decode(const Compressed& X, float* out, size_t threads) {
  constexpr size_t ROWS = 64;  // a task of a thread; not tuned
  parallel_for((X.n + ROWS - 1) / ROWS, threads, [&](size_t task, size_t) {
    const size_t i = task * ROWS;
    kernels().decode(X.codes + i * X.blocks, std::min(ROWS, X.n - i), X.blocks, X.codebooks, X.centroids, X.width, X.d,
                     out + i * X.d);
  });
}

size_t encode(const float* x, const Compressed& books, size_t n, std::uint8_t* codes, size_t threads) {
  // Rows for which a codebook is read once. Measured, 1,000 x 4,096 in blocks of 16: 64 to 1,024 within a fifth.
  constexpr size_t ROWS = 256;
  const size_t padded = (books.centroids + 15) / 16 * 16;
  const size_t book = books.width * padded;
  Buffer<float> turned = allocate<float>(books.blocks * book);
  std::vector<float> scales(books.blocks);
  // The padding is infinitely far away; it is never nearest.
  std::fill_n(turned.get(), books.blocks * book, std::numeric_limits<float>::infinity());
  for (size_t q = 0; q < books.blocks; ++q) {
    const float* codebook = books.codebooks + q * books.centroids * books.width;
    float most = 0;
    for (size_t j = 0; j < books.centroids * books.width; ++j) most = std::max(most, std::fabs(codebook[j]));
    // A power of two changes no digit, and keeps squares of very small or large numbers within float32.
    scales[q] = most > 0 ? std::ldexp(1.0f, std::clamp(-std::ilogb(most), -120, 120)) : 1.0f;
    for (size_t c = 0; c < books.centroids; ++c)
      for (size_t j = 0; j < books.width; ++j)
        turned[q * book + j * padded + c] = scales[q] * codebook[c * books.width + j];
  }
  std::atomic<size_t> bad{n};
  parallel_for((n + ROWS - 1) / ROWS, threads, [&](size_t task, size_t) {
    const size_t i = task * ROWS, rows = std::min(ROWS, n - i);
    for (size_t q = 0; q < books.blocks; ++q) {
      // The last block may be narrower than the others; its missing columns count for nothing.
      const size_t width = std::min(books.width, books.d - q * books.width);
      const size_t wrong =
          kernels().assign(x + i * books.d + q * books.width, rows, books.d, scales[q], turned.get() + q * book, padded,
                           width, codes + i * books.blocks + q, books.blocks);
      if (wrong < rows) {
        size_t seen = bad.load();
        while (i + wrong < seen && !bad.compare_exchange_weak(seen, i + wrong)) {
        }
      }
    }
  });
  return bad.load();
}

void mix(const float* x, size_t n, size_t d, const float* mixer, size_t size, size_t padded, size_t first,
         size_t groups, float* out, size_t threads) {
  constexpr size_t ROWS = 256;  // a task of a thread; not tuned
  parallel_for((n + ROWS - 1) / ROWS, threads, [&](size_t task, size_t) {
    const size_t i = task * ROWS;
    kernels().mix(x + i * d + first, std::min(ROWS, n - i), d, groups, mixer, size, padded, out + i * d + first);
  });
}

}  // namespace manyclass
