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

// A row that joins the moments of a center with a weight.
struct Share {
  std::int32_t center, row;
  float weight;
};

// Centers in the order of the loops: rows of even width, and panels of scores. Rates are 1 for words.
class Centers {
 public:
  Centers(const float* means, const float* rates, std::size_t k, std::size_t d)
      : k(k), d(d), width(padded(d)), columns(padded(k)), means(widened(means, k, d)),
        rates(rates ? widened(rates, k, d) : allocate<float>(k * padded(d))), offsets(allocate<float>(padded(k))),
        panels(allocate<float>(padded(k) * d * (rates ? 2 : 1))) {
    if (!rates) std::fill_n(this->rates.get(), k * width, 1.0f);
    std::fill_n(offsets.get(), columns, -std::numeric_limits<float>::max());
    std::fill_n(panels.get(), columns * d * (rates ? 2 : 1), 0.0f);
  }

  // |mean rate|^2 / 2 of center c, and its columns of the panels.
  double lay_out(std::size_t c, bool squares) {
    const std::size_t depth = squares ? 2 * COLUMNS : COLUMNS;
    float* column = panels.get() + c / COLUMNS * d * depth + c % COLUMNS;
    double half = 0;
    for (std::size_t j = 0; j < d; ++j) {
      const double mean = means[c * width + j], rate = rates[c * width + j];
      column[j * depth] = float(mean * rate * rate);
      if (squares) column[j * depth + COLUMNS] = float(-0.5 * rate * rate);
      half += 0.5 * (mean * rate) * (mean * rate);
    }
    return half;
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
    shares.clear();
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
    for (const Share& share : shares) ++starts_[share.center + 1];
    for (std::size_t c = 0; c < centers_.k; ++c) starts_[c + 1] += starts_[c];
    index_.resize(shares.size());
    weights_.resize(shares.size());
    next_.assign(starts_.begin(), starts_.end() - 1);
    for (const Share& share : shares) {
      const std::size_t at = next_[share.center]++;
      index_[at] = share.row;
      weights_[at] = share.weight;
    }
  }

  const Centers& centers_;

 public:
  Buffer<float> rows;
  std::vector<Share> shares;

 private:
  std::vector<std::size_t> starts_, next_;
  std::vector<std::int32_t> index_;
  std::vector<float> weights_;
  std::vector<double> first_, second_;
};

// The posteriors of rows: all Gaussians are scored in the quick form, and those that matter in the exact one.
class Posteriors {
 public:
  Posteriors(const Kernels& loops, const Centers& centers, const float* logs, float margin)
      : loops_(loops), centers_(centers), logs_(logs), margin_(margin),
        scores_(allocate<float>(SCORED * centers.columns)), index_(centers.columns), exact_(centers.columns) {}

  // Shares of n rows; returns the first that has no finite density, or n.
  std::size_t add(Block& block, std::size_t n, double& total) {
    for (std::size_t begin = 0; begin < n; begin += SCORED) {
      const std::size_t rows = std::min(SCORED, n - begin);
      loops_.mixture_scores(block.rows.get() + begin * centers_.width, rows, centers_.width, centers_.d,
                            centers_.panels.get(), centers_.offsets.get(), centers_.columns, scores_.get());
      for (std::size_t i = 0; i < rows; ++i)
        if (!add_row(block, begin + i, scores_.get() + i * centers_.columns, total)) return begin + i;
      total += std::log(product_);
      product_ = 1;
    }
    return n;
  }

 private:
  bool add_row(Block& block, std::size_t row, const float* scores, double& total) {
    std::size_t count = loops_.near_top(scores, centers_.columns, margin_, index_.data());
    while (count && std::size_t(index_[count - 1]) >= centers_.k) --count;
    if (!count) return false;
    loops_.half_squares(block.rows.get() + row * centers_.width, centers_.width, centers_.means.get(),
                        centers_.rates.get(), index_.data(), count, exact_.data());
    for (std::size_t t = 0; t < count; ++t) exact_[t] = logs_[index_[t]] - exact_[t];
    double sum;
    const float top = loops_.softmax(exact_.data(), count, 1.0f, exact_.data(), &sum);
    if (!(sum > 0) || !std::isfinite(top)) return false;
    // One logarithm for many rows: a sum lies between 1 and k.
    total += double(top);
    product_ *= sum;
    if (product_ > 1e200) total += std::log(product_), product_ = 1;
    for (std::size_t t = 0; t < count; ++t) block.shares.push_back({index_[t], std::int32_t(row), exact_[t]});
    return true;
  }

  const Kernels& loops_;
  const Centers& centers_;
  const float* logs_;
  const float margin_;
  double product_ = 1;
  Buffer<float> scores_;
  std::vector<std::int32_t> index_;
  std::vector<float> exact_;
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
  for (std::size_t c = 0; c < k; ++c) centers.offsets[c] = float(logs[c] - centers.lay_out(c, true));
  Block block(centers);
  Posteriors posteriors(loops, centers, logs, margin);
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
  for (std::size_t c = 0; c < k; ++c) {
    const double half = centers.lay_out(c, false);
    centers.offsets[c] = float(-half);
    longest = std::max(longest, half);
  }
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

void residual_sums(const float* X, std::size_t d, const Partition& cells, const std::int32_t* labels,
                   const float* words, std::size_t k, double* counts, double* sums) {
  const Kernels& loops = kernels();
  const Centers centers(words, nullptr, k, d);
  Block block(centers);
  for_blocks(cells, [&](std::size_t g, const std::int64_t* order, std::size_t n) {
    block.fill(X, order, n, nullptr);
    for (std::size_t i = 0; i < n; ++i) block.shares.push_back({labels[order[i]], std::int32_t(i), 1.0f});
    block.add(loops, counts + g * k, sums + g * k * d, nullptr);
  });
}

}  // namespace manyclass
