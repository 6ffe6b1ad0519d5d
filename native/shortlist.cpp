#include "shortlist.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "best.h"
#include "dispatch.h"
#include "parallel.h"

namespace manyclass {
namespace {

using std::size_t;

constexpr size_t GROUP = 32;  // classes whose codes stand side by side

// Bytes of codes of a class between two additions to the sums, with which tables of four rows stay in the first cache
// and eight entries at a time add up to less than 65,536; and groups of classes whose codes stay in the second.
constexpr size_t BYTES = 128, GROUPS = 32;

// Classes of which the best is looked for together.
constexpr size_t RUN = 64;

// A row in the units of the classes, by whole numbers: v = (x - center) * columns ~ rough_unit * n, and fine_unit *
// fine.
struct CodedRow {
  float length;  // |v|
  float rough_unit, rough_error, fine_unit, fine_error;
  std::int32_t zero;  // twice what the sum of the entries is above that of n (code - 1.5)
};

// The largest of d numbers, a multiple of 8, that are not below `least`; in eight lanes, which the compiler makes one.
float largest(const float* x, size_t d, float least = 0) {
  float most[8];
  std::fill_n(most, 8, least);
  for (size_t j = 0; j < d; j += 8)
    for (size_t l = 0; l < 8; ++l) most[l] = std::max(most[l], x[j + l]);
  return *std::max_element(most, most + 8);
}

// A number as a whole one, and what that leaves.
int round_off(float v, float unit, float rate, float* rest) {
  const float scaled = v * rate;
  const int n = int(scaled + (scaled < 0 ? -0.5f : 0.5f));
  *rest = v - float(n) * unit;
  return n;
}

// Entry a + 4 b of the table of a pair (n, m): a n + b m, and as much more as makes the least of them 0.
class Entries {
 public:
  Entries() {
    for (int n = -PAIR_SUM; n <= PAIR_SUM; ++n)
      for (int e = 0; e < 16; ++e) {
        first_[n + PAIR_SUM][e] = std::uint8_t((e & 3) * n - 3 * std::min(n, 0));
        second_[n + PAIR_SUM][e] = std::uint8_t((e >> 2) * n - 3 * std::min(n, 0));
      }
  }

  // Numbers that are none, which rows must not have, lead nowhere outside.
  void fill(int n, int m, std::uint8_t* table) const {
    n = std::clamp(n, -PAIR_SUM, PAIR_SUM);
    m = std::clamp(m, -PAIR_SUM, PAIR_SUM);
    for (int e = 0; e < 16; ++e) table[e] = first_[n + PAIR_SUM][e] + second_[m + PAIR_SUM][e];
  }

 private:
  std::uint8_t first_[2 * PAIR_SUM + 1][16], second_[2 * PAIR_SUM + 1][16];
};

struct Candidate {
  std::uint32_t row, c;
  float score, spread;
};

class Shortlist {
 public:
  Shortlist(const ClassCodes& classes, const float* X, size_t n, float margin, size_t top)
      : classes_(classes), X_(X), n_(n), margin_(margin), top_(top), padded_((classes.k + GROUP - 1) / GROUP * GROUP),
        rows_(n), tables_(allocate<std::uint8_t>(n * classes.width * 8)), fine_(allocate<std::int8_t>(n * classes.d)),
        sums_(allocate<std::int32_t>(n * padded_)) {
    code_rows();
    add_up();
  }

  size_t find(std::int64_t* best) {
    std::vector<Candidate> all = survivors();
    // Class by class, so that the weights of each are read once.
    std::vector<size_t> starts(classes_.k + 1);
    for (const Candidate& one : all) ++starts[one.c + 1];
    for (size_t c = 0; c < classes_.k; ++c) starts[c + 1] += starts[c];
    std::vector<Candidate> sorted(all.size());
    for (const Candidate& one : all) sorted[starts[one.c]++] = one;
    std::vector<std::vector<Candidate>> lists(n_);
    for (size_t j = 0; j < sorted.size(); ++j) {
      const Candidate &one = sorted[j], &next = sorted[std::min(j + 2, sorted.size() - 1)];
      fetch(fine_.get() + next.row * classes_.d);
      if (next.c != one.c) fetch(classes_.fine + next.c * classes_.d);
      lists[one.row].push_back(fine_score(one.row, one.c));
    }
    for (size_t i = 0; i < n_; ++i) rank(i, lists[i], best + i * top_);
    return all.size();
  }

 private:
  void code_rows() {
    const size_t d = classes_.d, width = classes_.width;
    std::vector<float> v(width), rest(width), sizes(width);
    for (size_t i = 0; i < n_; ++i) {
      for (size_t j = 0; j < d; ++j) {
        v[j] = (X_[i * d + j] - classes_.center[j]) * classes_.columns[j];
        sizes[j] = std::fabs(v[j]);
      }
      CodedRow& row = rows_[i];
      auto length = [&](const std::vector<float>& x) { return std::sqrt(loops_.dot(x.data(), x.data(), width)); };
      row.length = length(v);
      row.fine_unit = at_least(largest(sizes.data(), width) / 127);
      const float fine_rate = 1 / row.fine_unit;
      for (size_t j = 0; j < d; ++j)
        fine_[i * d + j] = std::int8_t(round_off(v[j], row.fine_unit, fine_rate, &rest[j]));
      row.fine_error = length(rest);
      for (size_t j = 0; j < width; j += 2) sizes[j] += std::exchange(sizes[j + 1], 0.0f);
      // Rounding adds at most a half to each of two numbers.
      row.rough_unit = at_least(largest(sizes.data(), width) / (PAIR_SUM - 1.01f));
      const float rate = 1 / row.rough_unit;
      std::int32_t total = 0, positive = 0;
      for (size_t j = 0; j < width; j += 2) {
        const int n = round_off(v[j], row.rough_unit, rate, &rest[j]);
        const int m = round_off(v[j + 1], row.rough_unit, rate, &rest[j + 1]);
        entries_.fill(n, m, tables_.get() + (i * width + j) * 8);
        total += n + m;
        positive += std::max(n, 0) + std::max(m, 0);
      }
      row.rough_error = length(rest);
      row.zero = 6 * (positive - total) + 3 * total;
    }
  }

  // A row of zeros has units too.
  static float at_least(float unit) { return std::max(unit, std::numeric_limits<float>::min()); }

  void add_up() {
    const size_t bytes = classes_.width / 4, groups = padded_ / GROUP;
    std::fill_n(sums_.get(), n_ * padded_, 0);
    for (size_t first = 0; first < groups; first += GROUPS)
      for (size_t t = 0; t < bytes; t += BYTES)
        for (size_t i = 0; i < n_; i += 4)
          for (size_t g = first; g < std::min(groups, first + GROUPS); ++g)
            loops_.add_lookups(classes_.codes + (g * bytes + t) * GROUP, std::min(BYTES, bytes - t),
                               tables_.get() + (i * bytes + t) * 32, std::min<size_t>(4, n_ - i), bytes * 32,
                               sums_.get() + i * padded_ + g * GROUP, padded_);
  }

  // Those that may be among the best by their rough scores. A few are scored by 8 bits first: the best are not below
  // what these reach.
  std::vector<Candidate> survivors() const {
    constexpr float NEVER = -std::numeric_limits<float>::infinity();
    std::vector<Candidate> found, reached;
    const size_t k = classes_.k, padded = (k + RUN - 1) / RUN * RUN, few = std::min(padded / RUN, 3 * top_ + 1);
    std::vector<float> highest(padded, NEVER), runs(padded / RUN);
    std::vector<std::int32_t> index(padded);
    auto find = [&](float least) {
      size_t count = loops_.find_high(highest.data(), padded, least, index.data());
      while (count && size_t(index[count - 1]) >= k) --count;  // the padding, where all will do
      return count;
    };
    for (size_t i = 0; i < n_; ++i) {
      const CodedRow& row = rows_[i];
      const float spread = margin_ * std::hypot(row.length, classes_.rounding * row.rough_error);
      loops_.rough_scores(sums_.get() + i * padded_, k, row.zero, 0.5f * row.rough_unit, spread, classes_.offsets,
                          classes_.slopes, classes_.spreads, highest.data());
      // The best of the best of runs are among the best of all.
      for (size_t r = 0; r < runs.size(); ++r) runs[r] = largest(highest.data() + r * RUN, RUN, NEVER);
      std::nth_element(runs.begin(), runs.begin() + (few - 1), runs.end(), std::greater<float>());
      reached.clear();
      size_t count = find(runs[few - 1]);
      for (size_t j = 0; j < count; ++j) reached.push_back(fine_score(i, index[j]));
      float least = limit(reached);
      // So many of them at least: where there is no error to speak of, rounding might spare all.
      for (Candidate& one : reached) one = {one.row, one.c, highest[one.c], 0};
      least = std::min(least, limit(reached));
      count = find(least);
      for (size_t j = 0; j < count; ++j) found.push_back({std::uint32_t(i), std::uint32_t(index[j]), 0, 0});
    }
    return found;
  }

  Candidate fine_score(size_t i, size_t c) const {
    const size_t d = classes_.d;
    const CodedRow& row = rows_[i];
    const float product = float(loops_.dot_bytes(fine_.get() + i * d, classes_.fine + c * d, d));
    const float spread = row.length * classes_.fine_spreads[c] + row.fine_error * classes_.lengths[c];
    return {std::uint32_t(i), std::uint32_t(c), classes_.offsets[c] + row.fine_unit * classes_.units[c] * product,
            spread};
  }

  // Asks for a row that is next: of rows that are not in order the processor cannot foresee any.
  void fetch(const std::int8_t* row) const {
    for (size_t j = 0; j < classes_.d; j += 64) __builtin_prefetch(row + j);
  }

  // What the worst of the best reaches at least.
  float limit(const std::vector<Candidate>& list) const {
    std::vector<float> least;
    for (const Candidate& one : list)
      if (const float value = one.score - margin_ * one.spread; !std::isnan(value)) least.push_back(value);
    if (least.size() < top_) return -std::numeric_limits<float>::infinity();
    std::nth_element(least.begin(), least.begin() + (top_ - 1), least.end(), std::greater<float>());
    return least[top_ - 1];
  }

  void rank(size_t i, const std::vector<Candidate>& list, std::int64_t* best) const {
    const float least = limit(list);
    std::vector<Hit> hits;
    for (const Candidate& one : list)
      if (!(one.score + margin_ * one.spread < least))
        hits.push_back(
            {classes_.biases[one.c] + loops_.dot(X_ + i * classes_.d, classes_.W + one.c * classes_.d, classes_.d),
             std::int64_t(one.c)});
    if (hits.size() < top_) throw std::invalid_argument("scores must be finite numbers");
    std::partial_sort(hits.begin(), hits.begin() + top_, hits.end());
    for (size_t j = 0; j < top_; ++j) best[j] = hits[j].position;
  }

  const ClassCodes& classes_;
  const float* X_;
  const size_t n_;
  const float margin_;
  const size_t top_, padded_;
  std::vector<CodedRow> rows_;
  Buffer<std::uint8_t> tables_;
  Buffer<std::int8_t> fine_;
  Buffer<std::int32_t> sums_;
  const Entries entries_;
  const Kernels& loops_ = kernels();
};

}  // namespace

std::size_t top_of_shortlist(const ClassCodes& classes, const float* X, std::size_t n, float margin, std::size_t top,
                             std::int64_t* best) {
  return Shortlist(classes, X, n, margin, top).find(best);
}

bool lookups_are_fast() { return kernels().fast_lookups; }

}  // namespace manyclass
