#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "dispatch.h"

void bind_level(nb::module_& m) {
  // A wrong MANYCLASS_SIMD_LEVEL ends the import: whoever set it must not measure another level unawares.
  manyclass::kernels();
  m.def("levels", &manyclass::levels, "Instruction sets that this processor can run, slowest first.");
  m.def("level", [] { return std::string(manyclass::kernels().level); }, "The instruction set in force.");
  m.def("set_level", &manyclass::set_level, nb::arg("level"), "Run the loops of another instruction set.");
}
