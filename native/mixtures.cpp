#include "mixtures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "dispatch.h"
#include "parallel.h"

namespace manyclass {
namespace {

constexpr std::size_t COLUMNS = 16;  // of a panel, as the loops have it
// Rows whose moments are added up in float32, few enough for its digits: 192 to 4,800 take the same time within noise.
constexpr std::size_t BLOCK = 960;
// Of these, rows that are scored at once. Measured, 6,000 x 64 against 256 centers: 24 to 480 within noise.
constexpr std::size_t SCORED = 96;

std::size_t padded(std::size_t n) { return (n + COLUMNS - 1) / COLUMNS * COLUMNS; }

// from (n, d) with rows of padded(d) numbers; zeros follow.
Buffer<float> widened(const float* from, std::size_t n, std::size_t d) {
  const std::size_t width = padded(d);
  Buffer<float> to = allocate<float>(n * width);
  std::fill_n(to.get(), n * width, 0.0f);
  for (std::size_t i = 0; i < n; ++i) std::copy_n(from + i * d, d, to.get() + i * width);
  return to;
}

// Rows that join the moments of centers with weights; only the first `count` of the arrays count.
struct Shares {
  // Room for so many more.
  void reserve(std::size_t more) {
    if (count + more <= centers.size()) return;
    const std::size_t size = std::max(count + more, 2 * centers.size());
    centers.resize(size), rows.resize(size), weights.resize(size);
  }
  std::size_t count = 0;
  std::vector<std::int32_t> centers, rows;
  std::vector<float> weights;
};

// Centers in the order of the loops: rows of even width, and panels of scores. Rates are 1 for words.
class Centers {
 public:
  Centers(const float* means, const float* rates, std::size_t k, std::size_t d)
      : k(k), d(d), width(padded(d)), columns(padded(k)), means(widened(means, k, d)),
        rates(rates ? widened(rates, k, d) : allocate<float>(k * padded(d))), offsets(allocate<float>(padded(k))),
        panels(allocate<float>(padded(k) * d * (rates ? 2 : 1))) {
    if (!rates) std::fill_n(this->rates.get(), k * width, 1.0f);
    std::fill_n(offsets.get(), columns, -std::numeric_limits<float>::infinity());
    std::fill_n(panels.get(), columns * d * (rates ? 2 : 1), 0.0f);
  }

  // The columns of word c, with its offset; returns |word|^2 / 2.
  double lay_out_word(std::size_t c) {
    float* column = panels.get() + c / COLUMNS * d * COLUMNS + c % COLUMNS;
    double half = 0;
    for (std::size_t j = 0; j < d; ++j) {
      const double mean = means[c * width + j];
      column[j * COLUMNS] = float(mean);
      half += 0.5 * mean * mean;
    }
    offsets[c] = float(-half);
    return half;
  }

  // The columns of Gaussian c, with its offset: the roots of half squares, so that squares need not be halved.
  void lay_out_gaussian(std::size_t c, float offset) {
    float* column = panels.get() + c / COLUMNS * d * 2 * COLUMNS + c % COLUMNS;
    for (std::size_t j = 0; j < d; ++j) {
      const double rate = rates[c * width + j] * std::sqrt(0.5);
      column[j * 2 * COLUMNS] = float(rate);
      column[j * 2 * COLUMNS + COLUMNS] = float(-means[c * width + j] * rate);
    }
    offsets[c] = offset;
  }

  std::size_t k, d, width, columns;
  Buffer<float> means, rates, offsets, panels;
};

// The rows of a block and the shares that they have, which are then added up center by center.
class Block {
 public:
  explicit Block(const Centers& centers)
      : centers_(centers), rows(allocate<float>(BLOCK * centers.width)), starts_(centers.k + 1), first_(centers.width),
        second_(centers.width) {
    std::fill_n(rows.get(), BLOCK * centers.width, 0.0f);
  }

  // Rows of X, less the origin if there is one.
  void fill(const float* X, const std::int64_t* order, std::size_t n, const float* origin) {
    shares.count = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const float* from = X + std::size_t(order[i]) * centers_.d;
      float* row = rows.get() + i * centers_.width;
      if (!origin)
        std::copy_n(from, centers_.d, row);
      else
        for (std::size_t j = 0; j < centers_.d; ++j) row[j] = from[j] - origin[j];
    }
  }

  // counts (k), first (k, d) and second (k, d) or null, of one cell.
  void add(const Kernels& loops, double* counts, double* first, double* second) {
    sort();
    for (std::size_t c = 0; c < centers_.k; ++c) {
      const std::size_t begin = starts_[c], count = starts_[c + 1] - begin;
      if (!count) continue;
      std::fill(first_.begin(), first_.end(), 0.0);
      std::fill(second_.begin(), second_.end(), 0.0);
      loops.add_moments(rows.get(), &index_[begin], &weights_[begin], count, centers_.width,
                        centers_.means.get() + c * centers_.width, centers_.rates.get() + c * centers_.width,
                        first_.data(), second_.data());
      for (std::size_t t = begin; t < begin + count; ++t) counts[c] += weights_[t];
      for (std::size_t j = 0; j < centers_.d; ++j) first[c * centers_.d + j] += first_[j];
      if (!second) continue;
      for (std::size_t j = 0; j < centers_.d; ++j) second[c * centers_.d + j] += second_[j];
    }
  }

 private:
  // Shares by center, in the order of the rows.
  void sort() {
    std::fill(starts_.begin(), starts_.end(), 0);
    for (std::size_t t = 0; t < shares.count; ++t) ++starts_[shares.centers[t] + 1];
    for (std::size_t c = 0; c < centers_.k; ++c) starts_[c + 1] += starts_[c];
    index_.resize(shares.count);
    weights_.resize(shares.count);
    next_.assign(starts_.begin(), starts_.end() - 1);
    for (std::size_t t = 0; t < shares.count; ++t) {
      const std::size_t at = next_[shares.centers[t]]++;
      index_[at] = shares.rows[t];
      weights_[at] = shares.weights[t];
    }
  }

  const Centers& centers_;

 public:
  Buffer<float> rows;
  Shares shares;

 private:
  std::vector<std::size_t> starts_, next_;
  std::vector<std::int32_t> index_;
  std::vector<float> weights_;
  std::vector<double> first_, second_;
};

// The posteriors of rows.
class Posteriors {
 public:
  Posteriors(const Kernels& loops, const Centers& centers, float margin)
      : loops_(loops), centers_(centers), margin_(margin), scores_(allocate<float>(SCORED * centers.columns)) {}

  // Shares of n rows; returns the first that has no finite density, or n.
  std::size_t add(Block& block, std::size_t n, double& total) {
    Shares& shares = block.shares;
    for (std::size_t begin = 0; begin < n; begin += SCORED) {
      const std::size_t rows = std::min(SCORED, n - begin), before = shares.count;
      loops_.mixture_scores(block.rows.get() + begin * centers_.width, rows, centers_.width, centers_.d,
                            centers_.panels.get(), centers_.offsets.get(), centers_.columns, scores_.get());
      shares.reserve(rows * centers_.columns);
      shares.count += loops_.posteriors(scores_.get(), rows, centers_.columns, margin_, &shares.centers[before],
                                        &shares.rows[before], &shares.weights[before], tops_, totals_);
      for (std::size_t t = before; t < shares.count; ++t) shares.rows[t] += std::int32_t(begin);
      const std::size_t good = add_logarithms(rows, total);
      if (good < rows) {
        shares.count = 0;  // those of a row without a density name no center
        return begin + good;
      }
    }
    return n;
  }

 private:
  // One logarithm for many rows: a sum lies between 1 and k.
  std::size_t add_logarithms(std::size_t rows, double& total) {
    double product = 1;
    for (std::size_t i = 0; i < rows; ++i) {
      if (!std::isfinite(tops_[i])) return i;
      total += double(tops_[i]);
      product *= totals_[i];
      if (product > 1e200) total += std::log(product), product = 1;
    }
    total += std::log(product);
    return rows;
  }

  const Kernels& loops_;
  const Centers& centers_;
  const float margin_;
  Buffer<float> scores_;
  float tops_[SCORED];
  double totals_[SCORED];
};

// Calls work(cell, order, n) for the rows of each cell, at most BLOCK at a time.
template <class Work>
void for_blocks(const Partition& cells, const Work& work) {
  for (std::size_t g = 0; g < cells.count; ++g)
    for (std::size_t i = cells.starts[g]; i < std::size_t(cells.starts[g + 1]); i += BLOCK)
      work(g, cells.order + i, std::min(BLOCK, std::size_t(cells.starts[g + 1]) - i));
}

}  // namespace

std::int64_t mixture_sums(const float* X, std::size_t d, const Partition& cells, const float* origin,
                          const float* means, const float* rates, const float* logs, std::size_t k, float margin,
                          double* counts, double* first, double* second, double* total) {
  const Kernels& loops = kernels();
  Centers centers(means, rates, k, d);
  for (std::size_t c = 0; c < k; ++c) centers.lay_out_gaussian(c, logs[c]);
  Block block(centers);
  Posteriors posteriors(loops, centers, margin);
  std::int64_t bad = -1;
  for_blocks(cells, [&](std::size_t g, const std::int64_t* order, std::size_t n) {
    if (bad >= 0) return;
    block.fill(X, order, n, origin);
    const std::size_t done = posteriors.add(block, n, *total);
    if (done < n) bad = order[done];
    block.add(loops, counts + g * k, first + g * k * d, second + g * k * d);
  });
  return bad;
}

std::int64_t nearest_words(const float* X, std::size_t n, std::size_t d, const float* words, std::size_t k,
                           std::int32_t* labels) {
  const Kernels& loops = kernels();
  Centers centers(words, nullptr, k, d);
  double longest = 0;
  for (std::size_t c = 0; c < k; ++c) longest = std::max(longest, centers.lay_out_word(c));
  const auto rows = allocate<float>(SCORED * centers.width), scores = allocate<float>(SCORED * centers.columns);
  std::fill_n(rows.get(), SCORED * centers.width, 0.0f);
  std::vector<std::int32_t> index(centers.columns);
  std::vector<float> exact(centers.columns);
  for (std::size_t begin = 0; begin < n; begin += SCORED) {
    const std::size_t height = std::min(SCORED, n - begin);
    for (std::size_t i = 0; i < height; ++i) std::copy_n(X + (begin + i) * d, d, rows.get() + i * centers.width);
    loops.word_scores(rows.get(), height, centers.width, d, centers.panels.get(), centers.offsets.get(),
                      centers.columns, scores.get());
    for (std::size_t i = 0; i < height; ++i) {
      const float* row = rows.get() + i * centers.width;
      // The quick score errs by rounding; what is so close to the best is measured again.
      const float margin = 1e-5f * float(longest + loops.dot(row, row, d));
      std::size_t count = loops.near_top(scores.get() + i * centers.columns, centers.columns, margin, index.data());
      while (count && std::size_t(index[count - 1]) >= k) --count;
      if (!count) return std::int64_t(begin + i);
      loops.half_squares(row, centers.width, centers.means.get(), centers.rates.get(), index.data(), count,
                         exact.data());
      const std::size_t best = std::min_element(exact.begin(), exact.begin() + count) - exact.begin();
      if (!std::isfinite(exact[best])) return std::int64_t(begin + i);
      labels[begin + i] = index[best];
    }
  }
  return -1;
}

void project_rows(const float* X, std::size_t n, std::size_t d, const float* components, const float* offsets,
                  std::size_t p, float* out) {
  const Kernels& loops = kernels();
  const std::size_t columns = padded(p);
  const auto panels = allocate<float>(columns * d), starts = allocate<float>(columns);
  std::fill_n(panels.get(), columns * d, 0.0f);
  std::fill_n(starts.get(), columns, 0.0f);
  std::copy_n(offsets, p, starts.get());
  for (std::size_t j = 0; j < d; ++j)
    for (std::size_t c = 0; c < p; ++c) panels[(c / COLUMNS * d + j) * COLUMNS + c % COLUMNS] = components[j * p + c];
  const auto some = allocate<float>(SCORED * columns);
  for (std::size_t begin = 0; begin < n; begin += SCORED) {
    const std::size_t rows = std::min(SCORED, n - begin);
    float* to = columns == p ? out + begin * p : some.get();
    loops.word_scores(X + begin * d, rows, d, d, panels.get(), starts.get(), columns, to);
    if (columns != p)
      for (std::size_t i = 0; i < rows; ++i) std::copy_n(to + i * columns, p, out + (begin + i) * p);
  }
}

void residual_sums(const float* X, std::size_t d, const Partition& cells, const std::int32_t* labels,
                   const float* words, std::size_t k, double* counts, double* sums) {
  const Kernels& loops = kernels();
  const Centers centers(words, nullptr, k, d);
  Block block(centers);
  for_blocks(cells, [&](std::size_t g, const std::int64_t* order, std::size_t n) {
    block.fill(X, order, n, nullptr);
    block.shares.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
      block.shares.centers[i] = labels[order[i]];
      block.shares.rows[i] = std::int32_t(i);
      block.shares.weights[i] = 1.0f;
    }
    block.shares.count = n;
    block.add(loops, counts + g * k, sums + g * k * d, nullptr);
  });
}

}  // namespace manyclass
