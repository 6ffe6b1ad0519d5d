#include "dispatch.h"

#include <atomic>
#include <cstdlib>
#include <stdexcept>

namespace manyclass {

extern const Kernels kernels_base;
#if defined(__x86_64__)
extern const Kernels kernels_avx2, kernels_avx512;
#elif defined(__aarch64__)
extern const Kernels kernels_neon;
#endif

namespace {

std::vector<const Kernels*> find_levels() {
  std::vector<const Kernels*> found{&kernels_base};
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2) found.push_back(&kernels_avx2);
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    found.push_back(&kernels_avx512);
#elif defined(__aarch64__)
  found.push_back(&kernels_neon);
#endif
  return found;
}

const std::vector<const Kernels*>& found() {
  static const std::vector<const Kernels*> list = find_levels();
  return list;
}

const Kernels* find(const std::string& level) {
  for (const Kernels* k : found())
    if (level == k->level) return k;
  return nullptr;
}

const Kernels* first_choice() {
  const char* wanted = std::getenv("MANYCLASS_SIMD_LEVEL");
  if (!wanted || !*wanted) return found().back();
  if (const Kernels* k = find(wanted)) return k;
  std::string names;
  for (const Kernels* k : found()) names += (names.empty() ? "" : ", ") + std::string(k->level);
  throw std::invalid_argument("MANYCLASS_SIMD_LEVEL must be a level of this processor (" + names + ") or unset; got '" +
                              wanted + "'");
}

std::atomic<const Kernels*>& in_force() {
  static std::atomic<const Kernels*> current{first_choice()};
  return current;
}

}  // namespace

const Kernels& kernels() { return *in_force().load(); }

std::vector<std::string> levels() {
  std::vector<std::string> names;
  for (const Kernels* k : found()) names.push_back(k->level);
  return names;
}

void set_level(const std::string& level) {
  const Kernels* k = find(level);
  if (!k)
    throw std::invalid_argument("level '" + level + "' needs a processor with it; this one stops at '" +
                                found().back()->level + "'");
  in_force().store(k);
}

}  // namespace manyclass
