// One instruction set: the file that includes this has defined LEVEL_NAME (its name), LANES (floats per register) and
// TABLE (the variable that holds its loops).
#include "kernels.h"

namespace manyclass {
namespace {
#include "vector.inl"
#include "products.inl"
#include "coding.inl"
#include "learning.inl"
#include "scores.inl"
#include "search.inl"
#include "shortlist.inl"
#include "mixtures.inl"
#include "cells.inl"
#include "resample.inl"

// By name, as several loops have the same type and could change places unseen in a list.
constexpr Kernels table() {
  Kernels loops{};
  loops.level = LEVEL_NAME;
  loops.search_panel = SEARCH_PANEL;
  loops.search_narrow = SEARCH_NARROW;
  loops.make_tables = make_tables;
  loops.gather_add = gather_add;
  loops.scatter_add = scatter_add;
  loops.move_into = move_into;
  loops.fold = fold;
  loops.decode = decode;
  loops.assign = assign;
  loops.mix = mix;
  loops.dot = dot;
  loops.move_and_dot = move_and_dot;
  loops.add_multiple = add_multiple;
  loops.add_lookups = add_lookups;
  loops.fast_lookups = FAST_LOOKUPS;
  loops.fill_tables = fill_tables;
  loops.dot_bytes = dot_bytes;
  loops.nearest_points = nearest_points;
  loops.rough_scores = rough_scores;
  loops.softmax = softmax;
  loops.search_rows = search_rows;
  loops.mixture_scores = mixture_scores;
  loops.word_scores = word_scores;
  loops.posteriors = posteriors;
  loops.find_high = find_high;
  loops.near_top = near_top;
  loops.half_squares = half_squares;
  loops.add_moments = add_moments;
  loops.gray = gray;
  loops.color_powers = color_powers;
  loops.color_statistics = color_statistics;
  loops.vote = vote;
  loops.pool = pool;
  loops.mix_rows = mix_rows;
  loops.widen_bytes = widen_bytes;
  loops.mix_four = mix_four;
  loops.interleave = interleave;
  loops.blend = blend;
  loops.round_bytes = round_bytes;
  loops.round_colors = round_colors;
  loops.sift = sift;
  return loops;
}
}  // namespace

extern const Kernels TABLE;
constexpr Kernels TABLE = table();
}  // namespace manyclass
