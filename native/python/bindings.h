// The types that bindings accept. Inputs are const, so that read-only arrays and memory maps are taken, and never
// converted: a hidden copy would double the memory.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

namespace nb = nanobind;

template <class T, int D>
using In = nb::ndarray<const T, nb::ndim<D>, nb::c_contig, nb::device::cpu>;
template <class T, int D>
using Out = nb::ndarray<T, nb::ndim<D>, nb::c_contig, nb::device::cpu>;

void bind_cells(nb::module_& m);
void bind_gather(nb::module_& m);
void bind_level(nb::module_& m);
void bind_pq(nb::module_& m);
void bind_losses(nb::module_& m);
void bind_mixtures(nb::module_& m);
void bind_search(nb::module_& m);
void bind_stochastic(nb::module_& m);
