// The types that bindings accept. Inputs are const, so that read-only arrays and memory maps are taken, and never
// converted: a hidden copy would double the memory.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <stdexcept>

namespace nb = nanobind;

template <class T, int D>
using In = nb::ndarray<const T, nb::ndim<D>, nb::c_contig, nb::device::cpu>;
template <class T, int D>
using Out = nb::ndarray<T, nb::ndim<D>, nb::c_contig, nb::device::cpu>;

// An argument that is taken as it is.
inline auto exact(const char* name) { return nb::arg(name).noconvert(); }

inline void require(bool holds, const char* sentence) {
  if (!holds) throw std::invalid_argument(sentence);
}

void bind_cells(nb::module_& m);
void bind_gather(nb::module_& m);
void bind_head(nb::module_& m);
void bind_level(nb::module_& m);
void bind_pq(nb::module_& m);
void bind_losses(nb::module_& m);
void bind_mixtures(nb::module_& m);
void bind_search(nb::module_& m);
void bind_shortlist(nb::module_& m);
void bind_stochastic(nb::module_& m);
