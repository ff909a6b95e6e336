// RecordMaker: what a crawler did, as WARC/1.1 records ready to be appended to a file.
// The records are described in docs/formats/warc.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "archive/gzip_writer.h"
#include "archive/index_entry.h"
#include "archive/record_id.h"
#include "archive/sha1.h"
#include "base/result.h"
#include "base/time.h"
#include "env/random.h"
#include "env/spool.h"
#include "env/spooled_bytes.h"
#include "web/http_head.h"

namespace meguri::archive {

// Why a stored body is not all there was.
enum class Truncation : std::uint8_t { kNone, kLength, kTime, kDisconnect, kUnspecified };

// What is known of any visit, whatever came of it. The views must live as long as the call they
// are given to. Text that would not fit into a header line is made to: URLs are percent-encoded
// outside printable ASCII, elsewhere controls become spaces.
struct VisitFacts {
  std::string_view target_uri;
  base::Instant date;              // when the request was sent
  base::Duration fetch_time;       // from then to the end of the answer
  std::string_view ip_address;     // empty: none was reached
  std::string_view via;            // the page that named this one; empty: a seed
  std::uint32_t depth = 0;         // links from a seed
  std::string_view purpose;        // a word such as "robots"; empty: a page
  std::string_view language = {};  // of the content: "ja"; empty: not known
  bool counts = true;              // as a change, for the schedule
  bool is_fetched = true;          // now; else fetch_time and depth are not known, and left out
};

// A request and its response.
struct Exchange {
  VisitFacts visit;
  std::string_view request_head;  // as sent, with its empty line; empty: no request record
  const web::HttpHead& head;      // as received; requires a status
  env::SpooledBytes body;         // without transfer codings, with content codings
  Digest payload_digest;          // of `body`, from RecordMaker::digest_of()
  Truncation truncation = Truncation::kNone;
  std::string_view protocol;  // "h2" or "h3"; empty: HTTP/1
};

// Content without an answer of HTTP around it.
struct PlainContent {
  VisitFacts visit;
  std::string_view content_type;  // empty: not known
  env::SpooledBytes body;
  Digest payload_digest;  // of `body`
  Truncation truncation = Truncation::kNone;
};

// The response record that a revisit refers to. Never a revisit itself.
struct Original {
  RecordId id;
  std::string_view target_uri;
  base::Instant date;
  Digest payload_digest;
};

enum class RevisitKind : std::uint8_t {
  kIdenticalPayload,   // the same body came again
  kServerNotModified,  // 304
};

// A fetch that gave nothing to store as a response.
struct FailedFetch {
  VisitFacts visit;
  std::string_view reason;  // a word for programs: "dns_timeout"
  std::string_view detail;  // a sentence for people; may be empty
};

// What the warcinfo record of a file says. Empty ones are left out.
struct WarcinfoFields {
  std::string software;     // "meguri/0.1.0"
  std::string description;  // of the crawl
  std::string part_of;      // the collection
  std::string operator_name;
  std::string contact;  // an address of the operator
  std::string hostname;
  std::string robots;      // which policy: "RFC 9309"
  std::string user_agent;  // as sent
};

// The ids of the records of one visit, drawn in this order.
struct VisitIds {
  RecordId first;
  RecordId request;
  static VisitIds draw(env::Random& random);
};

// The records of one visit as they stand in a file: the response, revisit or metadata record, to
// which the index points, and behind it the request.
struct MadeRecords {
  env::SpooledBytes bytes;
  std::uint64_t first_bytes = 0;  // of the first record
  RecordId first_id;
  IndexEntry entry = {};  // of the first record; its place is known when it stands in a file
};

enum class WarcCompression : std::uint8_t { kNone, kGzip };

struct RecordOptions {
  WarcCompression compression = WarcCompression::kGzip;
};

// Pure: equal input makes equal bytes, but for bodies on disk, whose members may be cut otherwise.
// Thread-compatible; whoever makes records has its own. Only bodies on disk can fail; their records
// are on disk too where they are large.
class RecordMaker {
 public:
  // Records are kept by the spool, which is borrowed; null: in memory.
  explicit RecordMaker(RecordOptions options = {}, env::Spool* spool = nullptr);

  const RecordOptions& options() const { return options_; }

  base::Result<Digest> digest_of(const env::SpooledBytes& body);

  base::Result<MadeRecords> response(const Exchange& exchange, const VisitIds& ids);
  base::Result<env::SpooledBytes> resource(const PlainContent& content, const RecordId& id);
  // The head alone, for a body that is stored already; of a 304 not even that. Requires
  // may_refer().
  MadeRecords revisit(const Exchange& exchange, const Original& original, RevisitKind kind,
                      const VisitIds& ids);
  MadeRecords failure(const FailedFetch& failed, const RecordId& id);
  // The first record of a file.
  std::string warcinfo(const WarcinfoFields& fields, std::string_view file_name, base::Instant date,
                       const RecordId& id);

 private:
  void begin(std::string_view type, const RecordId& id, base::Instant date);
  void add(std::string_view name, std::string_view value);
  void add_uri(std::string_view name, std::string_view uri);
  void add_validator(std::string_view name, std::optional<std::string_view> value);
  void add_visit(const VisitFacts& visit);
  void describe_visit(const VisitFacts& visit, IndexEntry& entry) const;
  void end_header(std::string_view content_type, std::string_view block, std::uint64_t body_bytes);
  void end(std::string_view content_type, std::string_view block, std::string_view body,
           std::string* out, GzipWriter::Content content = GzipWriter::Content::kAny);
  base::Status add_to_digest(const env::SpooledBytes& body);
  base::Status end_on_disk(std::string_view content_type, std::string_view block,
                           const env::SpooledBytes& body);
  void add_request(const Exchange& exchange, const VisitIds& ids, std::string* out);

  const RecordOptions options_;
  Sha1 sha1_;
  GzipWriter gzip_;
  env::SpoolWriter spool_;  // of the records being made
  std::string front_;       // of the record being made: all before its body
  std::string block_;       // its block, or the front of it
};

// Whether a visit may be written as a revisit of `original`. Replay tools find the original by URL
// and second, so that a revisit of the same URL within its second would refer to itself; and they
// take an empty payload for a lost one.
bool may_refer(const Exchange& exchange, const Original& original, RevisitKind kind);

}  // namespace meguri::archive
