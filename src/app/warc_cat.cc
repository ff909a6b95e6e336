#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "app/values.h"
#include "app/warc_tools.h"
#include "app/warc_walk.h"
#include "archive/body_reader.h"
#include "archive/warc_reader.h"
#include "base/text.h"
#include "env/clock.h"
#include "env/posix_file_system.h"
#include "web/ascii.h"
#include "web/canonical.h"
#include "web/content_decoder.h"
#include "web/url.h"

namespace meguri::app {
namespace {

using archive::WarcReader;
using archive::WarcRecord;
using base::ErrorCode;
using Json = nlohmann::ordered_json;

// So little is decoded at a time that no coding makes much of it.
constexpr std::size_t kDecodeBytes = 256;

std::string canonical_of(std::string_view text) {
  auto url = web::Url::parse(text);
  return url ? web::canonical(*std::move(url)).href() : std::string(text);
}

// Records whose payload is what the URL had.
bool has_payload(const WarcRecord& record) {
  const std::string_view type = record.type();
  return web::equals_ignoring_case(type, "response") ||
         web::equals_ignoring_case(type, "resource") ||
         web::equals_ignoring_case(type, "conversion");
}

// The newest record of a URL up to a date; of equal dates the last.
base::Result<WarcPlace> find_url(const env::ReadableFile& file, const std::string& url,
                                 base::Instant until) {
  const std::string wanted = canonical_of(url);
  WarcReader reader(file);
  PlaceCounter places;
  std::optional<WarcPlace> best;
  base::Instant best_date;
  for (;;) {
    ASSIGN_OR_RETURN(const bool has_record, reader.next());
    if (!has_record) break;
    const WarcRecord& record = reader.record();
    const WarcPlace place = places.next(record);
    if (!has_payload(record)) continue;
    if (record.target_uri() != url && canonical_of(record.target_uri()) != wanted) continue;
    const base::Instant date =
        base::Instant::parse_rfc3339(record.get("WARC-Date")).value_or(base::Instant());
    if (date > until || (best && date < best_date)) continue;
    best = place;
    best_date = date;
  }
  if (best) return *best;
  return base::fail(ErrorCode::kNotFound, "there is no response of {} in it", base::quoted(url));
}

// Goes to the record at a place.
base::Status go_to(WarcReader& reader, WarcPlace place) {
  PlaceCounter places;
  for (;;) {
    ASSIGN_OR_RETURN(const bool has_record, reader.next());
    if (has_record && places.next(reader.record()) == place) return {};
    if (has_record && reader.record().offset == place.offset) continue;
    return base::fail(ErrorCode::kNotFound,
                      "no record begins at {}; 'meguri warc ls' says where they do",
                      place.to_string());
  }
}

std::string head_of(const WarcRecord& record) {
  std::string text = fmt::format("WARC/{}\r\n", record.version);
  record.fields.append_to(&text);
  return text + "\r\n";
}

base::Status write_record(WarcReader& reader, Output& out) {
  out.write(head_of(reader.record()));
  while (!out.is_broken()) {
    ASSIGN_OR_RETURN(const std::string_view piece, reader.read_block());
    if (piece.empty()) break;
    out.write(piece);
  }
  out.write("\r\n\r\n");
  return {};
}

// Writes a body with its content coding undone.
class DecodedOutput {
 public:
  DecodedOutput(std::string_view content_encoding, Output& out)
      : decoder_(web::parse_content_codings(content_encoding), kNoLimits), out_(out) {}

  base::Status write(std::string_view bytes) {
    while (!bytes.empty() && decoder_.outcome() == web::DecodeOutcome::kMore) {
      decoded_.clear();
      decoder_.feed(bytes.substr(0, kDecodeBytes), &decoded_);
      out_.write(decoded_);
      bytes.remove_prefix(std::min(kDecodeBytes, bytes.size()));
    }
    return judge();
  }

  base::Status finish() {
    decoder_.finish();
    return judge();
  }

 private:
  static constexpr web::DecodeLimits kNoLimits = {
      .output_bytes_max = std::numeric_limits<std::uint64_t>::max(),
      .ratio_max = std::numeric_limits<std::uint32_t>::max()};

  base::Status judge() const {
    const web::DecodeOutcome outcome = decoder_.outcome();
    if (outcome == web::DecodeOutcome::kMore || outcome == web::DecodeOutcome::kComplete) return {};
    const std::string reason = decoder_.reason();
    return base::fail(ErrorCode::kCorrupt, "its content coding cannot be undone: {}",
                      reason.empty() ? name_of(outcome) : std::string_view(reason));
  }

  web::ContentDecoder decoder_;
  Output& out_;
  std::string decoded_;
};

base::Status write_body(WarcReader& reader, const std::optional<web::ParsedHead>& head,
                        bool decodes, Output& out) {
  archive::BodyReader body =
      head ? archive::BodyReader(reader, *head) : archive::BodyReader(reader);
  std::optional<DecodedOutput> decoded;
  if (decodes && head) decoded.emplace(head->head.fields.combined("Content-Encoding"), out);
  while (!out.is_broken()) {
    ASSIGN_OR_RETURN(const archive::BodyReader::Piece piece, body.read());
    if (piece.stored.empty()) break;
    if (decoded) {
      RETURN_IF_ERROR(decoded->write(piece.plain));
    } else {
      out.write(piece.plain);
    }
  }
  if (decoded) RETURN_IF_ERROR(decoded->finish());
  if (body.is_chunked() && !out.is_broken() && body.chunks() != web::ChunkedState::kComplete) {
    return base::fail(ErrorCode::kCorrupt, "its chunks are broken: {}", name_of(body.chunks()));
  }
  return {};
}

base::Status print_json(WarcReader& reader, WarcPlace place, const std::string& path, Output& out) {
  ASSIGN_OR_RETURN(const archive::Examination found, archive::examine(reader));
  Json json = json_of({.place = place, .record = reader.record(), .found = found}, path);
  Json fields = Json::array();
  for (const web::HttpField& field : reader.record().fields.fields()) {
    if (!field.name.empty()) fields.push_back({field.name, field.value});
  }
  json["fields"] = std::move(fields);
  out.print("{}\n", json.dump(-1, ' ', false, Json::error_handler_t::replace));
  return {};
}

}  // namespace

void WarcCat::declare(Options options) {
  options.argument("FILE", path_, "A WARC or ARC file: plain, gzip or zstd");
  options.any_arguments("OFFSET", place_, "Where the record begins, as 'meguri warc ls' says it");
  options.option("--url", "URL", url_, "The newest response of this URL, instead of an offset");
  options.option("--date", "TIME", date_, "With --url: the newest that is not newer than this");
  options.flag("--record", record_, "The whole record: its header, block and end");
  options.flag("--head", head_, "The HTTP head alone");
  options.flag("--decode", decode_, "The body without its content coding: gzip, br and so on");
  options.flag("--json", json_, "Print what is known of the record as one JSON object instead");
}

base::Status WarcCat::run(Output& out) {
  if (place_.size() != (url_.empty() ? 1 : 0)) {
    return base::fail(ErrorCode::kInvalid, "name one record, by its OFFSET or by --url");
  }
  if (!date_.empty() && url_.empty()) {
    return base::fail(ErrorCode::kInvalid, "--date goes with --url");
  }
  if (int{record_} + int{head_} + int{decode_} + int{json_} > 1) {
    return base::fail(ErrorCode::kInvalid, "choose one of --record, --head, --decode and --json");
  }
  env::PosixFileSystem files;
  base::Instant until = base::Instant::max();
  if (!date_.empty()) {
    const env::RealClock clock;
    ASSIGN_OR_RETURN(until, parse_time("--date", date_, clock.utc()));
  }
  std::optional<WarcPlace> place;
  if (url_.empty()) {
    place = WarcPlace::parse(place_.front());
    if (!place) {
      return base::fail(ErrorCode::kInvalid, "OFFSET takes a number, not {}",
                        base::quoted(place_.front()));
    }
  }
  ASSIGN_OR_RETURN(const auto file, open_warc(files, path_));
  if (!place) {
    auto found = find_url(*file, url_, until);
    if (!found) return std::unexpected(found.error().with_context(path_));
    place = *found;
  }
  WarcReader reader(*file, place->offset, {.skips_damage = false});
  base::Status status = go_to(reader, *place);
  if (status) status = write(reader, *place, out);
  if (!status) return std::unexpected(status.error().with_context(path_));
  return {};
}

base::Status WarcCat::write(archive::WarcReader& reader, WarcPlace place, Output& out) const {
  if (json_) return print_json(reader, place, path_, out);
  if (record_) {
    RETURN_IF_ERROR(write_record(reader, out));
  } else {
    std::optional<web::ParsedHead> head;
    if (const auto kind = archive::http_kind_of(reader.record())) {
      ASSIGN_OR_RETURN(head, archive::read_http_head(reader, *kind));
    }
    if (head_ && (!head || head->state == web::HeadState::kNotHttp)) {
      return base::fail(ErrorCode::kNotFound, "the record has no HTTP head");
    }
    if (head_) {
      out.write(head->head.to_bytes());
    } else {
      RETURN_IF_ERROR(write_body(reader, head, decode_, out));
    }
  }
  if (out.is_broken()) return {};
  RETURN_IF_ERROR(reader.finish());
  if (reader.record().faults.is_whole()) return {};
  return base::fail(ErrorCode::kCorrupt, "the record is not whole: {}",
                    reader.record().faults.to_string());
}

}  // namespace meguri::app
