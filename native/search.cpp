#include "search.h"

#include <algorithm>

#include "best.h"
#include "dispatch.h"
#include "parallel.h"

namespace manyclass {
namespace {

// Rows that a thread takes at a time, and bytes of rows that stay near while all queries pass over them. Measured,
// 50,000 x 512, one thread, 1 and 32 queries: 1,024 to 16,384 rows, and 32 to 512 KiB, within noise.
constexpr std::size_t TASK = 4096, GROUP_BYTES = 128 << 10;

// Some queries side by side: panel (d, width), zeros where there are no more of them.
struct QueryPanel {
  std::size_t first, count, width;
  Buffer<float> values;

  QueryPanel(const float* Q, std::size_t first, std::size_t count, std::size_t width, std::size_t d)
      : first(first), count(count), width(width), values(allocate<float>(d * width)) {
    std::fill_n(values.get(), d * width, 0.0f);
    for (std::size_t l = 0; l < count; ++l)
      for (std::size_t j = 0; j < d; ++j) values[j * width + l] = Q[(first + l) * d + j];
  }
};

std::vector<QueryPanel> panels_of(const Kernels& loops, const float* Q, std::size_t queries, std::size_t d) {
  std::vector<QueryPanel> panels;
  for (std::size_t first = 0; first < queries; first += panels.back().count) {
    const std::size_t rest = queries - first;
    const std::size_t width = rest <= loops.search_narrow ? loops.search_narrow : loops.search_panel;
    panels.emplace_back(Q, first, std::min(rest, width), width, d);
  }
  return panels;
}

// What one thread has found: the best of the rows that it was given.
class Search {
 public:
  Search(const Kernels& loops, const std::vector<QueryPanel>& panels, std::size_t queries, std::size_t d, std::size_t k,
         const float* scores)
      : loops_(loops), panels_(panels), d_(d), group_(group_of(d)) {
    for (std::size_t q = 0; q < queries; ++q) best.emplace_back(k, scores[q * k + k - 1]);
    // Where a panel has no query, nothing is high enough.
    limits_.resize(queries + loops.search_panel, std::numeric_limits<float>::infinity());
    for (std::size_t q = 0; q < queries; ++q) limits_[q] = best[q].limit;
    rows_.resize(group_);
    masks_.resize(group_);
    scores_.resize(group_ * loops.search_panel);
  }

  // Entries begin to end of the list of rows.
  void look(const float* X, const std::int64_t* index, std::size_t begin, std::size_t end, std::int64_t offset) {
    for (std::size_t start = begin; start < end; start += group_) {
      const std::size_t n = std::min(group_, end - start);
      auto row = [&](std::size_t i) { return index ? index[start + i] : std::int64_t(start + i); };
      for (std::size_t i = 0; i < n; ++i) rows_[i] = X + std::size_t(row(i)) * d_;
      for (const QueryPanel& panel : panels_) {
        loops_.search_rows(rows_.data(), n, d_, panel.values.get(), panel.width, &limits_[panel.first], scores_.data(),
                           masks_.data());
        for (std::size_t i = 0; i < n; ++i)
          if (masks_[i]) keep(panel, masks_[i], &scores_[i * panel.width], offset + row(i));
      }
    }
  }

  std::vector<Best> best;

 private:
  static std::size_t group_of(std::size_t d) {
    const std::size_t whole = 24;  // a multiple of the rows that every level takes at a time
    return std::max(whole, GROUP_BYTES / (4 * std::max<std::size_t>(1, d)) / whole * whole);
  }

  void keep(const QueryPanel& panel, std::uint32_t mask, const float* scores, std::int64_t position) {
    for (; mask; mask &= mask - 1) {
      const std::size_t l = __builtin_ctz(mask), q = panel.first + l;
      // The limit may have risen since the loop looked.
      if (!(scores[l] > best[q].limit)) continue;
      best[q].add(scores[l], position);
      limits_[q] = best[q].limit;
    }
  }

  const Kernels& loops_;
  const std::vector<QueryPanel>& panels_;
  std::size_t d_, group_;
  std::vector<const float*> rows_;
  std::vector<std::uint32_t> masks_;
  std::vector<float> limits_, scores_;
};

}  // namespace

void best_rows(const float* X, const std::int64_t* index, std::size_t n, std::size_t d, const float* Q,
               std::size_t queries, std::int64_t offset, std::size_t k, float* scores, std::int64_t* positions,
               std::size_t threads) {
  const Kernels& loops = kernels();
  const std::vector<QueryPanel> panels = panels_of(loops, Q, queries, d);
  const std::size_t tasks = (n + TASK - 1) / TASK, team = std::max<std::size_t>(1, std::min(threads, tasks));
  std::vector<Search> searches;
  for (std::size_t t = 0; t < team; ++t) searches.emplace_back(loops, panels, queries, d, k, scores);
  parallel_for(tasks, team, [&](std::size_t task, std::size_t worker) {
    searches[worker].look(X, index, task * TASK, std::min(n, (task + 1) * TASK), offset);
  });
  for (std::size_t q = 0; q < queries; ++q) {
    std::vector<Hit> hits;
    for (Search& search : searches) hits.insert(hits.end(), search.best[q].hits().begin(), search.best[q].hits().end());
    join(hits, k, scores + q * k, positions + q * k);
  }
}

void best_scores(const float* S, const std::int64_t* index, std::size_t n, std::size_t queries, std::size_t k,
                 float* scores, std::int64_t* positions, std::size_t threads) {
  parallel_for(queries, threads, [&](std::size_t q, std::size_t) {
    Best best(k, scores[q * k + k - 1]);
    for (std::size_t i = 0; i < n; ++i)
      if (S[q * n + i] > best.limit) best.add(S[q * n + i], index[i]);
    std::vector<Hit> hits = best.hits();
    join(hits, k, scores + q * k, positions + q * k);
  });
}

}  // namespace manyclass
