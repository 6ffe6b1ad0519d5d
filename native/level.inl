// One instruction set: the file that includes this has defined LEVEL (its name) and LANES (floats per register).
#include "kernels.h"

namespace manyclass {
namespace {
#include "vector.inl"
#include "products.inl"
#include "coding.inl"
#include "learning.inl"
#include "scores.inl"
#include "search.inl"
#include "mixtures.inl"
#include "cells.inl"
}  // namespace

extern const Kernels TABLE;
const Kernels TABLE = {
    LEVEL_NAME,  make_tables, gather_add,   scatter_add, move_into,    fold,          decode,      assign,
    mix,         dot,         add_multiple, softmax,     SEARCH_PANEL, SEARCH_NARROW, search_rows, mixture_scores,
    word_scores, near_top,    half_squares, add_moments, vote,         pool,          blend,       sift};
}  // namespace manyclass
