#include "base/result.h"

#include <cerrno>
#include <system_error>

namespace meguri::base {

std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid: return "invalid";
    case ErrorCode::kNotFound: return "not found";
    case ErrorCode::kExists: return "exists";
    case ErrorCode::kDenied: return "denied";
    case ErrorCode::kBusy: return "busy";
    case ErrorCode::kNoSpace: return "no space";
    case ErrorCode::kIo: return "i/o";
    case ErrorCode::kCorrupt: return "corrupt";
    case ErrorCode::kUnsupported: return "unsupported";
    case ErrorCode::kStopped: return "stopped";
    case ErrorCode::kFailed: return "failed";
  }
  return "unknown";
}

namespace {

ErrorCode code_of_errno(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR: return ErrorCode::kNotFound;
    case EEXIST:
    case ENOTEMPTY: return ErrorCode::kExists;
    case EACCES:
    case EPERM:
    case EROFS: return ErrorCode::kDenied;
    case EWOULDBLOCK:
    case EBUSY:
    case EADDRINUSE: return ErrorCode::kBusy;
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return ErrorCode::kNoSpace;
    case EINVAL:
    case ENAMETOOLONG:
    case EISDIR: return ErrorCode::kInvalid;
    case ENOSYS:
    case EOPNOTSUPP: return ErrorCode::kUnsupported;
    default: return ErrorCode::kIo;
  }
}

}  // namespace

Error Error::from_errno(int error_number, std::string_view what) {
  // generic_category speaks the C library's English and, unlike strerror, is safe in threads.
  return {code_of_errno(error_number),
          fmt::format("{}: {}", what, std::generic_category().message(error_number))};
}

}  // namespace meguri::base
