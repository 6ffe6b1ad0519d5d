#define LEVEL_NAME "avx512vnni"
#define LANES 16
#define TABLE kernels_avx512vnni
#include "level.inl"
