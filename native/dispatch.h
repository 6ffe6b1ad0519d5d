// Which level runs: the best that this processor has, unless another is set.
#pragma once
#include <string>
#include <vector>

#include "kernels.h"

namespace manyclass {

const Kernels& kernels();                  // the level in force
std::vector<std::string> levels();         // what this processor can run, slowest first
void set_level(const std::string& level);  // throws std::invalid_argument for one that it cannot

}  // namespace manyclass
