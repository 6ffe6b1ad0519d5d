// Threads that live for one call. There is no pool: nothing is left behind that a fork could break, and a product
// takes far longer than the start of a thread.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <vector>

#include "worker.h"

namespace manyclass {

// Calls work(task, worker) once for every task, tasks in order of number; worker < threads. What a task throws ends the
// call, once the others have come to rest.
template <class Work>
void parallel_for(std::size_t tasks, std::size_t threads, const Work& work) {
  if (threads > tasks) threads = tasks;
  if (threads <= 1) {
    for (std::size_t task = 0; task < tasks; ++task) work(task, std::size_t{0});
    return;
  }
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  auto run = [&](std::size_t worker) {
    try {
      for (std::size_t task; !failed && (task = next.fetch_add(1)) < tasks;) work(task, worker);
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
    }
  };
  std::vector<std::function<void()>> parts;
  for (std::size_t worker = 1; worker < threads; ++worker) parts.push_back([&run, worker] { run(worker); });
  {
    std::vector<Worker> team;
    team.reserve(parts.size());
    // Where the system gives no more threads, those that there are do the work.
    for (const auto& part : parts) team.emplace_back(part);
    run(0);
  }
  if (error) std::rethrow_exception(error);
}

struct Free {
  void operator()(void* p) const { std::free(p); }
};
template <class T>
using Buffer = std::unique_ptr<T[], Free>;

// Memory on a cache-line boundary, not initialised.
template <class T>
Buffer<T> allocate(std::size_t count) {
  const std::size_t bytes = (count * sizeof(T) + 63) / 64 * 64;
  void* p = std::aligned_alloc(64, bytes ? bytes : 64);
  if (!p) throw std::bad_alloc();
  return Buffer<T>(static_cast<T*>(p));
}

}  // namespace manyclass
