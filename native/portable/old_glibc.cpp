// The oldest versions of glibc's functions that have newer ones, so that a wheel made on this machine runs on older
// systems; see MANYCLASS_PORTABLE in CMakeLists.txt, which lists the same names. The linker sends every call of `name`,
// also those inside of libstdc++, to `__wrap_name`. Both versions give the same results: those of exp, log and hypotf
// that are newer no longer set errno, and the functions of threads moved from one library to another.
// `auditwheel` refuses a wheel in which a newer one is left.

#include <pthread.h>
#include <sched.h>

#if !defined(__x86_64__) || !defined(__GLIBC__)
#error "the oldest versions of symbols are known here for glibc on x86-64 alone"
#endif

#define OLD(result, name, version, parameters, arguments)    \
  result old_##name parameters;                              \
  __asm__(".symver old_" #name "," #name "@GLIBC_" version); \
  result __wrap_##name parameters { return old_##name arguments; }

extern "C" {
OLD(double, exp, "2.2.5", (double x), (x))
OLD(double, log, "2.2.5", (double x), (x))
OLD(float, hypotf, "2.2.5", (float x, float y), (x, y))
OLD(int, pthread_create, "2.2.5", (pthread_t * t, const pthread_attr_t* a, void* (*f)(void*), void* x), (t, a, f, x))
OLD(int, pthread_join, "2.2.5", (pthread_t t, void** x), (t, x))
OLD(int, pthread_once, "2.2.5", (pthread_once_t * once, void (*f)()), (once, f))
OLD(int, __pthread_key_create, "2.2.5", (pthread_key_t * key, void (*f)(void*)), (key, f))
OLD(int, pthread_attr_setaffinity_np, "2.3.4", (pthread_attr_t * a, size_t n, const cpu_set_t* set), (a, n, set))

// libstdc++ spares itself atomic counts where glibc, from 2.32 on, says that there is one thread; here it never does.
char __libc_single_threaded = 0;
}
