// IdLog: which ids were added and removed since the last manifest, in order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "env/block_file.h"
#include "env/file_system.h"
#include "sat/id_run.h"

namespace meguri::sat {

// A file of blocks (docs/formats/blocks.md). Thread-compatible.
class IdLog {
 public:
  static base::Result<std::unique_ptr<IdLog>> create(env::FileSystem& files,
                                                     const std::string& path, IdTraffic& traffic);
  // Calls `apply` with all up to `size`, cuts the file there, and goes on. kCorrupt: a block is
  // damaged or missing.
  static base::Result<std::unique_ptr<IdLog>> replay(
      env::FileSystem& files, const std::string& path, std::uint64_t size, IdTraffic& traffic,
      const std::function<void(const KnownId&)>& apply);

  // kRemovedSeq: it was removed.
  base::Status add(const KnownId& known);
  // Everything added is on the medium when it returns the size of the file.
  base::Result<std::uint64_t> commit();

  std::size_t memory_bytes() const { return pending_.capacity(); }

 private:
  IdLog(std::unique_ptr<env::WritableFile> file, IdTraffic& traffic)
      : file_(std::move(file)), traffic_(&traffic) {}

  base::Status write_pending();

  std::unique_ptr<env::WritableFile> file_;
  IdTraffic* traffic_;
  env::Block pending_;
};

}  // namespace meguri::sat
