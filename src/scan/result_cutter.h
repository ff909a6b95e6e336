// ResultCutter: what a program writes, cut into results. docs/formats/scan.md has both ways.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "env/spool.h"
#include "env/spooled_bytes.h"

namespace meguri::scan {

inline constexpr std::uint64_t kResultBytesMax = std::uint64_t{8} << 30U;

// Large results go to the spool. Errors end a sentence about the program: "it wrote …".
// Thread-compatible.
class ResultCutter {
 public:
  struct Result {
    std::optional<std::uint64_t> number = std::nullopt;  // of the document; nullopt: not said
    env::SpooledBytes bytes = {};
  };

  // Null: all results stay in memory. Else it is borrowed.
  explicit ResultCutter(env::Spool* spool) : bytes_(spool) {}
  ResultCutter(const ResultCutter&) = delete;
  ResultCutter& operator=(const ResultCutter&) = delete;
  virtual ~ResultCutter() = default;

  // Takes from the front of `bytes`, up to the end of a result. Nullopt: all was taken, and more is
  // wanted.
  virtual base::Result<std::optional<Result>> next(std::string_view& bytes) = 0;
  // The program has ended, and well. Nullopt: nothing was left.
  virtual base::Result<std::optional<Result>> finish() = 0;

 protected:
  base::Status append(std::string_view bytes);

  env::SpoolWriter bytes_;
};

// A line "NUMBER LENGTH", and so many bytes.
class FramedResults final : public ResultCutter {
 public:
  using ResultCutter::ResultCutter;
  base::Result<std::optional<Result>> next(std::string_view& bytes) override;
  base::Result<std::optional<Result>> finish() override;

 private:
  base::Status parse_head();

  std::string head_;                     // as far as it came
  std::optional<std::uint64_t> number_;  // of the result whose bytes come
  std::uint64_t left_ = 0;               // of them
};

// A line, with its end. The last one may lack that.
class LineResults final : public ResultCutter {
 public:
  using ResultCutter::ResultCutter;
  base::Result<std::optional<Result>> next(std::string_view& bytes) override;
  base::Result<std::optional<Result>> finish() override;
};

}  // namespace meguri::scan
