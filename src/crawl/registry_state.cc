#include "crawl/registry_state.h"

#include "flow/codec.h"

namespace meguri::crawl {

namespace {

constexpr std::uint8_t kVersion = 3;

}  // namespace

std::string RegistryState::encode() const {
  std::string out;
  flow::put_fixed(out, kVersion);
  flow::put_fixed(out, known);
  flow::put_fixed(out, done);
  for (const std::uint64_t count : visited) flow::put_fixed(out, count);
  flow::put_text(out, pages);
  flow::put_text(out, hosts);
  flow::put_text(out, groups);
  for (const std::uint64_t count : refused) flow::put_fixed(out, count);
  return out;
}

// Reasons that were not known to the program that wrote it are missing at the end.
base::Result<RegistryState> RegistryState::decode(std::string_view bytes) {
  RegistryState state;
  std::uint8_t version = 0;
  std::string_view pages;
  std::string_view hosts;
  std::string_view groups;
  bool whole = flow::take_fixed(bytes, version) && version == kVersion &&
               flow::take_fixed(bytes, state.known) && flow::take_fixed(bytes, state.done);
  for (std::uint64_t& count : state.visited) whole = whole && flow::take_fixed(bytes, count);
  whole = whole && flow::take_text(bytes, pages) && flow::take_text(bytes, hosts) &&
          flow::take_text(bytes, groups);
  for (std::uint64_t& count : state.refused) {
    whole = whole && (bytes.empty() || flow::take_fixed(bytes, count));
  }
  if (!whole || !bytes.empty()) {
    return base::fail(base::ErrorCode::kCorrupt,
                      "where the registry stands cannot be decoded: it was written by another "
                      "version");
  }
  state.pages = pages;
  state.hosts = hosts;
  state.groups = groups;
  return state;
}

}  // namespace meguri::crawl
