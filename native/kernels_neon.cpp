#define LEVEL_NAME "neon"
#define LANES 4
#define TABLE kernels_neon
#include "level.inl"
