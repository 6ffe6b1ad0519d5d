#include "head.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <vector>

#include "best.h"
#include "dispatch.h"
#include "parallel.h"

namespace manyclass {
namespace {

using std::size_t;

constexpr size_t GROUP = CLASS_GROUP;

// Classes of one task, whose codes stay in the second cache; blocks of columns whose entries add up to less than
// 65,536; classes of which the best is looked for together; rows that are looked up together.
constexpr size_t TILE = 4 * GROUP, BLOCKS = 256, RUN = 64, ROWS = 4;

constexpr size_t SOME = 1024;  // classes of a row that a thread scores by their weights

// Rough scores that are held at a time, of at most so many rows: 32 MB.
constexpr size_t HELD = 1 << 23, MOST_ROWS = 256;

// Entries of tables are so much higher, and at most so far from it.
constexpr int ZERO = 16, REACH = 15;

// Digits of a row are whole numbers up to TOP, so that two products with a byte fit into 16 bits, and each is in units
// of 1 / BASE of the one before.
constexpr int TOP = 63, BASE = 126;
constexpr size_t DIGITS = 3;

constexpr float NEVER = -std::numeric_limits<float>::infinity();

// A row in the units of the classes, in whole numbers of three digits, and the tables of its rough scores.
struct HeadRow {
  std::vector<std::int8_t> digits[DIGITS];
  double unit[DIGITS];            // what a whole number of one, two or three digits counts
  std::int64_t sums[DIGITS + 1];  // of all entries by so many digits
  double common;                  // mean' x
  float length, rough_unit;       // |v|; of entries of the tables
  bool odd;                       // so few entries make up the row that errors do not average
};

double dot(const float* x, const float* y, size_t d) {
  double sum = 0;
  for (size_t j = 0; j < d; ++j) sum += double(x[j]) * y[j];
  return sum;
}

void code_row(const PackedHead& head, const float* x, float fewest, HeadRow& row, std::uint8_t* tables) {
  const size_t d = head.d, blocks = blocks_of(d);
  std::vector<float> v(3 * blocks), rest(d), last(d), squares(3 * blocks);
  float most = 0;
  for (size_t j = 0; j < d; ++j) {
    v[j] = (x[j] - head.center[j]) * head.columns[j];
    squares[j] = v[j] * v[j];
    most = std::max(most, std::fabs(v[j]));
  }
  const double square = dot(v.data(), v.data(), d), fourth = dot(squares.data(), squares.data(), d);
  if (!std::isfinite(square)) throw std::invalid_argument("scores must be finite numbers");
  row.common = dot(x, head.mean, d);
  row.length = float(std::sqrt(square));
  // Beyond, rough scores are no numbers.
  row.odd = !(square * square >= fewest * fourth) || row.length > 1e15f;
  float unit = std::max(most / TOP, 1e-30f);
  std::copy_n(v.begin(), d, last.begin());
  row.sums[0] = 0;
  for (size_t i = 0; i < DIGITS; ++i, unit /= BASE) {
    row.digits[i].assign(d + 1, 0);
    row.unit[i] = unit;
    row.sums[i + 1] = BASE * row.sums[i] + round_off(last.data(), d, unit, 0, row.digits[i].data(), rest.data());
    std::swap(last, rest);
  }
  if (!tables) return;
  float longest = 0;
  for (size_t b = 0; b < blocks; ++b)
    longest = std::max(longest, squares[b] + squares[b + blocks] + squares[b + 2 * blocks]);
  row.rough_unit = std::max(LONGEST_POINT / REACH * std::sqrt(longest), std::numeric_limits<float>::min());
  if (!row.odd) kernels().fill_tables(v.data(), blocks, 1 / row.rough_unit, POINT[0], ZERO, tables);
}

// Scores of some rows by the weights of a class.
class WeightScores {
 public:
  explicit WeightScores(const PackedHead& head) : head_(head), half_((head.d + 1) / 2), bytes_(2 * half_) {}

  // By `digits` digits of the rows; without `low`, weights that have it are taken to be in the middle of their unit.
  template <size_t N>
  void score(size_t c, const HeadRow* const* rows, size_t digits, bool low, float* scores) {
    const size_t d = head_.d;
    std::int64_t sums[N];
    const int zero = head_.nibbles ? 8 : 128;
    add<N>(head_.nibbles ? unpacked(c) : head_.weights + c * d, rows, digits, sums);
    for (size_t r = 0; r < N; ++r) sums[r] -= zero * rows[r]->sums[digits];
    double more[N] = {};
    if (head_.low && low) {
      std::int64_t rest[N];
      add<N>(head_.low + c * d, rows, digits, rest);
      for (size_t r = 0; r < N; ++r) more[r] = double(rest[r]) / 256;
    } else if (head_.low) {
      for (size_t r = 0; r < N; ++r) more[r] = 127.5 / 256 * double(rows[r]->sums[digits]);
    }
    for (size_t r = 0; r < N; ++r) {
      const double unit = rows[r]->unit[digits - 1] * double(head_.units[c]);
      scores[r] = float(rows[r]->common + double(head_.offsets[c]) + unit * (double(sums[r]) + more[r]));
    }
  }

  size_t width() const { return head_.nibbles ? half_ : head_.d; }

 private:
  template <size_t N>
  void add(const std::uint8_t* w, const HeadRow* const* rows, size_t digits, std::int64_t* sums) const {
    const std::int8_t* parts[N * DIGITS];
    std::int32_t products[N * DIGITS];
    for (size_t r = 0; r < N; ++r)
      for (size_t i = 0; i < digits; ++i) parts[r * digits + i] = rows[r]->digits[i].data();
    loops_.dot_bytes(w, parts, N * digits, head_.d, products);
    for (size_t r = 0; r < N; ++r) {
      sums[r] = 0;
      for (size_t i = 0; i < digits; ++i) sums[r] = BASE * sums[r] + products[r * digits + i];
    }
  }

  const std::uint8_t* unpacked(size_t c) {
    const std::uint8_t* both = head_.weights + c * half_;
    for (size_t j = 0; j < half_; ++j) bytes_[j] = both[j] & 15;
    for (size_t j = 0; j < half_; ++j) bytes_[half_ + j] = both[j] >> 4;
    return bytes_.data();
  }

  const PackedHead& head_;
  const size_t half_;
  std::vector<std::uint8_t> bytes_;
  const Kernels& loops_ = kernels();
};

// Digits of rows that are enough: errors of two are a sixtieth of those of weights of 8 bits.
size_t digits_of(const PackedHead& head) { return head.low ? DIGITS : 2; }

class HeadSearch {
 public:
  HeadSearch(const PackedHead& head, float margin, float fewest, size_t top, size_t threads)
      : head_(head), margin_(margin), fewest_(fewest), top_(top), threads_(threads), blocks_(blocks_of(head.d)),
        few_(3 * top + 2), padded_((head.k + TILE - 1) / TILE * TILE),
        most_(std::clamp<size_t>(HELD / padded_, 1, MOST_ROWS)) {}

  size_t find(const float* X, size_t n, std::int64_t* best, float* scores) {
    const size_t most = std::min(n, most_), runs = padded_ / RUN;
    rows_.resize(most);
    tables_ = allocate<std::uint8_t>((most + ROWS) * blocks_ * 16);
    highest_ = allocate<float>(most * padded_);
    runs_ = allocate<float>(most * runs);
    std::atomic<size_t> looks{0};
    for (size_t start = 0; start < n; start += most) {
      n_ = std::min(most, n - start);
      parallel_for(n_, threads_, [&](size_t i, size_t) {
        code_row(head_, X + (start + i) * head_.d, fewest_, rows_[i], tables_.get() + i * blocks_ * 16);
      });
      parallel_for(padded_ / TILE, threads_, [&](size_t tile, size_t) { score_roughly(tile * TILE); });
      parallel_for(n_, threads_,
                   [&](size_t i, size_t) { looks += rank(i, best + (start + i) * top_, scores + (start + i) * top_); });
    }
    return looks;
  }

 private:
  // The most that the scores of a tile of classes may be, by rough ones, without what all classes have in common.
  void score_roughly(size_t first) {
    const size_t count = std::min(TILE, head_.k - first);
    alignas(64) std::int32_t sums[ROWS * TILE];
    for (size_t i = 0; i < n_; i += ROWS) {
      const size_t some = std::min(ROWS, n_ - i);
      std::fill_n(sums, some * TILE, 0);
      for (size_t b = 0; b < blocks_; b += BLOCKS)
        for (size_t g = 0; g * GROUP < count; ++g)
          loops_.add_lookups(head_.codes + ((first / GROUP + g) * blocks_ + b) * GROUP / 2,
                             std::min(BLOCKS, blocks_ - b), tables_.get() + (i * blocks_ + b) * 16, some, blocks_ * 16,
                             sums + g * GROUP, TILE);
      for (size_t r = 0; r < some; ++r) {
        const HeadRow& row = rows_[i + r];
        float* highest = highest_.get() + (i + r) * padded_ + first;
        const float rounding = head_.rounding * row.rough_unit * std::sqrt(float(blocks_) / 12);
        loops_.rough_scores(sums + r * TILE, count, std::int32_t(ZERO * blocks_), row.rough_unit,
                            margin_ * std::hypot(row.length, rounding), head_.rough + first, head_.slopes + first,
                            head_.spreads + first, highest);
        std::fill(highest + count, highest + TILE, NEVER);
        for (size_t t = 0; t < TILE; t += RUN)
          runs_[((i + r) * padded_ + first + t) / RUN] = *std::max_element(highest + t, highest + t + RUN);
      }
    }
  }

  // Scores by the weights of all classes that may be among the best, and the best of them. A few are scored first, by
  // all bits: the best are not below what these reach.
  size_t rank(size_t i, std::int64_t* best, float* scores) const {
    const HeadRow& row = rows_[i];
    const float* highest = highest_.get() + i * padded_;
    Buffer<std::int32_t> index = allocate<std::int32_t>(padded_);
    std::vector<Hit> hits;
    float least = NEVER;
    size_t count = head_.k;
    if (row.odd) {
      for (size_t c = 0; c < count; ++c) index[c] = std::int32_t(c);
    } else {
      std::vector<float> runs(runs_.get() + i * padded_ / RUN, runs_.get() + (i + 1) * padded_ / RUN);
      const size_t few = std::min(runs.size(), few_);
      std::nth_element(runs.begin(), runs.begin() + std::ptrdiff_t(few - 1), runs.end(), std::greater<float>());
      count = above(highest, runs[few - 1], index.get());
      score(row, index.get(), count, true, hits);
      least = worst_of_best(hits);
      std::vector<Hit> heights;
      for (const Hit& one : hits) heights.push_back({highest[one.position], one.position});
      // Rough scores have no part of what classes have in common. So many of them at least: where there is no error to
      // speak of, rounding might spare all.
      const float limit = std::min(float(double(least) - row.common), worst_of_best(heights));
      count = above(highest, limit, index.get());
    }
    score(row, index.get(), count, !head_.low, hits);
    const size_t looks = hits.size();
    // Rough scores that are no numbers, of a file that lies, hide classes.
    if (looks < top_) throw std::invalid_argument("scores must be finite numbers");
    if (head_.low) look_again(row, least, hits);
    std::partial_sort(hits.begin(), hits.begin() + std::ptrdiff_t(top_), hits.end());
    for (size_t j = 0; j < top_; ++j) {
      if (!std::isfinite(hits[j].score)) throw std::invalid_argument("scores must be finite numbers");
      best[j] = hits[j].position;
      scores[j] = hits[j].score;
    }
    return looks;
  }

  size_t above(const float* highest, float least, std::int32_t* index) const {
    size_t count = loops_.find_high(highest, padded_, least, index);
    while (count && size_t(index[count - 1]) >= head_.k) --count;  // the padding, where all will do
    return count;
  }

  // By all bits, or by those of `weights` alone.
  void score(const HeadRow& row, const std::int32_t* index, size_t count, bool all, std::vector<Hit>& hits) const {
    const size_t digits = all ? digits_of(head_) : 2;
    hits.resize(count);
    // Threads share the classes of a row where there are fewer rows than threads.
    parallel_for((count + SOME - 1) / SOME, n_ < threads_ ? threads_ : 1, [&](size_t task, size_t) {
      WeightScores by_weights(head_);
      const size_t width = by_weights.width(), end = std::min(count, (task + 1) * SOME);
      const HeadRow* one = &row;
      for (size_t j = task * SOME; j < end; ++j) {
        // Of those that are not in order the processor cannot foresee any.
        const std::uint8_t* next = head_.weights + size_t(index[std::min(j + 4, end - 1)]) * width;
        for (size_t b = 0; b < width; b += 64) __builtin_prefetch(next + b);
        hits[j].position = index[j];
        by_weights.score<1>(size_t(index[j]), &one, digits, all, &hits[j].score);
      }
    });
  }

  float worst_of_best(std::vector<Hit> some) const {
    if (some.size() < top_) return NEVER;
    std::nth_element(some.begin(), some.begin() + std::ptrdiff_t(top_ - 1), some.end());
    return some[top_ - 1].score;
  }

  // Scores by all bits of what may be among the best: first of a few that seem to be, and then of what may be above the
  // worst of these. `hits` then has no others.
  void look_again(const HeadRow& row, float least, std::vector<Hit>& hits) const {
    const size_t few = std::min(hits.size(), few_);
    std::nth_element(hits.begin(), hits.begin() + std::ptrdiff_t(few - 1), hits.end());
    std::vector<Hit> exact;
    auto add = [&](size_t begin, size_t end) {
      std::vector<std::int32_t> index;
      for (size_t j = begin; j < end; ++j) {
        const float reach = margin_ * row.length * head_.weight_spreads[hits[j].position];
        if (begin == 0 || !(hits[j].score + reach < least)) index.push_back(std::int32_t(hits[j].position));
      }
      std::vector<Hit> more;
      score(row, index.data(), index.size(), true, more);
      exact.insert(exact.end(), more.begin(), more.end());
    };
    add(0, few);
    least = std::max(least, worst_of_best(exact));
    add(few, hits.size());
    hits.swap(exact);
  }

  const PackedHead& head_;
  const float margin_, fewest_;
  const size_t top_, threads_, blocks_, few_, padded_, most_;
  size_t n_ = 0;
  std::vector<HeadRow> rows_;
  Buffer<std::uint8_t> tables_;
  Buffer<float> highest_, runs_;  // rough scores with what may be missing, and the highest of each run
  const Kernels& loops_ = kernels();
};

}  // namespace

size_t top_of_head(const PackedHead& head, const float* X, size_t n, float margin, float fewest, size_t top,
                   size_t threads, std::int64_t* best, float* scores) {
  return HeadSearch(head, margin, fewest, top, threads).find(X, n, best, scores);
}

void scores_of_head(const PackedHead& head, const float* X, size_t n, size_t first, size_t count, size_t threads,
                    float* scores) {
  constexpr size_t CLASSES = 256;
  std::vector<HeadRow> rows(n);
  std::vector<const HeadRow*> each(n);
  for (size_t i = 0; i < n; ++i) {
    code_row(head, X + i * head.d, 0, rows[i], nullptr);
    each[i] = &rows[i];
  }
  parallel_for((count + CLASSES - 1) / CLASSES, threads, [&](size_t task, size_t) {
    WeightScores by_weights(head);
    float some[ROWS];
    for (size_t c = task * CLASSES; c < std::min(count, (task + 1) * CLASSES); ++c) {
      size_t i = 0;
      for (; i + ROWS <= n; i += ROWS) {
        by_weights.score<ROWS>(first + c, each.data() + i, digits_of(head), true, some);
        for (size_t r = 0; r < ROWS; ++r) scores[(i + r) * count + c] = some[r];
      }
      for (; i < n; ++i) by_weights.score<1>(first + c, each.data() + i, digits_of(head), true, scores + i * count + c);
    }
  });
}

}  // namespace manyclass
