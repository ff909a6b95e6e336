#include "archive/record_entry.h"

#include <limits>

#include "archive/body_reader.h"
#include "base/hash.h"
#include "base/time.h"
#include "web/ascii.h"
#include "web/content_type.h"
#include "web/redirect.h"

namespace meguri::archive {

namespace {

constexpr std::size_t kMimeBytesMax = 128;
constexpr std::size_t kLanguageBytesMax = 16;

enum class Type : std::uint8_t { kNone, kResponse, kRevisit, kResource, kFailure };

Type type_of(const WarcRecord& record) {
  const auto is = [type = record.type()](std::string_view name) {
    return web::equals_ignoring_case(type, name);
  };
  if (is("response")) return Type::kResponse;
  if (is("revisit")) return Type::kRevisit;
  if (is("resource")) return Type::kResource;
  const bool is_ours = is("metadata") && record.fields.has("X-Meguri-Fetch-Ms");
  return is_ours ? Type::kFailure : Type::kNone;
}

std::string mime_of(const web::FieldList& fields) {
  const auto type = web::content_type_of(fields);
  if (!type) return {};
  std::string essence = type->essence();
  if (essence.size() > kMimeBytesMax) return {};
  return essence;
}

// The first of several: "eng,deu" of Common Crawl.
std::string language_of(const WarcRecord& record) {
  std::string_view said = record.get("WARC-Identified-Content-Language");
  said = said.substr(0, said.find_first_of(", ;"));
  return said.size() <= kLanguageBytesMax ? std::string(said) : std::string();
}

EntryKind kind_of(const web::HttpHead& head) {
  const int status = head.status;
  if (status >= 200 && status < 300) return EntryKind::kChanged;
  if (status == 404 || status == 410) return EntryKind::kGone;
  if (status == 304) return EntryKind::kUnchanged;
  return web::redirect_target(head) ? EntryKind::kChanged : EntryKind::kError;
}

// The digest of what follows, without its chunks.
base::Result<std::string> digest_rest(BodyReader& body, Sha1& sha1) {
  for (;;) {
    const auto piece = body.read();
    if (!piece || piece->stored.empty()) {
      const Digest digest = sha1.finish();
      RETURN_IF_ERROR(piece);
      return digest.to_string();
    }
    sha1.update(piece->plain);
  }
}

bool is_cut(const WarcRecord& record) {
  return record.fields.has("WARC-Truncated") || record.fields.has("WARC-Segment-Number");
}

// A revisit of another page's record is content of its own, which happens to be there already: what
// the page had before says nothing of it.
void describe_revisit(const WarcRecord& record, const web::ParsedHead* head, IndexEntry& entry) {
  const bool is_not_modified = record.get("WARC-Profile").ends_with("/server-not-modified");
  const auto original_date = base::Instant::parse_rfc3339(record.get("WARC-Refers-To-Date"));
  std::string_view original = record.get("WARC-Refers-To-Target-URI");
  if (original.starts_with('<') && original.ends_with('>')) {
    original = original.substr(1, original.size() - 2);
  }
  std::optional<EntryOriginal> elsewhere;
  if (original_date && !original.empty() && original != entry.url) {
    elsewhere = EntryOriginal{.url = std::string(original), .date = *original_date};
  }
  if (head != nullptr) describe_answer(head->head, entry);
  entry.is_not_modified = entry.is_not_modified || is_not_modified;
  if (entry.status == 0 && entry.is_not_modified) entry.status = 304;
  const bool is_own = !elsewhere || entry.is_not_modified;
  entry.kind = is_own ? EntryKind::kUnchanged : EntryKind::kChanged;
  entry.original = std::move(elsewhere);
}

}  // namespace

void describe_answer(const web::HttpHead& head, IndexEntry& entry) {
  const bool is_status = head.status > 0 && head.status <= 999;
  entry.status = is_status ? static_cast<std::uint16_t>(head.status) : 0;
  entry.mime = mime_of(head.fields);
  entry.kind = kind_of(head);
  entry.is_not_modified = entry.kind == EntryKind::kUnchanged;
  if (const auto target = web::redirect_target(head)) {
    const auto hash = static_cast<std::uint32_t>(base::hash64(*target));
    entry.target = hash == 0 ? 1 : hash;
  }
}

std::string entry_digest_of(std::string_view said) {
  if (Digest::is_as_written(said)) return std::string(said);
  const auto sha1 = Digest::parse(said);
  return sha1 ? sha1->to_string() : std::string(said);
}

std::optional<IndexEntry> entry_of(const WarcRecord& record, const web::ParsedHead* head) {
  const Type type = type_of(record);
  const auto date = base::Instant::parse_rfc3339(record.get("WARC-Date"));
  if (type == Type::kNone || !date || record.target_uri().empty()) return std::nullopt;
  IndexEntry entry;
  entry.url = record.target_uri();
  entry.date = *date;
  entry.counts = record.get("X-Meguri-Counts") != "no";
  entry.language = language_of(record);
  entry.digest = entry_digest_of(record.get("WARC-Payload-Digest"));
  entry.place.offset = record.offset;
  switch (type) {
    case Type::kResponse:
    case Type::kResource:
      entry.is_cut = is_cut(record);
      if (type == Type::kResponse && head != nullptr) {
        describe_answer(head->head, entry);
      } else {
        entry.mime = mime_of(record.fields);  // also of DNS and the like
      }
      break;
    case Type::kRevisit: describe_revisit(record, head, entry); break;
    case Type::kFailure:
      entry.kind = EntryKind::kError;
      entry.digest.clear();
      break;
    case Type::kNone: break;
  }
  return entry;
}

bool takes_payload_digest(const WarcRecord& record, const IndexEntry& entry) {
  const Type type = type_of(record);
  return entry.digest.empty() && (type == Type::kResponse || type == Type::kResource);
}

base::Result<std::optional<IndexEntry>> EntryReader::read(WarcReader& reader) {
  const WarcRecord& record = reader.record();
  if (type_of(record) == Type::kNone) return std::nullopt;
  std::optional<web::ParsedHead> head;
  if (const auto kind = http_kind_of(record)) {
    ASSIGN_OR_RETURN(head, read_http_head(reader, *kind));
  }
  auto entry = entry_of(record, head ? &*head : nullptr);
  if (!entry || !takes_payload_digest(record, *entry)) return entry;
  BodyReader body = head ? BodyReader(reader, *head) : BodyReader(reader);
  ASSIGN_OR_RETURN(entry->digest, digest_rest(body, sha1_));
  return entry;
}

}  // namespace meguri::archive
