#include "shortlist.h"

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

constexpr size_t BLOCK = 256;  // rows whose sums are held at a time: weights are read once for all of them

// Blocks of columns between two additions to the sums, with which tables of four rows stay in the first cache and
// entries add up to less than 65,536; and groups of classes whose codes stay in the second.
constexpr size_t BLOCKS = 256, GROUPS = 4;

// Classes of which the best is looked for together.
constexpr size_t RUN = 64;

// Rows that are scored together by the fine weights of a class.
constexpr size_t ROWS = 8;

// Classes of the highest rough scores that are tried first where one rival is enough.
constexpr size_t TRIES = 4;

// Entries of tables are so much higher, and at most so far from it.
constexpr int ZERO = 16, REACH = 15;

// A row in the units of the classes: v = (x - center) * columns, whose tables have entries in units of rough_unit, and
// v ~ fine_unit * fine.
struct CodedRow {
  float length;  // |v|
  float rough_unit, fine_unit, fine_error;
  std::int32_t zero;  // of sums of products with fine weights
  bool odd;           // so few entries make up the row that errors do not average
};

// The largest of d numbers, a multiple of 8, that are not below `least`; in eight lanes, which the compiler makes one.
float largest(const float* x, size_t d, float least = 0) {
  float most[8];
  std::fill_n(most, 8, least);
  for (size_t j = 0; j < d; j += 8)
    for (size_t l = 0; l < 8; ++l) most[l] = std::max(most[l], x[j + l]);
  return *std::max_element(most, most + 8);
}

constexpr float NEVER = -std::numeric_limits<float>::infinity();

struct Candidate {
  std::uint32_t row, c;
  float score, reach;  // by the fine weights, and how far that may be from the true one
};

// The worst of the best of a stream of numbers; NaN are left out.
class WorstOfBest {
 public:
  explicit WorstOfBest(size_t count) : count_(count) {}

  void add(float number) {
    if (best_.size() == count_ && !(number > best_.front())) return;
    if (std::isnan(number)) return;
    if (best_.size() == count_) {
      std::pop_heap(best_.begin(), best_.end(), std::greater<float>());
      best_.pop_back();
    }
    best_.push_back(number);
    std::push_heap(best_.begin(), best_.end(), std::greater<float>());
  }

  // Nothing is below it where there are not enough.
  float value() const { return best_.size() == count_ ? best_.front() : NEVER; }

 private:
  size_t count_;
  std::vector<float> best_;  // a heap, the worst first
};

class Shortlist {
 public:
  // For at most so many rows at a time.
  Shortlist(const ClassCodes& classes, size_t most, float margin, float fewest, size_t top)
      : classes_(classes), margin_(margin), fewest_(fewest), top_(top), blocks_(blocks_of(classes.d)),
        padded_((classes.k + GROUP - 1) / GROUP * GROUP), rows_(most),
        tables_(allocate<std::uint8_t>(most * blocks_ * 16)), fine_(allocate<std::int8_t>(most * classes.d)),
        sums_(allocate<std::int32_t>(most * padded_)), highest_((classes.k + RUN - 1) / RUN * RUN, NEVER),
        runs_(highest_.size() / RUN), index_(highest_.size()) {}

  size_t find(const float* X, size_t n, std::int64_t* best) {
    X_ = X;
    n_ = n;
    code_rows();
    add_up();
    found_.clear();
    std::vector<size_t> ends(n_);
    for (size_t i = 0; i < n_; ++i) {
      if (!rows_[i].odd) add_survivors(i);
      ends[i] = found_.size();
    }
    score_class_by_class();
    for (size_t i = 0; i < n_; ++i) rank(i, i ? ends[i - 1] : 0, ends[i], best + i * top_);
    return found_.size();
  }

  size_t find_rivals(const float* X, size_t n, const float* own, const std::int64_t* y, float* scores,
                     std::int64_t* rivals) {
    X_ = X;
    n_ = n;
    code_rows();
    add_up();
    found_.clear();
    std::vector<size_t> ends(n_);
    std::vector<Own> owns(n_);
    for (size_t i = 0; i < n_; ++i) {
      const bool known = !rows_[i].odd && std::isfinite(own[i]);
      rivals[i] = known ? -1 : -2;
      if (known) {
        owns[i] = own_of(i, own[i], y[i]);
        if (add_possible_rivals(i, owns[i], scores + i)) rivals[i] = std::int64_t(rival_);
      }
      ends[i] = found_.size();
    }
    score_class_by_class();
    for (size_t i = 0; i < n_; ++i)
      for (size_t j = i ? ends[i - 1] : 0; j < ends[i] && rivals[i] == -1; ++j)
        if (is_rival(found_[j], owns[i], scores + i)) rivals[i] = found_[j].c;
    return found_.size();
  }

 private:
  // The score of the own class of a row, and what a score without what classes have in common must reach.
  struct Own {
    float score, limit;
    std::int64_t y;
  };

  Own own_of(size_t i, float score, std::int64_t y) const {
    constexpr float SLACK = 1e-5f;  // of sums in float32
    const float common = loops_.dot(X_ + i * classes_.d, classes_.mean, classes_.d);
    return {score, score - common - SLACK * (std::fabs(score) + std::fabs(common)), y};
  }

  // Whether one that is scored by 7 bits beats the own class by the weights themselves, and its score.
  bool is_rival(const Candidate& one, const Own& own, float* score) const {
    if (!(one.score + one.reach >= own.limit)) return false;
    *score =
        classes_.biases[one.c] + loops_.dot(X_ + one.row * classes_.d, classes_.W + one.c * classes_.d, classes_.d);
    return *score > own.score || (*score == own.score && std::int64_t(one.c) < own.y);
  }

  // Adds those whose rough scores may reach that of the own class, unless the first of them do: true if so.
  bool add_possible_rivals(size_t i, const Own& own, float* value) {
    const size_t begin = found_.size();
    make_rough_scores(i);
    if (own.y >= 0 && size_t(own.y) < classes_.k) highest_[size_t(own.y)] = NEVER;
    add_above(i, own.limit);
    const size_t tries = found_.size() - begin > TRIES ? TRIES : 0;
    auto higher = [&](const Candidate& a, const Candidate& b) { return highest_[a.c] > highest_[b.c]; };
    std::partial_sort(found_.begin() + begin, found_.begin() + begin + tries, found_.end(), higher);
    for (size_t j = begin; j < begin + tries; ++j) {
      Candidate* one = &found_[j];
      score(&one, 1);
      if (!is_rival(found_[j], own, value)) continue;
      rival_ = found_[j].c;
      found_.resize(begin);
      return true;
    }
    return false;
  }

  void code_rows() {
    const size_t d = classes_.d, width = 3 * blocks_;
    std::vector<float> v(width), rest(width), sizes(width);
    for (size_t i = 0; i < n_; ++i) {
      for (size_t j = 0; j < d; ++j) {
        v[j] = (X_[i * d + j] - classes_.center[j]) * classes_.columns[j];
        sizes[j] = v[j] * v[j];
      }
      CodedRow& row = rows_[i];
      auto dot = [&](const std::vector<float>& x) { return loops_.dot(x.data(), x.data(), d); };
      const float squares = dot(v);
      row.length = std::sqrt(squares);
      row.odd = squares * squares < fewest_ * dot(sizes);
      row.fine_unit = at_least(std::sqrt(largest(sizes.data(), width)) / 127);
      row.zero = FINE_ZERO * round_off(v.data(), d, row.fine_unit, 0, fine_row(i), rest.data());
      row.fine_error = std::sqrt(dot(rest));
      for (size_t b = 0; b < blocks_; ++b) sizes[b] += sizes[b + blocks_] + sizes[b + 2 * blocks_];
      row.rough_unit = at_least(LONGEST_POINT / REACH * std::sqrt(largest(sizes.data(), blocks_)));
      loops_.fill_tables(v.data(), blocks_, 1 / row.rough_unit, POINT[0], ZERO, tables_.get() + i * blocks_ * 16);
    }
  }

  // A row of zeros has units too.
  static float at_least(float unit) { return std::max(unit, std::numeric_limits<float>::min()); }

  void add_up() {
    const size_t groups = padded_ / GROUP;
    std::fill_n(sums_.get(), n_ * padded_, 0);
    for (size_t first = 0; first < groups; first += GROUPS)
      for (size_t b = 0; b < blocks_; b += BLOCKS)
        for (size_t i = 0; i < n_; i += 4)
          for (size_t g = first; g < std::min(groups, first + GROUPS); ++g)
            loops_.add_lookups(classes_.codes + (g * blocks_ + b) * GROUP / 2, std::min(BLOCKS, blocks_ - b),
                               tables_.get() + (i * blocks_ + b) * 16, std::min<size_t>(4, n_ - i), blocks_ * 16,
                               sums_.get() + i * padded_ + g * GROUP, padded_);
  }

  // Those that may be among the best of a row by their rough scores. A few are scored by 7 bits first: the best are not
  // below what these reach.
  void add_survivors(size_t i) {
    const size_t few = std::min(runs_.size(), 3 * top_ + 2), begin = found_.size();
    make_rough_scores(i);
    // The best of the best of runs are among the best of all.
    for (size_t r = 0; r < runs_.size(); ++r) runs_[r] = largest(highest_.data() + r * RUN, RUN, NEVER);
    std::nth_element(runs_.begin(), runs_.begin() + (few - 1), runs_.end(), std::greater<float>());
    add_above(i, runs_[few - 1]);
    for (size_t j = begin; j < found_.size(); ++j) {
      fetch(classes_.fine + found_[std::min(j + 2, found_.size() - 1)].c * classes_.d, classes_.d);
      Candidate* one = &found_[j];
      score(&one, 1);
    }
    const float least = limit(begin, found_.size());
    // So many of them at least: where there is no error to speak of, rounding might spare all.
    WorstOfBest heights(top_);
    for (size_t j = begin; j < found_.size(); ++j) heights.add(highest_[found_[j].c]);
    found_.resize(begin);
    add_above(i, std::min(least, heights.value()));
  }

  // The most that the score of each class may be, by its rough score.
  void make_rough_scores(size_t i) {
    const CodedRow& row = rows_[i];
    const float rounding = classes_.rounding * row.rough_unit * std::sqrt(float(blocks_) / 12);
    loops_.rough_scores(sums_.get() + i * padded_, classes_.k, std::int32_t(ZERO * blocks_), row.rough_unit,
                        margin_ * std::hypot(row.length, rounding), classes_.offsets, classes_.slopes, classes_.spreads,
                        highest_.data());
  }

  void add_above(size_t i, float least) {
    size_t count = loops_.find_high(highest_.data(), highest_.size(), least, index_.data());
    while (count && size_t(index_[count - 1]) >= classes_.k) --count;  // the padding, where all will do
    for (size_t j = 0; j < count; ++j) found_.push_back({std::uint32_t(i), std::uint32_t(index_[j]), 0, 0});
  }

  // Scores of all that survive, class by class, so that the weights of each are read once.
  void score_class_by_class() {
    std::vector<size_t> starts(classes_.k + 1);
    for (const Candidate& one : found_) ++starts[one.c + 1];
    for (size_t c = 0; c < classes_.k; ++c) starts[c + 1] += starts[c];
    sorted_.resize(found_.size());
    for (Candidate& one : found_) sorted_[starts[one.c]++] = &one;
    for (size_t c = 0, j = 0; c < classes_.k; ++c)
      while (j < starts[c]) {
        const size_t m = std::min(ROWS, starts[c] - j);
        score(sorted_.data() + j, m);
        j += m;
      }
  }

  // Scores of up to ROWS rows by the fine weights of one class.
  void score(Candidate* const* some, size_t m) const {
    const size_t c = some[0]->c;
    const std::int8_t* rows[ROWS];
    std::int32_t sums[ROWS];
    for (size_t r = 0; r < m; ++r) rows[r] = fine_row(some[r]->row);
    loops_.dot_bytes(classes_.fine + c * classes_.d, rows, m, classes_.d, sums);
    for (size_t r = 0; r < m; ++r) {
      const CodedRow& row = rows_[some[r]->row];
      some[r]->score = classes_.offsets[c] + row.fine_unit * classes_.units[c] * float(sums[r] - row.zero);
      some[r]->reach = margin_ * (row.length * classes_.fine_spreads[c] + row.fine_error * classes_.lengths[c]);
    }
  }

  std::int8_t* fine_row(size_t i) const { return fine_.get() + i * classes_.d; }

  // Asks for the weights that are next: of those that are not in order the processor cannot foresee any.
  template <class Number>
  void fetch(const Number* weights, size_t count) const {
    for (size_t j = 0; j < count; j += 64 / sizeof(Number)) __builtin_prefetch(weights + j);
  }

  // What the worst of the best candidates reaches at least.
  float limit(size_t begin, size_t end) const {
    WorstOfBest least(top_);
    for (size_t j = begin; j < end; ++j) least.add(found_[j].score - found_[j].reach);
    return least.value();
  }

  void rank(size_t i, size_t begin, size_t end, std::int64_t* best) const {
    if (rows_[i].odd) {
      std::fill_n(best, top_, std::int64_t(-1));
      return;
    }
    const size_t d = classes_.d;
    const float least = limit(begin, end);
    std::vector<Hit> hits;
    for (size_t j = begin; j < end; ++j)
      if (const Candidate& one = found_[j]; !(one.score + one.reach < least)) hits.push_back({0, one.c});
    if (hits.size() < top_) throw std::invalid_argument("scores must be finite numbers");
    for (size_t j = 0; j < hits.size(); ++j) {
      fetch(classes_.W + size_t(hits[std::min(j + 1, hits.size() - 1)].position) * d, d);
      const size_t c = size_t(hits[j].position);
      hits[j].score = classes_.biases[c] + loops_.dot(X_ + i * d, classes_.W + c * d, d);
    }
    std::partial_sort(hits.begin(), hits.begin() + top_, hits.end());
    for (size_t j = 0; j < top_; ++j) best[j] = hits[j].position;
  }

  const ClassCodes& classes_;
  const float* X_ = nullptr;
  size_t n_ = 0;
  const float margin_, fewest_;
  const size_t top_, blocks_, padded_;
  std::vector<CodedRow> rows_;
  Buffer<std::uint8_t> tables_;
  Buffer<std::int8_t> fine_;
  Buffer<std::int32_t> sums_;
  std::vector<float> highest_, runs_;  // rough scores with what may be missing, and the highest of each run
  std::vector<std::int32_t> index_;
  std::vector<Candidate> found_;  // row by row
  std::vector<Candidate*> sorted_;
  std::uint32_t rival_ = 0;
  const Kernels& loops_ = kernels();
};

}  // namespace

std::size_t top_of_shortlist(const ClassCodes& classes, const float* X, std::size_t n, float margin, float fewest,
                             std::size_t top, std::int64_t* best) {
  Shortlist shortlist(classes, std::min(n, BLOCK), margin, fewest, top);
  std::size_t looks = 0;
  for (std::size_t i = 0; i < n; i += BLOCK)
    looks += shortlist.find(X + i * classes.d, std::min(BLOCK, n - i), best + i * top);
  return looks;
}

std::size_t find_rivals(const ClassCodes& classes, const float* X, std::size_t n, float margin, float fewest,
                        const float* own, const std::int64_t* y, float* scores, std::int64_t* rivals) {
  Shortlist shortlist(classes, std::min(n, BLOCK), margin, fewest, 1);
  std::size_t looks = 0;
  for (std::size_t i = 0; i < n; i += BLOCK)
    looks += shortlist.find_rivals(X + i * classes.d, std::min(BLOCK, n - i), own + i, y + i, scores + i, rivals + i);
  return looks;
}

void own_scores(const float* X, std::size_t n, std::size_t d, const float* W, const float* biases, std::size_t k,
                const std::int64_t* y, float* own) {
  const Kernels& loops = kernels();
  for (std::size_t i = 0; i < n; ++i)
    if (y[i] >= 0 && std::size_t(y[i]) < k) {
      const std::size_t c = std::size_t(y[i]);
      own[i] = biases[c] + loops.dot(X + i * d, W + c * d, d);
    }
}

bool lookups_are_fast() { return kernels().fast_lookups; }

}  // namespace manyclass
