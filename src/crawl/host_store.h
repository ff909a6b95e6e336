// HostStore: what a module knows of hosts, on disk, as of its last epoch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "env/file_system.h"
#include "flow/lane.h"

namespace meguri::crawl {

// Keys and values in one file that is appended to: each commit adds a block with what changed, and
// of one key the last value counts. When the file has become twice as long as it was when it was
// made, the next commit makes a new one with everything. The old one goes when no checkpoint can
// need it any more.
//
//   file  = block*
//   block = length u64, XXH3-64 of the content u64, content
//   content = (key length u32, key, value length u32, value)*          integers little-endian
//
// Files are PREFIX-EPOCH, after the epoch that made them. Thread-compatible.
class HostStore {
 public:
  using Use = std::function<base::Status(std::string_view key, std::string_view value)>;
  using WriteAll = std::function<void(HostStore&)>;  // calls put() for all there is

  static constexpr std::uint64_t kRewriteBytesMin = 1U << 20U;

  HostStore(env::FileSystem& files, std::string prefix)
      : files_(files), prefix_(std::move(prefix)) {}

  void put(std::string_view key, std::string_view value);

  // Makes all that was put since the last commit durable, and returns what restore() needs.
  base::Result<std::string> commit(flow::EpochId epoch, const WriteAll& write_all);
  // Calls `use` for every value, older ones of a key first. kCorrupt for what commit() never wrote.
  base::Status restore(std::string_view state, const Use& use);
  // The same for who only looks: nothing changes on disk, and nothing may be put.
  base::Status read(std::string_view state, const Use& use);
  // The state that commit(epoch) returned has become durable: files before its own go.
  base::Status remove_old(flow::EpochId durable_epoch);

 private:
  std::string path_of(std::uint64_t generation) const;
  base::Status append_block();
  base::Status begin_file(flow::EpochId epoch, const WriteAll& write_all);

  env::FileSystem& files_;
  const std::string prefix_;
  std::string content_;            // put and not yet written
  std::uint64_t generation_ = 0;   // 0: no file yet
  std::uint64_t bytes_ = 0;        // of the file that count
  std::uint64_t first_bytes_ = 0;  // when it was made
  std::unique_ptr<env::WritableFile> file_;
  bool has_old_files_ = true;  // also of a run that was killed before its first checkpoint
};

}  // namespace meguri::crawl
