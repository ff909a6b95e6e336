// warc: documents written on as records of their own.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "archive/record_id.h"
#include "archive/warc_record.h"
#include "base/hash.h"
#include "scan/builtin_analysers.h"
#include "scan/builtin_functions.h"
#include "web/http_head.h"

namespace meguri::scan {

namespace {

using archive::RecordId;
using archive::Truncation;

constexpr std::string_view kEncoding = "Content-Encoding";
constexpr std::string_view kOriginalEncoding = "X-Archive-Orig-Content-Encoding";

// Makes records of documents. Equal documents make equal records, whichever worker makes them.
// Thread-compatible.
class DocumentRecords {
 public:
  explicit DocumentRecords(std::shared_ptr<ResultSpool> spool)
      : spool_(std::move(spool)), maker_({}, spool_->get()) {}

  base::Result<env::SpooledBytes> make(const Document& document) {
    ASSIGN_OR_RETURN(const archive::Digest digest, maker_.digest_of(document.content));
    const bool has_status = document.status >= 100 && document.status <= 999;
    return has_status ? response(document, digest) : resource(document, digest);
  }

 private:
  static archive::VisitFacts visit_of(const Document& document) {
    return {.target_uri = document.facts.url,
            .date = document.facts.time,
            .fetch_time = {},
            .ip_address = {},
            .via = {},
            .purpose = {},
            .language = document.facts.language,
            .is_fetched = false};
  }

  // Content that has its coding still is all that was stored.
  static Truncation truncation_of(const Document& document) {
    return document.cut.empty() || document.is_coded ? Truncation::kNone : Truncation::kUnspecified;
  }

  static RecordId id_of(const Document& document, const archive::Digest& digest,
                        std::string_view head) {
    return RecordId::from(base::Id::of(fmt::format(
        "{} {} {} {}", document.facts.url, document.facts.time.ms(), digest.to_string(), head)));
  }

  base::Result<env::SpooledBytes> response(const Document& document,
                                           const archive::Digest& digest) {
    web::HttpHead head = web::HttpHead::make_response(document.status, {});
    head.fields = document.fields;
    if (!document.is_coded) head.fields.rename(kEncoding, kOriginalEncoding);
    const archive::VisitIds ids{.first = id_of(document, digest, head.to_bytes()), .request = {}};
    ASSIGN_OR_RETURN(archive::MadeRecords made,
                     maker_.response({.visit = visit_of(document),
                                      .request_head = {},
                                      .head = head,
                                      .body = document.content,
                                      .payload_digest = digest,
                                      .truncation = truncation_of(document),
                                      .protocol = {}},
                                     ids));
    return std::move(made.bytes);
  }

  // Of what came without HTTP.
  base::Result<env::SpooledBytes> resource(const Document& document,
                                           const archive::Digest& digest) {
    return maker_.resource({.visit = visit_of(document),
                            .content_type = document.mime,
                            .body = document.content,
                            .payload_digest = digest,
                            .truncation = truncation_of(document)},
                           id_of(document, digest, {}));
  }

  const std::shared_ptr<ResultSpool> spool_;  // shared with the function that this is part of
  archive::RecordMaker maker_;
};

}  // namespace

base::Result<Analyse> make_warc(Arguments arguments, std::shared_ptr<ResultSpool> spool) {
  RETURN_IF_ERROR(expect_no_arguments("warc", arguments));
  // Shared by the copies of the function.
  auto records = std::make_shared<DocumentRecords>(std::move(spool));
  return
      [records = std::move(records)](const Document& document) { return records->make(document); };
}

std::string warc_front(const archive::WarcinfoFields& info, std::string_view file_name,
                       base::Instant date) {
  // Equal files have equal ids.
  const base::Id hash =
      base::Id::of(fmt::format("{} {} {}", file_name, info.description, date.ms()));
  return archive::RecordMaker().warcinfo(info, file_name, date, RecordId::from(hash));
}

}  // namespace meguri::scan
