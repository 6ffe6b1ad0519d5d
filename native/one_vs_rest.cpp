#include <algorithm>
#include <utility>
#include <vector>

#include "dispatch.h"
#include "margins.h"
#include "parallel.h"
#include "shares.h"
#include "stochastic.h"

namespace manyclass {
namespace {

using std::size_t;

// The examples that concern each of a range of classes, block after block.
class Lists {
 public:
  Lists(const Examples& examples, const Negatives& negatives, size_t begin, size_t end)
      : examples_(examples), negatives_(negatives), begin_(begin), end_(end) {}

  // Turns to the examples [from, to).
  void turn(size_t from, size_t to) {
    from_ = from;
    by_offset_.sort(negatives_.offsets + from, to - from);
    rows_.resize(to - from);
    positives_.assign(end_ - begin_, NONE);
    own_.assign(to - from, false);
    labels_.clear();
    for (size_t i = from; i < to; ++i)
      for (std::int64_t l = examples_.starts[i]; l < examples_.starts[i + 1]; ++l) {
        const size_t y = examples_.y[l];
        if (y < begin_ || y >= end_) continue;
        labels_.push_back({i - from, std::exchange(positives_[y - begin_], labels_.size())});
      }
  }

  // An example, and whether it is of the class.
  struct Item {
    size_t example;
    bool own;
  };

  // Those that concern class c, in order.
  const std::vector<Item>& of(size_t c) {
    for (size_t l = positives_[c - begin_]; l != NONE; l = labels_[l].next) {
      rows_.insert(labels_[l].row);
      own_[labels_[l].row] = true;
    }
    by_offset_.drawing(Mark(negatives_.shares[c]), Mark(negatives_.shares[c + 1]), [&](size_t i) { rows_.insert(i); });
    list_.clear();
    rows_.drain([&](size_t i) { list_.push_back({from_ + i, bool(own_[i])}); });
    for (size_t l = positives_[c - begin_]; l != NONE; l = labels_[l].next) own_[labels_[l].row] = false;
    return list_;
  }

 private:
  static constexpr size_t NONE = ~size_t{0};

  // An example that is of a class, and the next label of that class.
  struct Label {
    size_t row, next;
  };

  const Examples& examples_;
  const Negatives& negatives_;
  const size_t begin_, end_;
  size_t from_ = 0;
  ByOffset by_offset_;
  Ordered rows_;
  std::vector<size_t> positives_;  // the first label of each class
  std::vector<Label> labels_;
  std::vector<char> own_;  // of the class that is asked for
  std::vector<Item> list_;
};

// The classes [begin, end), roughly by the offset from which on they are drawn: neighbors then concern about the same
// examples, which stay in the first-level cache.
std::vector<size_t> by_rest(const double* shares, size_t begin, size_t end) {
  const size_t count = end - begin;
  auto cell = [&](size_t c) { return size_t(Mark(shares[c]).rest * double(count)); };
  std::vector<size_t> starts(count + 1), order(count);
  for (size_t c = begin; c < end; ++c) ++starts[cell(c) + 1];
  for (size_t i = 0; i < count; ++i) starts[i + 1] += starts[i];
  for (size_t c = begin; c < end; ++c) order[starts[cell(c)]++] = c;
  return order;
}

// Asks for the d numbers of a class that is next: classes that are not in order the processor cannot foresee.
void fetch(const float* w, size_t d) {
  for (size_t j = 0; j < d; j += 16) __builtin_prefetch(w + j, 1, 2);
}

template <class Work>
void share_classes(size_t k, size_t threads, const Work& work) {
  const size_t parts = std::min(std::max<size_t>(threads, 1), k);
  parallel_for(parts, parts, [&](size_t part, size_t) { work(k * part / parts, k * (part + 1) / parts); });
}

}  // namespace

void one_vs_rest(const Examples& examples, const Negatives& negatives, const LinearWeights& model, Loss loss,
                 const Schedule& schedule, double* losses, size_t threads) {
  const size_t d = examples.d, k = model.k;
  // Examples that stay in the second-level cache while class after class goes over them; more, where a class would
  // otherwise be fetched for less than 32 of them: classes that follow one another concern about the same. Measured,
  // one thread, 8, 16 and 32 of them: 16.2, 14.8 and 14.2 us an example for 1,000 classes of 2,048 columns and 64
  // negatives.
  const double drawn = negatives.shares[k] - negatives.shares[0];
  const size_t block = std::max<size_t>(
      {32, (768 << 10) / (sizeof(float) * std::max<size_t>(d, 1)), size_t(32 * double(k) / (1 + drawn))});
  const Kernels& loops = kernels();
  share_classes(k, threads, [&](size_t begin, size_t end) {
    Lists lists(examples, negatives, begin, end);
    const std::vector<size_t> order = by_rest(negatives.shares, begin, end);
    for (size_t from = 0; from < examples.n; from += block) {
      lists.turn(from, std::min(examples.n, from + block));
      for (size_t place = 0; place < order.size(); ++place) {
        const size_t c = order[place];
        float* w = model.weights + c * d;
        if (place + 1 < order.size()) fetch(model.weights + order[place + 1] * d, d);
        double scale = model.scales[c];
        float bias = model.biases[c];
        std::int64_t t = model.steps[c];
        double lost = 0;
        // A step is taken on the way to the next score: w is read and written once for both.
        const float* last = nullptr;
        float move = 0;
        for (const auto [i, own] : lists.of(c)) {
          const float* x = examples.X + i * d;
          const float product = last ? loops.move_and_dot(move, last, x, d, w) : loops.dot(x, w, d);
          const float sign = own ? 1.0f : -1.0f, weight = examples.weights[i];
          const LossAt at = evaluate(loss, sign * (float(scale) * product + bias));
          lost += weight * at.loss;
          const double step = step_at(schedule, t++);
          scale *= 1 - step * schedule.regularization;
          if (scale < SMALLEST_SCALE) {
            for (size_t j = 0; j < d; ++j) w[j] *= float(scale);
            scale = 1;
          }
          const float pull = float(step) * weight * sign * at.pull;
          last = pull != 0 ? x : nullptr;
          if (last) {
            move = float(pull / scale);
            bias += float(schedule.bias_rate) * pull;
          }
        }
        if (last) loops.add_multiple(move, last, d, w);
        model.scales[c] = scale;
        model.biases[c] = bias;
        model.steps[c] = t;
        losses[c] += lost;
      }
    }
  });
}

void one_vs_rest_block(const Examples& examples, const Negatives& negatives, const LinearWeights& model, Loss loss,
                       const Schedule& schedule, const float* G, float* S, double* losses, size_t threads) {
  const size_t n = examples.n, k = model.k;
  const Kernels& loops = kernels();
  share_classes(k, threads, [&](size_t begin, size_t end) {
    std::vector<float> pulls(end - begin);
    for (size_t i = 0; i < n; ++i) {
      std::fill(pulls.begin(), pulls.end(), 0.0f);
      bool any = false;
      const double u = negatives.offsets[i];
      std::int64_t below = Mark(negatives.shares[begin]).points_below(u);
      const std::int32_t* last = examples.y + examples.starts[i + 1];
      const std::int32_t* label = std::lower_bound(examples.y + examples.starts[i], last, std::int32_t(begin));
      for (size_t c = begin; c < end; ++c) {
        const std::int64_t before = std::exchange(below, Mark(negatives.shares[c + 1]).points_below(u));
        const bool own = label != last && *label == std::int32_t(c);
        label += own;
        if (below == before && !own) continue;
        const float sign = own ? 1.0f : -1.0f, weight = examples.weights[i];
        double& scale = model.scales[c];
        const LossAt at = evaluate(loss, sign * (float(scale) * S[i * k + c] + model.biases[c]));
        losses[c] += weight * at.loss;
        const double step = step_at(schedule, model.steps[c]++);
        scale *= 1 - step * schedule.regularization;
        const float pull = float(step) * weight * sign * at.pull;
        if (pull != 0) {
          pulls[c - begin] = float(pull / scale);
          model.biases[c] += float(schedule.bias_rate) * pull;
          any = true;
        }
      }
      if (any)
        for (size_t later = i + 1; later < n; ++later)
          loops.add_multiple(G[i * n + later], pulls.data(), end - begin, S + later * k + begin);
      std::copy(pulls.begin(), pulls.end(), S + i * k + begin);
    }
  });
}

void move_some(const float* X, size_t n, size_t d, const float* A, float* W, size_t k, size_t threads) {
  const Kernels& loops = kernels();
  share_classes(k, threads, [&](size_t begin, size_t end) {
    for (size_t i = 0; i < n; ++i)
      for (size_t c = begin; c < end; ++c)
        if (A[i * k + c] != 0) loops.add_multiple(A[i * k + c], X + i * d, d, W + c * d);
  });
}

}  // namespace manyclass
