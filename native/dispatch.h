// Which level runs: the best that this processor has, unless the environment names another (MANYCLASS_SIMD_LEVEL) or
// another is set. Whoever loads the loops asks once, so that a wrong name is told there.
#pragma once
#include <string>
#include <vector>

#include "kernels.h"

namespace manyclass {

const Kernels& kernels();           // the level in force; throws std::invalid_argument if the environment is wrong
std::vector<std::string> levels();  // what this processor can run, slowest first
void set_level(const std::string& level);  // throws std::invalid_argument for one that it cannot

}  // namespace manyclass
