#include "flow/checkpoint.h"

#include "base/hash.h"
#include "flow/codec.h"

namespace meguri::flow {

using base::ErrorCode;
using base::fail;
using base::Result;
using base::Status;

namespace {

constexpr std::uint32_t kMagic = 0x4b43474d;  // "MGCK"
constexpr std::uint32_t kVersion = 1;

std::string path_in(const std::string& state_dir) { return state_dir + "/checkpoint"; }

}  // namespace

std::string Checkpoint::encode() const {
  std::string out;
  put_fixed(out, kMagic);
  put_fixed(out, kVersion);
  put_fixed(out, epoch);
  put_fixed(out, static_cast<std::uint32_t>(states.size()));
  for (const auto& [label, state] : states) {
    put_text(out, label);
    put_text(out, state);
  }
  put_fixed(out, base::hash64(out));
  return out;
}

Result<Checkpoint> Checkpoint::decode(std::string_view bytes) {
  const auto damaged = fail(ErrorCode::kCorrupt, "the checkpoint is damaged");
  if (bytes.size() < sizeof(std::uint64_t)) return damaged;
  std::string_view sum = bytes.substr(bytes.size() - sizeof(std::uint64_t));
  bytes.remove_suffix(sizeof(std::uint64_t));
  std::uint64_t expected = 0;
  if (!take_fixed(sum, expected) || expected != base::hash64(bytes)) return damaged;
  std::uint32_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t count = 0;
  Checkpoint checkpoint;
  if (!take_fixed(bytes, magic) || magic != kMagic || !take_fixed(bytes, version)) return damaged;
  if (version != kVersion) {
    return fail(ErrorCode::kUnsupported, "the checkpoint has version {}, this program reads {}",
                version, kVersion);
  }
  if (!take_fixed(bytes, checkpoint.epoch) || !take_fixed(bytes, count)) return damaged;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::string_view label;
    std::string_view state;
    if (!take_text(bytes, label) || !take_text(bytes, state)) return damaged;
    checkpoint.states.emplace(label, state);
  }
  if (!bytes.empty()) return damaged;
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
