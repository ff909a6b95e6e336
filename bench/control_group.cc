#include "bench/control_group.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <utility>

namespace meguri::bench {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// In one call, as the system wants it.
base::Status write_text(const std::string& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  bool is_good = file >= 0;
  if (is_good) is_good = ::write(file, text.data(), text.size()) >= 0;
  const int error_number = errno;
  if (file >= 0) ::close(file);
  if (is_good) return {};
  return std::unexpected(base::Error::from_errno(error_number, "cannot write " + path));
}

bool hands_out_memory(const std::string& dir) {
  std::istringstream words(text_of(dir + "/cgroup.subtree_control"));
  for (std::string word; words >> word;) {
    if (word == "memory") return true;
  }
  return false;
}

}  // namespace

base::Result<std::unique_ptr<ControlGroup>> ControlGroup::make(std::uint64_t memory_bytes) {
  const std::string mount = control_group_mount(text_of("/proc/mounts"));
  if (mount.empty()) {
    return base::fail(base::ErrorCode::kUnsupported, "cgroup2 is not mounted");
  }
  const std::string own = control_group_of(text_of("/proc/self/cgroup"));
  return make_in(control_group_parents(mount, own), memory_bytes);
}

base::Result<std::unique_ptr<ControlGroup>> ControlGroup::make_in(
    const std::vector<std::string>& parents, std::uint64_t memory_bytes) {
  for (const std::string& parent : parents) {
    if (!hands_out_memory(parent)) continue;
    const std::string path = fmt::format("{}/meguri-bench-{}", parent, ::getpid());
    if (::mkdir(path.c_str(), 0755) != 0) {
      return std::unexpected(base::Error::from_errno(errno, "cannot make " + path));
    }
    std::unique_ptr<ControlGroup> group(new ControlGroup(path));
    RETURN_IF_ERROR(write_text(path + "/memory.max", fmt::format("{}\n", memory_bytes)));
    // Where there is no swap, the file is missing.
    if (::access((path + "/memory.swap.max").c_str(), W_OK) == 0) {
      RETURN_IF_ERROR(write_text(path + "/memory.swap.max", "0\n"));
    }
    return group;
  }
  return base::fail(base::ErrorCode::kUnsupported,
                    "no group of cgroup2 above this process has memory");
}

ControlGroup::~ControlGroup() { ::rmdir(path_.c_str()); }

base::Status ControlGroup::enter() const {
  return write_text(path_ + "/cgroup.procs", fmt::format("{}\n", ::getpid()));
}

std::optional<std::uint64_t> ControlGroup::peak_bytes() const {
  std::istringstream text(text_of(path_ + "/memory.peak"));
  std::uint64_t bytes = 0;
  if (text >> bytes) return bytes;
  return std::nullopt;
}

std::string control_group_mount(std::string_view mounts) {
  std::istringstream lines{std::string(mounts)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string device;
    std::string place;
    std::string kind;
    if (words >> device >> place >> kind && kind == "cgroup2") return place;
  }
  return "";
}

std::string control_group_of(std::string_view groups) {
  std::istringstream lines{std::string(groups)};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::/")) return line.substr(3);
  }
  return "";
}

std::vector<std::string> control_group_parents(const std::string& mount, const std::string& group) {
  std::vector<std::string> parents;
  std::string below = group;
  while (below.size() > 1) {
    parents.push_back(mount + below);
    below.erase(below.rfind('/'));
  }
  parents.push_back(mount);
  return parents;
}

}  // namespace meguri::bench
