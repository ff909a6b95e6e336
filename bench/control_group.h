// ControlGroup: a limit on the memory of the processes in it, and of their files' pages in the
// cache. The second version of Linux' control groups.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace meguri::bench {

// A new group, which is gone with its destructor once no process is in it. Nothing else of the
// system's groups is changed. Thread-compatible.
class ControlGroup {
 public:
  // Below the group of this process, or below one of those above it: the nearest that hands out
  // memory. The error says why there can be none.
  static base::Result<std::unique_ptr<ControlGroup>> make(std::uint64_t memory_bytes);
  // The same below the first of these folders that hands out memory.
  static base::Result<std::unique_ptr<ControlGroup>> make_in(
      const std::vector<std::string>& parents, std::uint64_t memory_bytes);

  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;
  ~ControlGroup();

  const std::string& path() const { return path_; }
  base::Status enter() const;  // this process
  // The most that the group ever had in memory; nullopt: the system does not tell.
  std::optional<std::uint64_t> peak_bytes() const;

 private:
  explicit ControlGroup(std::string path) : path_(std::move(path)) {}

  const std::string path_;
};

// Where groups of the second version are mounted, as /proc/mounts says; empty: nowhere.
std::string control_group_mount(std::string_view mounts);
// The group of a process, as its /proc/PID/cgroup says, such as "/user.slice"; empty: none.
std::string control_group_of(std::string_view groups);
// The folders from that of `group` up to that of the mount.
std::vector<std::string> control_group_parents(const std::string& mount, const std::string& group);

}  // namespace meguri::bench
