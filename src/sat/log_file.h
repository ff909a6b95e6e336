// How a log of blocks is read again and gone on with, whatever its blocks hold.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "env/block_file.h"
#include "env/file_system.h"

namespace meguri::sat {

// Hands out the payload of each block of the first `size` bytes, cuts what stands behind them off,
// and opens the file to go on behind them. `use` returns false for what is no payload of this log.
// kCorrupt: a block is damaged.
base::Result<std::unique_ptr<env::WritableFile>> reopen_log(
    env::FileSystem& files, const std::string& path, env::BlockKind kind, std::uint64_t size,
    const std::function<base::Result<bool>(std::string_view payload)>& use);

}  // namespace meguri::sat
