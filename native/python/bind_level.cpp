#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "dispatch.h"

void bind_level(nb::module_& m) {
  m.def("levels", &manyclass::levels, "Instruction sets that this processor can run, slowest first.");
  m.def("level", [] { return std::string(manyclass::kernels().level); }, "The instruction set in force.");
  m.def("set_level", &manyclass::set_level, nb::arg("level"), "Run the loops of another instruction set.");
}
