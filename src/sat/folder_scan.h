// What tools need to look at the folder of a Store or of KnownIds from outside: which of them it
// is, and which of its files are whole.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "env/block_file.h"
#include "env/file_system.h"
#include "sat/block_scan.h"

namespace meguri::sat {

enum class FolderKind : std::uint8_t { kStore, kKnownIds };

// By the names of its files. kNotFound: there is no such folder, or nothing of ours is in it.
base::Result<FolderKind> kind_of_folder(env::FileSystem& files, const std::string& dir);

// What was looked at, and what was found wanting.
struct CheckReport {
  std::string position;  // that was opened; empty: there was none to open
  std::uint64_t files = 0;
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;         // of files
  std::uint64_t records = 0;       // or ids
  std::vector<Fault> faults;       // damage
  std::vector<std::string> notes;  // what a crash may leave, and what was not looked at
};

// Where an inspector may write.
struct Scratch {
  env::FileSystem& files;
  std::string dir;  // empty, and nobody else's
};

// How a file of blocks stands.
struct ScannedFile {
  std::uint64_t size = 0;
  std::uint64_t whole = 0;  // bytes before the first block that is not whole, or not right
  bool is_damaged = false;
  bool is_torn = false;  // its end is cut off, as a crash leaves it
};

// Says what is wrong with a whole block of a file; nothing: it is right.
using JudgeBlock = std::function<std::string_view(const ScannedBlock& block)>;

// Goes through a file, of which the first `end` bytes count, and adds it to the report. A torn end
// is no fault: the caller knows what it means.
ScannedFile scan_file(env::FileSystem& files, const std::string& path,
                      const std::vector<env::BlockKind>& kinds, std::optional<std::uint64_t> end,
                      const JudgeBlock& judge, CheckReport& report);

// A log: the number of a block is its offset.
ScannedFile scan_log(env::FileSystem& files, const std::string& path, env::BlockKind kind,
                     std::optional<std::uint64_t> end, CheckReport& report);

// "DIR/log-00000003", and the numbers of all files of such a name, the highest first.
std::string path_of_number(std::string_view dir, std::string_view what, std::uint64_t number);
base::Result<std::vector<std::uint64_t>> numbers_of(env::FileSystem& files, const std::string& dir,
                                                    std::string_view what);

}  // namespace meguri::sat
