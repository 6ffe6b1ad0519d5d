#define LEVEL_NAME "base"
#define LANES 4
#define TABLE kernels_base
#include "level.inl"
