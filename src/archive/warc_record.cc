#include "archive/warc_record.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>

#include "archive/record_entry.h"
#include "archive/stored_head.h"
#include "base/check.h"

namespace meguri::archive {

namespace {

constexpr std::string_view kResponseType = "application/http; msgtype=response";
constexpr std::string_view kRequestType = "application/http; msgtype=request";
constexpr std::string_view kFieldsType = "application/warc-fields";
constexpr std::string_view kUnknownType = "application/octet-stream";
constexpr std::string_view kRecordEnd = "\r\n\r\n";

constexpr std::string_view kProfiles = "http://netpreserve.org/warc/1.1/revisit/";
constexpr std::string_view kFormat = "WARC File Format 1.1";
constexpr std::string_view kConformsTo =
    "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/";

std::string_view name_of(Truncation truncation) {
  constexpr std::array<std::string_view, 5> kNames = {"", "length", "time", "disconnect",
                                                      "unspecified"};
  return kNames.at(static_cast<std::size_t>(truncation));
}

// Appends "name: value", with every control of the value as a space.
void append_field(std::string_view name, std::string_view value, std::string* out) {
  out->append(name).append(": ");
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    *out += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  *out += "\r\n";
}

void append_if_any(std::string_view name, std::string_view value, std::string* out) {
  if (!value.empty()) append_field(name, value, out);
}

// Controls, blanks and what is not ASCII are percent-encoded; a URL of ours has none of them.
void append_uri(std::string_view uri, std::string* out) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char c : uri) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f) {
      *out += c;
    } else {
      out->append({'%', kDigits[byte >> 4U], kDigits[byte & 15U]});
    }
  }
}

std::string_view type_of(RevisitKind kind) {
  return kind == RevisitKind::kIdenticalPayload ? "identical-payload-digest"
                                                : "server-not-modified";
}

}  // namespace

VisitIds VisitIds::draw(env::Random& random) {
  VisitIds ids;
  ids.first = RecordId::draw(random);
  ids.request = RecordId::draw(random);
  return ids;
}

bool may_refer(const Exchange& exchange, const Original& original, RevisitKind kind) {
  if (kind == RevisitKind::kIdenticalPayload && exchange.body.empty()) return false;
  const bool is_same_second = exchange.visit.date.to_digits() == original.date.to_digits();
  return !(is_same_second && exchange.visit.target_uri == original.target_uri);
}

RecordMaker::RecordMaker(RecordOptions options, env::Spool* spool)
    : options_(options), spool_(spool) {}

base::Result<Digest> RecordMaker::digest_of(const env::SpooledBytes& body) {
  RETURN_IF_ERROR(add_to_digest(body));
  return sha1_.finish();
}

base::Status RecordMaker::add_to_digest(const env::SpooledBytes& body) {
  auto status = body.for_each_piece([this](std::string_view piece) -> base::Status {
    sha1_.update(piece);
    return {};
  });
  if (!status) std::ignore = sha1_.finish();  // of a part, which is of no use
  return status;
}

void RecordMaker::begin(std::string_view type, const RecordId& id, base::Instant date) {
  front_ = "WARC/1.1\r\n";
  add("WARC-Type", type);
  add("WARC-Record-ID", id.to_string());
  add("WARC-Date", date.to_rfc3339_ms());
}

void RecordMaker::add(std::string_view name, std::string_view value) {
  append_field(name, value, &front_);
}

void RecordMaker::add_uri(std::string_view name, std::string_view uri) {
  front_.append(name).append(": ");
  append_uri(uri, &front_);
  front_ += "\r\n";
}

void RecordMaker::add_validator(std::string_view name, std::optional<std::string_view> value) {
  if (value && !value->empty()) add(name, *value);
}

void RecordMaker::add_visit(const VisitFacts& visit) {
  add_uri("WARC-Target-URI", visit.target_uri);
  if (!visit.ip_address.empty()) add("WARC-IP-Address", visit.ip_address);
  if (!visit.via.empty()) add_uri("X-Meguri-Via", visit.via);
  if (visit.is_fetched) {
    add("X-Meguri-Depth", fmt::format_int(visit.depth).c_str());
    add("X-Meguri-Fetch-Ms", fmt::format_int(visit.fetch_time.ms()).c_str());
  }
  if (!visit.purpose.empty()) add("X-Meguri-Purpose", visit.purpose);
  if (!visit.language.empty()) add("WARC-Identified-Content-Language", visit.language);
  if (!visit.counts) add("X-Meguri-Counts", "no");
}

// As EntryReader reads it from what add_visit() wrote.
void RecordMaker::describe_visit(const VisitFacts& visit, IndexEntry& entry) const {
  append_uri(visit.target_uri, &entry.url);
  entry.date = visit.date;
  entry.language = visit.language;
  entry.counts = visit.counts;
}

// The digest so far is that of the block, which is `block` and a body behind it.
void RecordMaker::end_header(std::string_view content_type, std::string_view block,
                             std::uint64_t body_bytes) {
  add("WARC-Block-Digest", sha1_.finish().to_string());
  if (block.size() + body_bytes > 0) add("Content-Type", content_type);
  add("Content-Length", fmt::format_int(block.size() + body_bytes).c_str());
  front_.append("\r\n").append(block);
}

// Ends the header, and appends the whole record to `out`. The block is `block` and `body`; one that
// is empty is of no type.
void RecordMaker::end(std::string_view content_type, std::string_view block, std::string_view body,
                      std::string* out, GzipWriter::Content content) {
  sha1_.update(block);
  sha1_.update(body);
  end_header(content_type, block, body.size());
  if (options_.compression == WarcCompression::kGzip) {
    gzip_.append_member(front_, body, kRecordEnd, out, content);
  } else {
    out->append(front_).append(body).append(kRecordEnd);
  }
}

// The same, to the spool.
base::Status RecordMaker::end_on_disk(std::string_view content_type, std::string_view block,
                                      const env::SpooledBytes& body) {
  sha1_.update(block);
  RETURN_IF_ERROR(add_to_digest(body));
  end_header(content_type, block, body.size());
  if (options_.compression == WarcCompression::kGzip) {
    return gzip_.append_member(front_, body, kRecordEnd, &spool_);
  }
  RETURN_IF_ERROR(spool_.append(front_));
  RETURN_IF_ERROR(
      body.for_each_piece([this](std::string_view piece) { return spool_.append(piece); }));
  return spool_.append(kRecordEnd);
}

base::Result<MadeRecords> RecordMaker::response(const Exchange& exchange, const VisitIds& ids) {
  MadeRecords made{.bytes = {}, .first_bytes = 0, .first_id = ids.first};
  begin("response", ids.first, exchange.visit.date);
  add_visit(exchange.visit);
  if (!exchange.protocol.empty()) add("WARC-Protocol", exchange.protocol);
  if (exchange.truncation != Truncation::kNone) add("WARC-Truncated", name_of(exchange.truncation));
  add("WARC-Payload-Digest", exchange.payload_digest.to_string());
  block_.clear();
  append_stored_head(exchange.head, exchange.body.size(), &block_);
  describe_visit(exchange.visit, made.entry);
  describe_answer(exchange.head, made.entry);
  made.entry.digest = exchange.payload_digest.to_string();
  made.entry.is_cut = exchange.truncation != Truncation::kNone;
  std::string records;
  if (!exchange.body.is_on_disk()) {
    end(kResponseType, block_, exchange.body.memory(), &records);
    made.first_bytes = records.size();
    add_request(exchange, ids, &records);
    made.bytes = spool_.keep(std::move(records));
    return made;
  }
  spool_.clear();
  RETURN_IF_ERROR(end_on_disk(kResponseType, block_, exchange.body));
  made.first_bytes = spool_.size();
  add_request(exchange, ids, &records);
  RETURN_IF_ERROR(spool_.append(records));
  made.bytes = spool_.finish();
  return made;
}

base::Result<env::SpooledBytes> RecordMaker::resource(const PlainContent& content,
                                                      const RecordId& id) {
  begin("resource", id, content.visit.date);
  add_visit(content.visit);
  if (content.truncation != Truncation::kNone) add("WARC-Truncated", name_of(content.truncation));
  add("WARC-Payload-Digest", content.payload_digest.to_string());
  const std::string_view type = content.content_type.empty() ? kUnknownType : content.content_type;
  if (!content.body.is_on_disk()) {
    std::string record;
    end(type, {}, content.body.memory(), &record);
    return spool_.keep(std::move(record));
  }
  spool_.clear();
  RETURN_IF_ERROR(end_on_disk(type, {}, content.body));
  return spool_.finish();
}

MadeRecords RecordMaker::revisit(const Exchange& exchange, const Original& original,
                                 RevisitKind kind, const VisitIds& ids) {
  CHECK(may_refer(exchange, original, kind), "a revisit of itself or of nothing");
  const bool is_identical = kind == RevisitKind::kIdenticalPayload;
  MadeRecords made{.bytes = {}, .first_bytes = 0, .first_id = ids.first};
  begin("revisit", ids.first, exchange.visit.date);
  add_visit(exchange.visit);
  if (!exchange.protocol.empty()) add("WARC-Protocol", exchange.protocol);
  add("WARC-Profile", fmt::format("{}{}", kProfiles, type_of(kind)));
  add("WARC-Refers-To", original.id.to_string());
  add_uri("WARC-Refers-To-Target-URI", original.target_uri);
  add("WARC-Refers-To-Date", original.date.to_rfc3339_ms());
  if (is_identical) add("WARC-Truncated", "length");
  add("WARC-Payload-Digest", original.payload_digest.to_string());
  describe_visit(exchange.visit, made.entry);
  IndexEntry& entry = made.entry;
  EntryOriginal found{.url = {}, .date = original.date};
  append_uri(original.target_uri, &found.url);
  const bool is_own = found.url == entry.url;
  if (is_identical) describe_answer(exchange.head, entry);
  if (!is_identical) entry.status = 304;
  entry.is_not_modified = entry.is_not_modified || !is_identical;
  entry.kind = is_own || entry.is_not_modified ? EntryKind::kUnchanged : EntryKind::kChanged;
  if (!is_own) entry.original = std::move(found);
  entry.digest = original.payload_digest.to_string();
  block_.clear();
  // Replay puts this head before the original's body, so it says that body's length. The head of a
  // 304 in that place would be shown as a page that is not there; its validators are kept.
  if (is_identical) {
    append_stored_head(exchange.head, exchange.body.size(), &block_);
  } else {
    add_validator("WARC-Etag", exchange.head.fields.get("ETag"));
    add_validator("WARC-Last-Modified", exchange.head.fields.get("Last-Modified"));
  }
  std::string records;
  end(kResponseType, block_, {}, &records);
  made.first_bytes = records.size();
  add_request(exchange, ids, &records);
  made.bytes = spool_.keep(std::move(records));
  return made;
}

void RecordMaker::add_request(const Exchange& exchange, const VisitIds& ids, std::string* out) {
  if (exchange.request_head.empty()) return;
  begin("request", ids.request, exchange.visit.date);
  add_uri("WARC-Target-URI", exchange.visit.target_uri);
  add("WARC-Concurrent-To", ids.first.to_string());
  end(kRequestType, exchange.request_head, {}, out, GzipWriter::Content::kRequest);
}

MadeRecords RecordMaker::failure(const FailedFetch& failed, const RecordId& id) {
  MadeRecords made{.bytes = {}, .first_bytes = 0, .first_id = id};
  begin("metadata", id, failed.visit.date);
  add_visit(failed.visit);
  describe_visit(failed.visit, made.entry);
  made.entry.kind = EntryKind::kError;
  block_.clear();
  append_field("reason", failed.reason, &block_);
  append_if_any("detail", failed.detail, &block_);
  append_if_any("via", failed.visit.via, &block_);
  append_field("hopsFromSeed", fmt::format_int(failed.visit.depth).c_str(), &block_);
  append_field("fetchTimeMs", fmt::format_int(failed.visit.fetch_time.ms()).c_str(), &block_);
  std::string record;
  end(kFieldsType, block_, {}, &record);
  made.first_bytes = record.size();
  made.bytes = spool_.keep(std::move(record));
  return made;
}

std::string RecordMaker::warcinfo(const WarcinfoFields& fields, std::string_view file_name,
                                  base::Instant date, const RecordId& id) {
  begin("warcinfo", id, date);
  add("WARC-Filename", file_name);
  block_.clear();
  append_if_any("software", fields.software, &block_);
  append_field("format", kFormat, &block_);
  append_field("conformsTo", kConformsTo, &block_);
  append_if_any("description", fields.description, &block_);
  append_if_any("isPartOf", fields.part_of, &block_);
  append_if_any("operator", fields.operator_name, &block_);
  append_if_any("http-header-from", fields.contact, &block_);
  append_if_any("hostname", fields.hostname, &block_);
  append_if_any("robots", fields.robots, &block_);
  append_if_any("http-header-user-agent", fields.user_agent, &block_);
  std::string record;
  end(kFieldsType, block_, {}, &record);
  return record;
}

}  // namespace meguri::archive
