// What the blocks of each file begin with (docs/formats/sat.md), for those who write them and for
// those who only look.
#pragma once

#include <cstdint>

#include "env/block_file.h"

namespace meguri::sat {

inline constexpr env::BlockKind kCheckpointKind = env::block_kind("MGSC");
inline constexpr env::BlockKind kOperationsKind = env::block_kind("MGSO");
inline constexpr env::BlockKind kSegmentKind = env::block_kind("MGSX");

inline constexpr env::BlockKind kManifestKind = env::block_kind("MGKM");
inline constexpr env::BlockKind kIdLogKind = env::block_kind("MGKL");
inline constexpr env::BlockKind kRunKind = env::block_kind("MGKR");
inline constexpr env::BlockKind kRunIndexKind = env::block_kind("MGKX");

// Blocks of a checkpoint, by their number, in this order.
enum CheckpointPart : std::uint64_t {
  kStatePart,
  kIndexPart,
  kPagePart,  // what a slot's buffer held: slot, records
  kEndPart,
};

}  // namespace meguri::sat
