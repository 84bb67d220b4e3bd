// Runs a function on a thread with a stack of a given size, so that what recurses over depth is found at a depth that
// costs little. What the function throws reaches the caller.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstddef>
#include <exception>

namespace cresset::test {

template <class F>
void on_stack_of(size_t kibibytes, const F& f) {
  struct Work {
    const F& f;
    std::exception_ptr error;
  } work{f, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kibibytes << 10);
  pthread_t thread{};
  const int failed = pthread_create(
      &thread, &attributes,
      [](void* given) -> void* {
        auto& todo = *static_cast<Work*>(given);
        try {
          todo.f();
        } catch (...) {
          todo.error = std::current_exception();
        }
        return nullptr;
      },
      &work);
  pthread_attr_destroy(&attributes);
  ASSERT_EQ(failed, 0);
  pthread_join(thread, nullptr);
  if (work.error) std::rethrow_exception(work.error);
}

}  // namespace cresset::test
