// A thread that lives until its work is done.
#pragma once
#include <functional>

#if defined(__linux__) && defined(__GLIBC__)
#include <pthread.h>
#include <sched.h>
#else
#include <system_error>
#include <thread>
#endif

namespace manyclass {

// Runs a function that outlives it; the destructor waits for it. If the system gives no thread, nothing runs.
class Worker {
 public:
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

#if defined(__linux__) && defined(__GLIBC__)
  explicit Worker(const std::function<void()>& work) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes)) return;
    // Linux often starts a thread on the processor of its parent and lets it wait there for milliseconds, as long as
    // a whole call of ours may take; so it is told to go elsewhere, if there is anywhere else.
    cpu_set_t elsewhere;
    const int here = sched_getcpu();
    if (here >= 0 && here < CPU_SETSIZE && !sched_getaffinity(0, sizeof elsewhere, &elsewhere)) {
      CPU_CLR(here, &elsewhere);
      if (CPU_COUNT(&elsewhere)) pthread_attr_setaffinity_np(&attributes, sizeof elsewhere, &elsewhere);
    }
    running_ = !pthread_create(&thread_, &attributes, call, const_cast<std::function<void()>*>(&work));
    pthread_attr_destroy(&attributes);
  }
  Worker(Worker&& other) noexcept : thread_(other.thread_), running_(other.running_) { other.running_ = false; }
  ~Worker() {
    if (running_) pthread_join(thread_, nullptr);
  }

 private:
  static void* call(void* work) {
    (*static_cast<std::function<void()>*>(work))();
    return nullptr;
  }
  pthread_t thread_{};
  bool running_ = false;
#else
  explicit Worker(const std::function<void()>& work) {
    try {
      thread_ = std::thread([&work] { work(); });
    } catch (const std::system_error&) {
    }
  }
  Worker(Worker&&) noexcept = default;
  ~Worker() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
#endif
};

}  // namespace manyclass
