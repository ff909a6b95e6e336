#include "flow/checkpoint.h"

#include "env/block_file.h"
#include "flow/codec.h"

namespace meguri::flow {

using base::ErrorCode;
using base::fail;
using base::Result;
using base::Status;

namespace {

constexpr env::BlockKind kKind = env::block_kind("MGCK");
constexpr std::uint32_t kVersion = 2;

std::string path_in(const std::string& state_dir) { return state_dir + "/checkpoint"; }

}  // namespace

std::string Checkpoint::encode() const {
  env::Block block;
  put_fixed(block.out(), kVersion);
  for (const auto& [label, state] : states) {
    put_text(block.out(), label);
    put_text(block.out(), state);
  }
  return std::string(block.seal(kKind, static_cast<std::uint32_t>(states.size()), epoch));
}

Result<Checkpoint> Checkpoint::decode(std::string_view bytes) {
  env::BlockView block;
  const env::BlockState found = env::read_block(bytes, kKind, block);
  if (found != env::BlockState::kWhole) {
    return fail(ErrorCode::kCorrupt, "the checkpoint is damaged: {}", env::describe(found));
  }
  const auto damaged =
      fail(ErrorCode::kCorrupt, "the checkpoint is damaged: it holds something else");
  std::string_view rest = block.payload;
  std::uint32_t version = 0;
  if (!take_fixed(rest, version)) return damaged;
  if (version != kVersion) {
    return fail(ErrorCode::kUnsupported, "the checkpoint has version {}, this program reads {}",
                version, kVersion);
  }
  Checkpoint checkpoint;
  checkpoint.epoch = block.number;
  for (std::uint32_t i = 0; i < block.count; ++i) {
    std::string_view label;
    std::string_view state;
    if (!take_text(rest, label) || !take_text(rest, state)) return damaged;
    checkpoint.states.emplace(label, state);
  }
  const bool is_all =
      rest.empty() && block.payload.data() + block.payload.size() == bytes.data() + bytes.size();
  if (!is_all) return damaged;
  return checkpoint;
}

Result<Checkpoint> Checkpoint::load(env::FileSystem& files, const std::string& state_dir) {
  const std::string path = path_in(state_dir);
  ASSIGN_OR_RETURN(const bool there, files.exists(path));
  if (!there) return Checkpoint();
  ASSIGN_OR_RETURN(const std::string bytes, env::read_file(files, path));
  auto checkpoint = decode(bytes);
  if (!checkpoint) return std::unexpected(checkpoint.error().with_context(path));
  return checkpoint;
}

Status Checkpoint::save(env::FileSystem& files, const std::string& state_dir) const {
  return env::write_file_atomically(files, path_in(state_dir), encode());
}

}  // namespace meguri::flow
