#include "scan/limits.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "env/process_usage.h"

namespace meguri::scan {

namespace {

using base::ErrorCode;
using Rules = std::unique_ptr<void, void (*)(void*)>;

std::string text_of(int error_number) { return std::generic_category().message(error_number); }

std::unexpected<base::Error> no_filter(int error_number) {
  return base::fail(ErrorCode::kFailed,
                    "this system cannot keep analysers from the network: {}; allow it to them, or "
                    "use a system that filters system calls (seccomp)",
                    text_of(error_number));
}

// Whether the kernel has what the rules ask for; else errno says why not.
bool has_action(std::uint32_t action) {
  return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

// libseccomp returns what is below zero for errors. What is looked at are all 64 bits of an
// argument of which the kernel takes 32, so that only a plain AF_UNIX passes.
int add_rules(void* rules) {
  const scmp_arg_cmp is_other{.arg = 0, .op = SCMP_CMP_NE, .datum_a = AF_UNIX, .datum_b = 0};
  // Calls of another kind, such as those of 32-bit programs, have other numbers, and would pass by
  // all rules. Errors would leave such a program helpless; its end by SIGSYS tells why.
  int failure = ::seccomp_attr_set(rules, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  for (const int call : {SCMP_SYS(socket), SCMP_SYS(socketpair)}) {
    if (failure != 0) return failure;
    failure = ::seccomp_rule_add_array(rules, SCMP_ACT_ERRNO(EACCES), call, 1, &is_other);
  }
  if (failure != 0) return failure;
  // A ring of requests opens sockets too, past the filter. Programs live without it, as on older
  // systems.
  return ::seccomp_rule_add_array(rules, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(io_uring_setup), 0,
                                  nullptr);
}

// The rules as the kernel takes them. This version of libseccomp gives them only to a file.
base::Result<std::vector<sock_filter>> steps_of(void* rules) {
  const int file = ::memfd_create("meguri-filter", MFD_CLOEXEC);
  if (file < 0) return no_filter(errno);
  std::vector<sock_filter> steps;
  int failure = -::seccomp_export_bpf(rules, file);
  const off_t size = failure == 0 ? ::lseek(file, 0, SEEK_END) : 0;
  if (failure == 0 && size > 0) {
    steps.resize(static_cast<std::size_t>(size) / sizeof(sock_filter));
    const ssize_t got = ::pread(file, steps.data(), steps.size() * sizeof(sock_filter), 0);
    if (got != size) failure = got < 0 ? errno : EIO;
  } else if (failure == 0) {
    failure = size < 0 ? errno : EIO;
  }
  ::close(file);
  if (failure != 0) return no_filter(failure);
  return steps;
}

// Both limits of a resource, where the system has no lower one already.
base::Status lower(int resource, std::uint64_t most, std::string_view what) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) {
    return std::unexpected(base::Error::from_errno(errno, what));
  }
  limit.rlim_max = std::min<rlim_t>(limit.rlim_max, most);
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  if (::setrlimit(resource, &limit) != 0) {
    return std::unexpected(base::Error::from_errno(errno, what));
  }
  return {};
}

base::Status limit_memory(std::uint64_t memory_max) {
  if (memory_max == 0 || !can_limit_memory()) return {};
  const std::uint64_t mapped = env::process_usage().address_bytes;
  if (mapped > memory_max) {
    return base::fail(ErrorCode::kInvalid,
                      "an analyser may take {} bytes of memory, but its process has mapped {} "
                      "before it begins; allow it more",
                      memory_max, mapped);
  }
  return lower(RLIMIT_AS, memory_max, "the limit of memory");
}

}  // namespace

struct NetworkFilter::Program {
  std::vector<sock_filter> steps;
  sock_fprog program{};  // a view of them
};

base::Result<NetworkFilter> NetworkFilter::make() {
  if (!has_action(SECCOMP_RET_ERRNO) || !has_action(SECCOMP_RET_KILL_PROCESS)) {
    return no_filter(errno);
  }
  const Rules rules(::seccomp_init(SCMP_ACT_ALLOW), ::seccomp_release);
  if (rules == nullptr) return no_filter(ENOMEM);
  if (const int failure = add_rules(rules.get()); failure != 0) return no_filter(-failure);
  auto program = std::make_unique<Program>();
  ASSIGN_OR_RETURN(program->steps, steps_of(rules.get()));
  program->program = {.len = static_cast<unsigned short>(program->steps.size()),
                      .filter = program->steps.data()};
  return NetworkFilter(program.release());
}

NetworkFilter::NetworkFilter(NetworkFilter&& other) noexcept
    : program_(std::exchange(other.program_, nullptr)) {}

NetworkFilter::~NetworkFilter() { delete program_; }

bool NetworkFilter::apply() const {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  // Of all threads: prctl() would set it for this one alone.
  const long failed = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
                                &program_->program);
  if (failed > 0) errno = ESRCH;  // the thread that has filters of its own
  return failed == 0;
}

bool can_limit_memory() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return false;
#else
  return true;
#endif
#else
  return true;
#endif
}

base::Status apply_limits(const ProcessLimits& limits) {
  RETURN_IF_ERROR(lower(RLIMIT_CORE, 0, "the limit of core dumps"));
  if (!limits.has_network) {
    ASSIGN_OR_RETURN(const NetworkFilter filter, NetworkFilter::make());
    if (!filter.apply()) return no_filter(errno);
  }
  return limit_memory(limits.memory_max);
}

}  // namespace meguri::scan
