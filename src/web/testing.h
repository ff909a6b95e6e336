// What tests of parsers need: conformance data from outside the repository, and pages from disk.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>  // tidy: allow test data is read from the disk as it is
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace meguri::web {

// The bytes of a file; nullopt if it cannot be read.
inline std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);  // tidy: allow test data
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The bytes of `name` in the folder MEGURI_TEST_DATA; nullopt where it is missing.
inline std::optional<std::string> read_test_data(std::string_view name) {
  const char* folder = std::getenv("MEGURI_TEST_DATA");
  std::string path = folder != nullptr ? folder : "../shared/data";
  return read_file(path.append("/").append(name));
}

}  // namespace meguri::web

// Declares `variable` with the bytes of a file of the test data, or reports the test as skipped.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): it must return from the test.
#define READ_TEST_DATA(variable, name)                                                             \
  const auto variable##_read = meguri::web::read_test_data(name);                                  \
  if (!variable##_read) GTEST_SKIP() << "no " << (name) << " in MEGURI_TEST_DATA";                 \
  const std::string& variable = *variable##_read
