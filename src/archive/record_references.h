// RecordReferences: which records of some files are named twice, and which revisits refer to none
// of them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "archive/warc_reader.h"

namespace meguri::archive {

// Ids, URLs with dates, and digests are kept as hashes of 64 bits, some 60 bytes for a record: of
// ten million records two are taken for one another once in 300,000 such collections.
// Thread-compatible.
class RecordReferences {
 public:
  struct Place {
    std::uint32_t file = 0;  // the caller's number for it
    std::uint64_t offset = 0;
  };

  // Whether its id came before.
  enum class Id : std::uint8_t { kNew, kOfThisFile, kOfAnotherFile };
  Id add(const WarcRecord& record, std::uint32_t file);

  // The revisits that refer to no record added: neither by its id, nor by its URL and date, nor by
  // the digest of its payload. In the order they were added.
  std::vector<Place> dangling();

 private:
  struct Revisit {
    Place place;
    std::uint64_t id = 0;  // 0: not said; likewise below
    std::uint64_t moment = 0;
    std::uint64_t digest = 0;
  };

  std::unordered_map<std::uint64_t, std::uint32_t> ids_;  // to the file that had them first
  std::vector<std::uint64_t> targets_;  // moments and digests of what revisits may refer to
  std::vector<Revisit> revisits_;
};

}  // namespace meguri::archive
