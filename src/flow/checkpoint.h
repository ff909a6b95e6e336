// Checkpoint: the file that declares an epoch durable: what every instance returned from commit().
// The format is described in docs/formats/checkpoint.md.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "env/file_system.h"
#include "flow/lane.h"

namespace meguri::flow {

struct Checkpoint {
  EpochId epoch = kNoEpoch;
  std::map<std::string, std::string> states;  // by instance label; empty states are left out

  std::string encode() const;
  static base::Result<Checkpoint> decode(std::string_view bytes);

  // The checkpoint in `state_dir`; epoch kNoEpoch if there is none.
  static base::Result<Checkpoint> load(env::FileSystem& files, const std::string& state_dir);
  // Replaces the one in `state_dir`; after a crash the old or the new one is there.
  base::Status save(env::FileSystem& files, const std::string& state_dir) const;
};

}  // namespace meguri::flow
