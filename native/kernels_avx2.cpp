#define LEVEL_NAME "avx2"
#define LANES 8
#define TABLE kernels_avx2
#include "level.inl"
