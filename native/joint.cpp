#include <algorithm>
#include <vector>

#include "dispatch.h"
#include "parallel.h"
#include "stochastic.h"

namespace manyclass {
namespace {

using std::size_t;

// A well-mixed number for every counter, so that a draw depends on nothing but its place.
std::uint64_t splitmix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// A class other than y: the t-th draw of an example.
size_t draw_other(std::uint64_t seed, std::uint64_t t, size_t y, size_t k) {
  const size_t c = (splitmix64(seed + t) >> 32) * (k - 1) >> 32;
  return c < y ? c : c + 1;
}

struct Choice {
  size_t rival;
  double weight;  // 0 for none
};

Choice if_violating(size_t c, const float* z, size_t y) { return {c, z[c] + 1 > z[y] ? 1.0 : 0.0}; }

size_t best_other(const float* z, size_t y, size_t k) {
  size_t best = y == 0 ? 1 : 0;
  for (size_t c = best + 1; c < k; ++c)
    if (c != y && z[c] > z[best]) best = c;
  return best;
}

Choice first_violating(const float* z, size_t y, size_t k, std::uint64_t seed) {
  for (size_t t = 1; t < k; ++t) {
    const size_t c = draw_other(seed, t - 1, y, k);
    if (z[c] + 1 > z[y]) {
      double weight = 0;
      for (size_t r = 1; r <= (k - 1) / t; ++r) weight += 1.0 / double(r);
      return {c, weight};
    }
  }
  return {y, 0.0};
}

Choice choose(Violator violator, const float* z, size_t y, size_t k, std::uint64_t seed) {
  switch (violator) {
    case Violator::max: return if_violating(best_other(z, y, k), z, y);
    case Violator::random: return if_violating(draw_other(seed, 0, y, k), z, y);
    case Violator::sampled: return first_violating(z, y, k, seed);
  }
  __builtin_unreachable();
}

}  // namespace

void draw_rivals(const std::int32_t* y, std::size_t n, std::size_t k, const std::uint64_t* draws,
                 std::int32_t* rivals) {
  for (size_t i = 0; i < n; ++i) rivals[i] = std::int32_t(draw_other(draws[i], 0, y[i], k));
}

double joint_block(const Examples& examples, const LinearWeights& model, Violator violator, const Schedule& schedule,
                   const float* G, float* S, const std::uint64_t* draw, std::int32_t* rivals, float* pulls) {
  const size_t n = examples.n, k = model.k;
  double& scale = model.scales[0];
  double lost = 0;
  for (size_t i = 0; i < n; ++i) {
    float* z = S + i * k;
    const size_t y = examples.y[i];
    for (size_t before = 0; before < i; ++before)
      if (pulls[before] != 0) {
        const float change = pulls[before] * G[before * n + i];
        z[examples.y[before]] += change;
        z[rivals[before]] -= change;
      }
    auto complete = [&](size_t c) { z[c] = float(scale) * z[c] + model.biases[c]; };
    if (violator == Violator::random) {
      complete(y);
      complete(draw_other(draw[i], 0, y, k));
    } else {
      for (size_t c = 0; c < k; ++c) complete(c);
    }
    const Choice chosen = choose(violator, z, y, k, draw[i]);
    const double step = step_at(schedule, model.steps[0]++);
    scale *= 1 - step * schedule.regularization;
    const float pull = float(step * examples.weights[i] * chosen.weight);
    rivals[i] = pull != 0 ? std::int32_t(chosen.rival) : -1;
    pulls[i] = float(pull / scale);
    if (pull == 0) continue;
    lost += examples.weights[i] * chosen.weight * (1.0 + z[chosen.rival] - z[y]);
    model.biases[y] += float(schedule.bias_rate) * pull;
    model.biases[chosen.rival] -= float(schedule.bias_rate) * pull;
  }
  return lost;
}

void score_two(const float* X, size_t n, size_t d, const float* W, size_t k, const std::int32_t* classes, float* S,
               size_t threads) {
  constexpr size_t ROWS = 64;
  const Kernels& loops = kernels();
  parallel_for((n + ROWS - 1) / ROWS, threads, [&](size_t task, size_t) {
    for (size_t i = task * ROWS; i < std::min(n, (task + 1) * ROWS); ++i)
      for (size_t m = 0; m < 2; ++m) {
        const size_t c = classes[2 * i + m];
        S[i * k + c] = loops.dot(X + i * d, W + c * d, d);
      }
  });
}

void move_two(const float* X, size_t n, size_t d, float* W, size_t k, const std::int32_t* y, const std::int32_t* rivals,
              const float* pulls, size_t threads) {
  const Kernels& loops = kernels();
  const size_t parts = std::min(std::max<size_t>(threads, 1), k);
  parallel_for(parts, parts, [&](size_t part, size_t) {
    const size_t begin = k * part / parts, end = k * (part + 1) / parts;
    auto move = [&](std::int32_t c, float pull, size_t i) {
      if (size_t(c) >= begin && size_t(c) < end) loops.add_multiple(pull, X + i * d, d, W + c * d);
    };
    for (size_t i = 0; i < n; ++i)
      if (rivals[i] >= 0) {
        move(y[i], pulls[i], i);
        move(rivals[i], -pulls[i], i);
      }
  });
}

}  // namespace manyclass
