// StoredVisit: a visit read back from its record, as recovery reports it again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "archive/record_id.h"
#include "archive/sha1.h"
#include "archive/warc_reader.h"
#include "base/time.h"

namespace meguri::archive {

enum class StoredVisitKind : std::uint8_t { kResponse, kRevisit, kFailure };

// What the header of a record tells of a visit. Status, body and links of a response, and the
// reason of a failure, are in the block.
struct StoredVisit {
  StoredVisitKind kind = StoredVisitKind::kResponse;
  RecordId id;
  std::string target_uri;
  base::Instant date;
  base::Duration fetch_time;
  std::string ip_address;
  std::string via;
  std::uint32_t depth = 0;
  std::string purpose;
  std::optional<Digest> payload_digest;  // of a revisit: of what it confirms
  bool is_not_modified = false;          // a revisit after a 304
  std::string truncated;                 // why the body is not whole, as WARC-Truncated says it
};

// Nullopt for records that tell of no visit: warcinfo, request, and metadata that is not ours; and
// for those whose URL or date cannot be read. What others left out has its default, and so has an
// id that is no UUID.
std::optional<StoredVisit> visit_of(const WarcRecord& record);

}  // namespace meguri::archive
