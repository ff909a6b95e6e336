#include "crawl/stored_payloads.h"

#include <cstring>
#include <utility>

namespace meguri::crawl {

// A digest is as good as random.
std::size_t StoredPayloads::DigestHash::operator()(const archive::Digest& digest) const {
  std::size_t hash = 0;
  static_assert(sizeof(digest.bytes) >= sizeof(hash));
  std::memcpy(&hash, digest.bytes.data(), sizeof(hash));
  return hash;
}

const StoredPayload* StoredPayloads::find(const archive::Digest& digest) {
  if (const auto found = young_.find(digest); found != young_.end()) return &found->second;
  auto found = old_.extract(digest);
  if (found.empty()) return nullptr;
  note(digest, std::move(found.mapped()));
  return &young_.find(digest)->second;
}

void StoredPayloads::note(const archive::Digest& digest, StoredPayload payload) {
  if (young_.size() >= count_max_) old_ = std::exchange(young_, {});
  young_.insert_or_assign(digest, std::move(payload));
}

}  // namespace meguri::crawl
