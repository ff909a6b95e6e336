// StoredPayloads: which bodies the archive has from this run, so that none of them is stored twice.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "archive/record_id.h"
#include "archive/sha1.h"
#include "base/time.h"

namespace meguri::crawl {

// A response record that holds a body.
struct StoredPayload {
  std::string url;
  archive::RecordId record;
  base::Instant date;
};

// Remembers at least the last `count_max` payloads that were noted or found, and at most twice as
// many, by their digest. Forgetting one costs space in the archive and nothing else. Thread-
// compatible.
class StoredPayloads {
 public:
  // Smaller bodies take less than the record that refers to them.
  static constexpr std::size_t kBodyBytesMin = 512;

  explicit StoredPayloads(std::size_t count_max = 32'768) : count_max_(count_max) {}

  // Null: not known. Valid until the next call.
  const StoredPayload* find(const archive::Digest& digest);
  void note(const archive::Digest& digest, StoredPayload payload);
  std::size_t size() const { return young_.size() + old_.size(); }

 private:
  struct DigestHash {
    std::size_t operator()(const archive::Digest& digest) const;
  };
  using Map = std::unordered_map<archive::Digest, StoredPayload, DigestHash>;

  std::size_t count_max_;
  Map young_;
  Map old_;  // what is not asked for until young_ is full is forgotten
};

}  // namespace meguri::crawl
