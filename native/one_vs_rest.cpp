#include <algorithm>
#include <vector>

#include "dispatch.h"
#include "margins.h"
#include "parallel.h"
#include "stochastic.h"

namespace manyclass {
namespace {

using std::size_t;

// Calls visit(class, example) for the classes [begin, end) that the examples [from, to) concern, examples in order.
template <class Visit>
void concerned(const Examples& examples, size_t k, size_t begin, size_t end, size_t from, size_t to,
               const Visit& visit) {
  for (size_t i = from; i < to; ++i) {
    const size_t y = examples.y[i], first = examples.first[i], stop = first + examples.negatives[i];
    auto run = [&](size_t a, size_t b) {
      for (size_t c = std::max(a, begin); c < std::min(b, end); ++c) visit(c, i);
    };
    // [a, b) among the classes other than y are [a, min(b, y)) and [max(a, y) + 1, b + 1) among all.
    auto others = [&](size_t a, size_t b) {
      run(a, std::min(b, y));
      run(std::max(a, y) + 1, b + 1);
    };
    run(y, y + 1);
    others(first, std::min(stop, k - 1));
    if (stop > k - 1) others(0, stop - (k - 1));
  }
}

// For a range of classes, the examples that concern each, in order.
class Lists {
 public:
  Lists(size_t begin, size_t end) : begin_(begin), end_(end), starts_(end - begin + 1) {}

  void collect(const Examples& examples, size_t k, size_t from, size_t to) {
    std::fill(starts_.begin(), starts_.end(), 0);
    concerned(examples, k, begin_, end_, from, to, [&](size_t c, size_t) { ++starts_[c - begin_ + 1]; });
    for (size_t c = 1; c < starts_.size(); ++c) starts_[c] += starts_[c - 1];
    rows_.resize(starts_.back());
    next_.assign(starts_.begin(), starts_.end() - 1);
    concerned(examples, k, begin_, end_, from, to, [&](size_t c, size_t i) { rows_[next_[c - begin_]++] = i; });
  }
  const size_t* begin(size_t c) const { return rows_.data() + starts_[c - begin_]; }
  const size_t* end(size_t c) const { return rows_.data() + starts_[c - begin_ + 1]; }

 private:
  size_t begin_, end_;
  std::vector<size_t> starts_, next_, rows_;
};

template <class Work>
void share_classes(size_t k, size_t threads, const Work& work) {
  const size_t parts = std::min(std::max<size_t>(threads, 1), k);
  parallel_for(parts, parts, [&](size_t part, size_t) { work(k * part / parts, k * (part + 1) / parts); });
}

}  // namespace

void one_vs_rest(const Examples& examples, const Machines& machines, Loss loss, const Schedule& schedule,
                 double* losses, size_t threads) {
  const size_t d = examples.d, k = machines.k;
  // Examples that stay in the second-level cache while class after class goes over them; more, where a class would
  // otherwise be fetched for less than eight of them.
  size_t pairs = examples.n;
  for (size_t i = 0; i < examples.n; ++i) pairs += examples.negatives[i];
  const size_t block = std::max<size_t>({32, (768 << 10) / (sizeof(float) * d), 8 * k * examples.n / (pairs + 1)});
  const Kernels& loops = kernels();
  share_classes(k, threads, [&](size_t begin, size_t end) {
    Lists lists(begin, end);
    for (size_t from = 0; from < examples.n; from += block) {
      lists.collect(examples, k, from, std::min(examples.n, from + block));
      for (size_t c = begin; c < end; ++c) {
        float* w = machines.weights + c * d;
        double scale = machines.scales[c];
        float bias = machines.biases[c];
        std::int64_t t = machines.steps[c];
        double lost = 0;
        for (const size_t* row = lists.begin(c); row != lists.end(c); ++row, ++t) {
          const float* x = examples.X + *row * d;
          const float sign = examples.y[*row] == std::int32_t(c) ? 1.0f : -1.0f, weight = examples.weights[*row];
          const Met met = meet(loss, sign * (float(scale) * loops.dot(x, w, d) + bias));
          lost += weight * met.loss;
          const double step = step_at(schedule, t);
          scale *= 1 - step * schedule.regularization;
          if (scale < SMALLEST_SCALE) {
            for (size_t j = 0; j < d; ++j) w[j] *= float(scale);
            scale = 1;
          }
          const float pull = float(step) * weight * sign * met.pull;
          if (pull != 0) {
            loops.add_multiple(float(pull / scale), x, d, w);
            bias += float(schedule.bias_rate) * pull;
          }
        }
        machines.scales[c] = scale;
        machines.biases[c] = bias;
        machines.steps[c] = t;
        losses[c] += lost;
      }
    }
  });
}

void one_vs_rest_block(const Examples& examples, const Machines& machines, Loss loss, const Schedule& schedule,
                       const float* G, float* S, double* losses, size_t threads) {
  const size_t n = examples.n, k = machines.k;
  const Kernels& loops = kernels();
  share_classes(k, threads, [&](size_t begin, size_t end) {
    std::vector<float> pulls(end - begin);
    for (size_t i = 0; i < n; ++i) {
      std::fill(pulls.begin(), pulls.end(), 0.0f);
      bool any = false;
      concerned(examples, k, begin, end, i, i + 1, [&](size_t c, size_t) {
        const float sign = examples.y[i] == std::int32_t(c) ? 1.0f : -1.0f, weight = examples.weights[i];
        double& scale = machines.scales[c];
        const Met met = meet(loss, sign * (float(scale) * S[i * k + c] + machines.biases[c]));
        losses[c] += weight * met.loss;
        const double step = step_at(schedule, machines.steps[c]++);
        scale *= 1 - step * schedule.regularization;
        const float pull = float(step) * weight * sign * met.pull;
        if (pull != 0) {
          pulls[c - begin] = float(pull / scale);
          machines.biases[c] += float(schedule.bias_rate) * pull;
          any = true;
        }
      });
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
