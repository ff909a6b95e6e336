// BlockScan: goes through all blocks of a file, the damaged ones too.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "env/block_file.h"
#include "env/file_system.h"

namespace meguri::sat {

// Something that is not as it should be, and where.
struct Fault {
  std::string file;  // or folder
  std::uint64_t offset = 0;
  std::uint64_t length = 0;  // 0: it is no matter of some bytes
  std::string what;          // "the block fails its checksum"

  friend bool operator==(const Fault&, const Fault&) = default;
};

struct ScannedBlock {
  env::BlockState state = env::BlockState::kEnd;
  env::BlockKind kind = 0;  // if it is kWhole or kDamaged
  std::uint64_t offset = 0;
  std::uint64_t length = 0;  // with its header; of kNoBlock: up to where the next one begins
  env::BlockView view;       // dies with the next call
};

// Where no block begins, it looks for the next one byte by byte. Thread-compatible.
class BlockScan {
 public:
  // Of the first `end` bytes, or of all.
  static base::Result<BlockScan> open(env::FileSystem& files, const std::string& path,
                                      std::vector<env::BlockKind> kinds,
                                      std::optional<std::uint64_t> end = std::nullopt);

  // False: the end. kTorn comes last. An error: the disk failed.
  base::Result<bool> next(ScannedBlock& block);

  std::uint64_t at() const { return at_; }  // where the next one should begin
  std::uint64_t end() const { return end_; }

 private:
  BlockScan(std::unique_ptr<env::ReadableFile> file, std::vector<env::BlockKind> kinds,
            std::uint64_t end)
      : file_(std::move(file)), kinds_(std::move(kinds)), end_(end) {}

  base::Result<std::uint64_t> find_next(std::uint64_t from);

  std::unique_ptr<env::ReadableFile> file_;
  std::vector<env::BlockKind> kinds_;
  std::uint64_t end_;
  std::uint64_t at_ = 0;
  env::Block block_;
  std::string window_;
};

}  // namespace meguri::sat
