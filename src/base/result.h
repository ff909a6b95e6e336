// Result: what a call returns when our machine may fail it. The web's misbehaviour is data, and our
// own mistakes are CHECKs; neither is an Error.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace meguri::base {

enum class ErrorCode : std::uint8_t {
  kInvalid,      // wrong use: an option, an argument, a graph that cannot run
  kNotFound,     // no such file, key or module
  kExists,       // it is there already
  kDenied,       // permissions, or a read-only folder
  kBusy,         // somebody else holds the lock or the port
  kNoSpace,      // the disk or the quota is full
  kIo,           // the device failed
  kCorrupt,      // bytes that fail their checksum or their grammar
  kUnsupported,  // this system lacks what was asked for
  kStopped,      // the work was ended on request
  kFailed,       // anything else that went wrong at run time
};

std::string_view name_of(ErrorCode code);

// A code for programs and one sentence for people. Callers add what they were doing, outermost
// first: "cannot open archive /a: cannot read /a/meguri.toml: permission denied".
class [[nodiscard]] Error {
 public:
  Error(ErrorCode code, std::string message) : message_(std::move(message)), code_(code) {}

  // From errno after a failed system call on `what`.
  static Error from_errno(int error_number, std::string_view what);

  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same error with "context: " before its message.
  Error with_context(std::string_view context) const {
    return {code_, fmt::format("{}: {}", context, message_)};
  }

  friend bool operator==(const Error&, const Error&) = default;

 private:
  std::string message_;
  ErrorCode code_;
};

template <typename T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

// `return fail(ErrorCode::kNoSpace, "cannot write {}", path);`
template <typename... Args>
std::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error(code, fmt::format(format, std::forward<Args>(args)...)));
}

}  // namespace meguri::base

// NOLINTBEGIN(cppcoreguidelines-macro-usage): both must be able to return from their caller.
#define MEGURI_JOIN_INNER(a, b) a##b
#define MEGURI_JOIN(a, b) MEGURI_JOIN_INNER(a, b)

// Evaluates a Result or Status and returns its error from the enclosing function.
#define RETURN_IF_ERROR(expression)                                                                \
  do {                                                                                             \
    if (auto meguri_status = (expression); !meguri_status) {                                       \
      return std::unexpected(std::move(meguri_status).error());                                    \
    }                                                                                              \
  } while (false)

// ASSIGN_OR_RETURN(auto file, fs.open(path)): declares `file`, or returns the error.
#define ASSIGN_OR_RETURN(declaration, expression)                                                  \
  ASSIGN_OR_RETURN_AS(MEGURI_JOIN(meguri_result_, __LINE__), declaration, expression)
#define ASSIGN_OR_RETURN_AS(name, declaration, expression)                                         \
  auto name = (expression);                                                                        \
  if (!name) return std::unexpected(std::move(name).error());                                      \
  declaration = *std::move(name)
// NOLINTEND(cppcoreguidelines-macro-usage)
