// examine(): reads a record to its end and says what its block turns out to be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "archive/index_entry.h"
#include "archive/labelled_digest.h"
#include "archive/warc_reader.h"
#include "base/result.h"

namespace meguri::archive {

// What a digest field was found to be.
struct DigestFinding {
  DigestVerdict verdict = DigestVerdict::kNone;
  std::string computed;  // where it was checked
};

struct Examination {
  int status = 0;    // of an HTTP response; 0: none
  std::string mime;  // of the payload, without parameters; empty: not said
  std::uint64_t block_bytes = 0;
  DigestFinding block;
  // Right if it is of the body as it is stored or without its chunks: writers do either. Not
  // checked in revisits, which name the digest of what they confirm, and in segments, which name
  // that of the whole.
  DigestFinding payload;
  // What EntryReader::read() would have made of it; only where it was asked for.
  std::optional<IndexEntry> entry = {};
};

// Requires that nothing was read of the block. Afterwards all faults of the record are known.
base::Result<Examination> examine(WarcReader& reader, bool makes_entry = false);

}  // namespace meguri::archive
