#include "archive/page_front.h"

#include <optional>

#include "archive/body_reader.h"
#include "web/charset_detect.h"
#include "web/content_decoder.h"
#include "web/content_type.h"
#include "web/html_document.h"
#include "web/http_head.h"

namespace meguri::archive {

namespace {

// The first bytes of the body, without its codings.
base::Result<std::string> read_plain_front(WarcReader& reader, const web::ParsedHead& head) {
  const auto codings = web::parse_content_codings(head.head.fields.combined("Content-Encoding"));
  web::ContentDecoder decoder(codings, {.output_bytes_max = kPageFrontBytesMax});
  BodyReader body(reader, head);
  std::string front;
  while (decoder.outcome() == web::DecodeOutcome::kMore && front.size() < kPageFrontBytesMax) {
    ASSIGN_OR_RETURN(const BodyReader::Piece piece, body.read());
    if (piece.stored.empty()) break;
    decoder.feed(piece.plain.substr(0, kPageFrontBytesMax), &front);
  }
  if (front.size() > kPageFrontBytesMax) front.resize(kPageFrontBytesMax);
  return front;
}

}  // namespace

bool is_page(const IndexEntry& entry) {
  return entry.status == 200 &&
         (entry.mime == "text/html" || entry.mime == "application/xhtml+xml");
}

base::Result<PageFront> read_page_front(WarcReader& reader) {
  ASSIGN_OR_RETURN(const web::ParsedHead head, read_http_head(reader, web::HeadKind::kResponse));
  ASSIGN_OR_RETURN(const std::string bytes, read_plain_front(reader, head));
  const auto type = web::content_type_of(head.head.fields);
  const auto label = type ? type->charset() : std::nullopt;
  const web::CharsetFinding charset = web::find_charset(bytes, label, web::MarkupKind::kHtml);
  PageFront front;
  web::decode(bytes, charset.charset, &front.text);
  const web::HtmlDocument document = web::read_html(front.text, {.links_max = 0});
  front.title = document.view(document.title);
  return front;
}

}  // namespace meguri::archive
