// What the tests of the inspectors share.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "env/file_system.h"
#include "env/memory_file_system.h"
#include "sat/block_kinds.h"
#include "sat/block_scan.h"
#include "sat/folder_scan.h"

namespace meguri::sat {

// All files of a folder and its folders, with their bytes.
inline std::map<std::string, std::string> bytes_in(env::FileSystem& files, const std::string& dir) {
  std::map<std::string, std::string> all;
  const std::vector<std::string> names = files.list(dir).value();
  for (const std::string& name : names) {
    const std::string path = dir + "/" + name;
    if (files.stamp(path)) {
      all[path] = env::read_file(files, path).value();
    } else {
      all.merge(bytes_in(files, path));
    }
  }
  return all;
}

struct BlockPlace {
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

// Every block of every file, all of which are whole.
inline std::vector<BlockPlace> blocks_in(env::FileSystem& files, const std::string& dir) {
  std::vector<BlockPlace> places;
  for (const auto& [path, bytes] : bytes_in(files, dir)) {
    auto scan = BlockScan::open(files, path,
                                {kCheckpointKind, kOperationsKind, kSegmentKind, kManifestKind,
                                 kIdLogKind, kRunKind, kRunIndexKind})
                    .value();
    ScannedBlock block;
    while (scan.next(block).value()) {
      EXPECT_EQ(block.state, env::BlockState::kWhole) << path << " at " << block.offset;
      places.push_back({path, block.offset, block.length});
    }
  }
  return places;
}

inline std::string described(const CheckReport& report) {
  std::string text;
  for (const Fault& fault : report.faults) {
    text +=
        fmt::format("{} at {}, {} bytes: {}\n", fault.file, fault.offset, fault.length, fault.what);
  }
  for (const std::string& note : report.notes) text += note + "\n";
  return text;
}

}  // namespace meguri::sat
