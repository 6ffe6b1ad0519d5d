#include "judging.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "dispatch.h"
#include "parallel.h"

namespace manyclass {
namespace {

using std::size_t;

constexpr float NEVER = -std::numeric_limits<float>::infinity();

// Bytes of rows that stay near while some panels of classes pass over them, bytes of these, and columns that are turned
// at a time.
constexpr size_t GROUP_BYTES = 256 << 10, PANEL_BYTES = 1 << 20, TURN = 64;

// Some classes side by side: values (d, width) and their biases, nothing that is ever high where there are no more.
struct ClassPanel {
  size_t first, width;
  Buffer<float> values;
  std::vector<float> biases;

  ClassPanel(const float* W, const float* b, size_t first, size_t count, size_t width, size_t d)
      : first(first), width(width), values(allocate<float>(d * width)), biases(width, NEVER) {
    if (count < width) std::fill_n(values.get(), d * width, 0.0f);
    for (size_t start = 0; start < d; start += TURN)
      for (size_t l = 0; l < count; ++l)
        for (size_t j = start; j < std::min(d, start + TURN); ++j) values[j * width + l] = W[(first + l) * d + j];
    std::copy_n(b + first, count, biases.begin());
  }
};

class BestClasses {
 public:
  BestClasses(const float* X, size_t n, size_t d, std::int64_t first, float* scores, std::int64_t* classes)
      : X_(X), n_(n), d_(d), group_(group_of(d)), first_(first), scores_(scores), classes_(classes), rows_(group_),
        masks_(group_), values_(group_ * loops_.search_panel), limits_(loops_.search_panel, NEVER) {}

  void join(const std::vector<ClassPanel>& panels) {
    for (size_t start = 0; start < n_; start += group_) {
      const size_t m = std::min(group_, n_ - start);
      for (size_t i = 0; i < m; ++i) rows_[i] = X_ + (start + i) * d_;
      for (const ClassPanel& panel : panels) {
        loops_.search_rows(rows_.data(), m, d_, panel.values.get(), panel.width, limits_.data(), values_.data(),
                           masks_.data());
        for (size_t i = 0; i < m; ++i)
          if (masks_[i]) keep(panel, start + i, &values_[i * panel.width]);
      }
    }
  }

 private:
  static size_t group_of(size_t d) {
    const size_t whole = 24;  // a multiple of the rows that every level takes at a time
    return std::max(whole, GROUP_BYTES / (4 * std::max<size_t>(1, d)) / whole * whole);
  }

  void keep(const ClassPanel& panel, size_t i, float* s) {
    for (size_t q = 0; q < panel.width; ++q) s[q] += panel.biases[q];
    // In four lanes, which the compiler makes one register.
    float most[4] = {NEVER, NEVER, NEVER, NEVER};
    for (size_t q = 0; q < panel.width; q += 4)
      for (size_t l = 0; l < 4; ++l) most[l] = most[l] < s[q + l] ? s[q + l] : most[l];
    const float best = std::max(std::max(most[0], most[1]), std::max(most[2], most[3]));
    if (best < scores_[i] || best == NEVER) return;
    const std::int64_t c = first_ + std::int64_t(panel.first + size_t(std::find(s, s + panel.width, best) - s));
    if (best == scores_[i] && c > classes_[i]) return;
    scores_[i] = best;
    classes_[i] = c;
  }

  const Kernels& loops_ = kernels();
  const float* X_;
  size_t n_, d_, group_;
  std::int64_t first_;
  float* scores_;
  std::int64_t* classes_;
  std::vector<const float*> rows_;
  std::vector<std::uint32_t> masks_;
  std::vector<float> values_, limits_;
};

}  // namespace

void best_classes(const float* X, size_t n, size_t d, const float* W, const float* biases, size_t k, std::int64_t first,
                  float* scores, std::int64_t* classes) {
  const Kernels& loops = kernels();
  const size_t most = std::max<size_t>(1, std::min<size_t>(4, PANEL_BYTES / (4 * loops.search_panel * (d + 1))));
  BestClasses best(X, n, d, first, scores, classes);
  std::vector<ClassPanel> panels;
  for (size_t c = 0; c < k;) {
    panels.clear();
    for (size_t p = 0; p < most && c < k; ++p) {
      const size_t width = k - c <= loops.search_narrow ? loops.search_narrow : loops.search_panel;
      panels.emplace_back(W, biases, c, std::min(width, k - c), width, d);
      c += std::min(width, k - c);
    }
    best.join(panels);
  }
}

}  // namespace manyclass
