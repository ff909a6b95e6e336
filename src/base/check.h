// CHECK: our own mistakes, in every build. Bytes from disk or network never reach one unvalidated.
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace meguri::base {

// Prints the place, the condition and the message to stderr, then aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               std::string_view message);

}  // namespace meguri::base

// CHECK(cond) or CHECK(cond, "format {}", args...): aborts when `cond` is false.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): needs the text and the place of its condition.
#define CHECK(condition, ...)                                                                      \
  do {                                                                                             \
    if (!(condition)) [[unlikely]] {                                                               \
      ::meguri::base::check_failed(__FILE__, __LINE__, #condition, ::fmt::format("" __VA_ARGS__)); \
    }                                                                                              \
  } while (false)
