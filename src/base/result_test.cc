#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>

#include "base/check.h"

namespace meguri::base {
namespace {

Result<std::unique_ptr<int>> half(int n) {
  if (n % 2 != 0) return fail(ErrorCode::kInvalid, "{} is odd", n);
  return std::make_unique<int>(n / 2);
}

Result<int> quarter(int n) {
  ASSIGN_OR_RETURN(const std::unique_ptr<int> once, half(n));
  ASSIGN_OR_RETURN(const std::unique_ptr<int> twice, half(*once));
  return *twice;
}

Status check_even(int n) {
  RETURN_IF_ERROR(half(n));
  return {};
}

TEST(Result, MacrosPassValuesAndErrorsOn) {
  EXPECT_EQ(quarter(12), 3);
  ASSERT_FALSE(quarter(6));
  EXPECT_EQ(quarter(6).error(), Error(ErrorCode::kInvalid, "3 is odd"));
  EXPECT_TRUE(check_even(2));
  EXPECT_FALSE(check_even(3));
}

TEST(Result, ContextStandsBeforeTheMessageAndKeepsTheCode) {
  const Error error = Error(ErrorCode::kDenied, "permission denied").with_context("cannot read /a");
  EXPECT_EQ(error.message(), "cannot read /a: permission denied");
  EXPECT_EQ(error.code(), ErrorCode::kDenied);
}

TEST(Result, ErrnoBecomesACodeAndWords) {
  EXPECT_EQ(Error::from_errno(ENOENT, "cannot open /a"),
            Error(ErrorCode::kNotFound, "cannot open /a: No such file or directory"));
  EXPECT_EQ(Error::from_errno(ENOSPC, "x").code(), ErrorCode::kNoSpace);
  EXPECT_EQ(Error::from_errno(EDQUOT, "x").code(), ErrorCode::kNoSpace);
  EXPECT_EQ(Error::from_errno(EROFS, "x").code(), ErrorCode::kDenied);
  EXPECT_EQ(Error::from_errno(EADDRINUSE, "x").code(), ErrorCode::kBusy);
  EXPECT_EQ(Error::from_errno(EIO, "x").code(), ErrorCode::kIo);
}

TEST(Result, EveryCodeHasAName) {
  for (int code = 0; code <= static_cast<int>(ErrorCode::kFailed); ++code) {
    EXPECT_NE(name_of(static_cast<ErrorCode>(code)), "unknown") << code;
  }
}

TEST(CheckDeathTest, SaysWhereAndWhat) {
  const int three = 3;
  CHECK(three == 3, "not {}", three);
  EXPECT_DEATH(CHECK(three == 4, "three is {}", three),
               "result_test.cc:[0-9]+: CHECK failed: three == 4: three is 3");
  EXPECT_DEATH(CHECK(three == 4), "CHECK failed: three == 4");
}

}  // namespace
}  // namespace meguri::base
