// The k best of a stream of scores whose positions ascend.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace manyclass {

struct Hit {
  float score;
  std::int64_t position;
  bool operator<(const Hit& other) const {  // the better one first
    return score > other.score || (score == other.score && position < other.position);
  }
};

// Keeps up to twice as many as are wanted and then throws the worse half away: a few comparisons per score that is
// kept, and one per score that is not.
class Best {
 public:
  Best(std::size_t k, float limit) : limit(limit), k_(k) {}

  // For scores above the limit; later ones that equal it have higher positions than k better ones, and lose.
  void add(float score, std::int64_t position) {
    hits_.push_back({score, position});
    if (hits_.size() >= 2 * k_ + 16) shrink();
  }

  void shrink() {
    if (hits_.size() < k_) return;
    std::nth_element(hits_.begin(), hits_.begin() + (k_ - 1), hits_.end());
    hits_.resize(k_);
    limit = std::max(limit, hits_[k_ - 1].score);
  }

  const std::vector<Hit>& hits() const { return hits_; }

  float limit;

 private:
  std::size_t k_;
  std::vector<Hit> hits_;
};

// The best k of those that are in (scores, positions) already and of the new ones, back into these, in order.
inline void join(std::vector<Hit>& hits, std::size_t k, float* scores, std::int64_t* positions) {
  for (std::size_t j = 0; j < k && positions[j] >= 0; ++j) hits.push_back({scores[j], positions[j]});
  const std::size_t found = std::min(k, hits.size());
  std::partial_sort(hits.begin(), hits.begin() + found, hits.end());
  for (std::size_t j = 0; j < k; ++j) {
    scores[j] = j < found ? hits[j].score : -std::numeric_limits<float>::infinity();
    positions[j] = j < found ? hits[j].position : -1;
  }
}

}  // namespace manyclass
