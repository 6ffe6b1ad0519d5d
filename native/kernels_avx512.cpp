#define LEVEL_NAME "avx512"
#define LANES 16
#define TABLE kernels_avx512
#include "level.inl"
