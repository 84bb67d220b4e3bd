// EXPECT_ERROR(ShapeError, expression, "words"): the error's type, and words that its message must contain.
#pragma once

#include <gtest/gtest.h>

#include <string>

#define EXPECT_ERROR(Type, expression, words)                                                        \
  do {                                                                                               \
    try {                                                                                            \
      static_cast<void>(expression);                                                                 \
      ADD_FAILURE() << #expression " was accepted";                                                  \
    } catch (const Type& error) {                                                                    \
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos)                            \
          << "the message is \"" << error.what() << "\" (expected the words \"" << (words) << "\")"; \
    }                                                                                                \
  } while (false)
