// The text of the error that f throws, or "no error": for tests that look for words in it.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>

namespace cresset::test {

template <class E = std::exception, class F>
std::string message_when(const F& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}
inline void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

}  // namespace cresset::test
