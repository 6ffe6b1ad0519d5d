// Systematic sampling: which classes an example is drawn for.
//
// Class c has the share [P[c], P[c + 1]) of a line, not longer than 1, and is drawn by an offset u in [0, 1) if its
// share holds one of the points u, u + 1, u + 2, ...: with a probability that is the length of its share. Nothing is
// rounded: so many points lie below P as its whole part says, and one more if u lies below what is left of it.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace manyclass {

struct Mark {
  std::int64_t whole;
  double rest;  // in [0, 1)

  explicit Mark(double P) : whole(std::int64_t(P)), rest(P - double(whole)) {}
  std::int64_t points_below(double u) const { return whole + (u < rest); }
};

// Some examples by their offsets, so that those that draw a class are one stretch of them, or two.
class ByOffset {
 public:
  // Examples 0 to count - 1 with these offsets.
  void sort(const double* offsets, std::size_t count) {
    // Into cells of about one example, and within them by insertion.
    starts_.assign(count, 0);
    sorted_.resize(count);
    for (std::size_t i = 0; i < count; ++i) ++starts_[cell(offsets[i])];
    for (std::size_t i = 1; i < count; ++i) starts_[i] += starts_[i - 1];
    for (std::size_t i = 0; i < count; ++i) sorted_[--starts_[cell(offsets[i])]] = {offsets[i], std::uint32_t(i)};
    for (std::size_t i = 1; i < count; ++i)
      for (std::size_t j = i; j > 0 && sorted_[j].offset < sorted_[j - 1].offset; --j)
        std::swap(sorted_[j], sorted_[j - 1]);
  }

  // Calls visit(example) for those that draw a class with the share [begin, end), in any order.
  template <class Visit>
  void drawing(Mark begin, Mark end, const Visit& visit) const {
    const std::size_t first = below(begin.rest), last = below(end.rest);
    auto stretch = [&](std::size_t from, std::size_t to) {
      for (std::size_t j = from; j < to; ++j) visit(sorted_[j].example);
    };
    if (begin.whole == end.whole) return stretch(first, last);
    stretch(first, sorted_.size());
    stretch(0, last);
  }

 private:
  struct Item {
    double offset;
    std::uint32_t example;
  };

  std::size_t cell(double u) const { return std::size_t(u * double(sorted_.size())); }

  // How many offsets lie below u in [0, 1).
  std::size_t below(double u) const {
    std::size_t j = starts_[cell(u)];
    while (j < sorted_.size() && sorted_[j].offset < u) ++j;
    return j;
  }

  std::vector<Item> sorted_;
  std::vector<std::size_t> starts_;  // of the cells among the sorted
};

// A set of small numbers that gives them back in order and is empty then.
class Ordered {
 public:
  void resize(std::size_t count) {
    words_.resize(count / 64 + 1);
    groups_.resize(count / 4096 + 1);
  }

  void insert(std::size_t i) {
    words_[i / 64] |= std::uint64_t{1} << i % 64;
    groups_[i / 4096] |= std::uint64_t{1} << i / 64 % 64;
  }

  template <class Visit>
  void drain(const Visit& visit) {
    for (std::size_t g = 0; g < groups_.size(); ++g)
      for (; groups_[g]; groups_[g] &= groups_[g] - 1) {
        const std::size_t w = 64 * g + __builtin_ctzll(groups_[g]);
        for (; words_[w]; words_[w] &= words_[w] - 1) visit(64 * w + __builtin_ctzll(words_[w]));
      }
  }

 private:
  std::vector<std::uint64_t> words_, groups_;  // a bit for every number, and for every word that has any
};

}  // namespace manyclass
