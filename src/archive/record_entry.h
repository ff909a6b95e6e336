// The entry of a record in the temporal index: the same whether it is made while the record is
// written or read from it afterwards.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "archive/index_entry.h"
#include "archive/sha1.h"
#include "archive/warc_reader.h"
#include "base/result.h"
#include "web/http_head.h"

namespace meguri::archive {

// What the head of an answer tells: its status, type and kind, and where it leads.
void describe_answer(const web::HttpHead& head, IndexEntry& entry);

// A digest as entries have it: those that are SHA-1 in one spelling, others as they are.
std::string entry_digest_of(std::string_view said);

// The entry of a record but for its digest, where the record says none; `head` is that of its
// block, null if it has none. Nullopt: the record is of no visit. That is warcinfo, request,
// conversion, continuation, and metadata that is not of a failed fetch; and what has no URL or no
// date.
std::optional<IndexEntry> entry_of(const WarcRecord& record, const web::ParsedHead* head);
// Whether an entry without a digest takes that of the payload.
bool takes_payload_digest(const WarcRecord& record, const IndexEntry& entry);

// Reads entries from records of anybody's. Thread-compatible.
class EntryReader {
 public:
  // The entry of the record that the reader stands at, of which nothing was read yet. The number of
  // its file and its `index` are the caller's to say, and its length is known after finish().
  // Nullopt as in entry_of(). Reads no more of a body than it must: where the record says no
  // digest, all of it.
  base::Result<std::optional<IndexEntry>> read(WarcReader& reader);

 private:
  Sha1 sha1_;
};

}  // namespace meguri::archive
