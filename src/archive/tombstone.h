// Tombstones: what stands in a WARC file where records were taken out of it, of just their length,
// so that no other record moves. docs/formats/removals.md describes them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "archive/record_id.h"
#include "archive/warc_reader.h"
#include "base/result.h"
#include "base/time.h"

namespace meguri::archive {

// How the records of a file are packed.
enum class RecordCoding : std::uint8_t { kPlain, kGzip, kZstd };

// By the first bytes of a record in the file.
RecordCoding coding_of(std::string_view bytes);

struct Tombstone {
  RecordId id;
  base::Instant date;         // of the removal
  std::uint64_t records = 1;  // whose place it takes
};

// Takes pieces of bytes.
using TakeBytes = std::function<base::Status(std::string_view bytes)>;

// A metadata record that says when how many records were removed and is filled up with blanks, not
// compressed; of zstd a frame that readers pass over. kUnsupported: `length` is too little for it,
// which no record with an id, a date and a URL of its own is.
base::Status write_tombstone(const Tombstone& tombstone, RecordCoding coding, std::uint64_t length,
                             const TakeBytes& take);

bool is_tombstone(const WarcRecord& record);

}  // namespace meguri::archive
