#include "archive/content_text.h"

#include <algorithm>
#include <utility>

#include "archive/body_reader.h"
#include "web/content_decoder.h"
#include "web/http_head.h"
#include "web/page.h"
#include "web/url.h"

namespace meguri::archive {

namespace {

// Decoded at a time, so that a bomb takes no more than its bound.
constexpr std::size_t kFeedBytes = std::size_t{64} << 10U;

// The body without its codings, up to the limit.
base::Result<std::string> read_plain(WarcReader& reader, BodyReader& body,
                                     const web::FieldList& fields) {
  const auto codings = web::parse_content_codings(fields.combined("Content-Encoding"));
  web::ContentDecoder decoder(codings, {.output_bytes_max = kContentTextBytesMax});
  std::string plain;
  while (decoder.outcome() == web::DecodeOutcome::kMore) {
    ASSIGN_OR_RETURN(const BodyReader::Piece piece, body.read());
    if (piece.stored.empty()) {
      RETURN_IF_ERROR(reader.finish());
      break;
    }
    std::string_view rest = piece.plain;
    while (!rest.empty() &&
           decoder.feed(rest.substr(0, kFeedBytes), &plain) == web::DecodeOutcome::kMore) {
      rest.remove_prefix(std::min(rest.size(), kFeedBytes));
    }
  }
  if (!reader.record().faults.is_whole()) {
    return base::fail(base::ErrorCode::kCorrupt, "the record is damaged");
  }
  return plain;
}

}  // namespace

base::Result<std::optional<std::string>> read_content_text(WarcReader& reader) {
  web::FieldList fields;
  std::string plain;
  const auto url = web::Url::parse(reader.record().target_uri());
  if (http_kind_of(reader.record())) {
    ASSIGN_OR_RETURN(const web::ParsedHead head, read_http_head(reader, web::HeadKind::kResponse));
    fields = head.head.fields;
    BodyReader body(reader, head);
    ASSIGN_OR_RETURN(plain, read_plain(reader, body, fields));
  } else {
    fields.add("Content-Type", std::string(reader.record().get("Content-Type")));
    BodyReader body(reader);
    ASSIGN_OR_RETURN(plain, read_plain(reader, body, fields));
  }
  web::PageContext context;
  context.url = url ? &*url : nullptr;
  context.fields = &fields;
  context.want_text = true;
  web::Page page = web::read_page(plain, context);
  if (page.format == web::PageFormat::kBinary) return std::nullopt;
  return std::move(page.main_text);
}

}  // namespace meguri::archive
