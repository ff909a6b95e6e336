#include "app/document.h"

#include <utility>

#include "web/content_decoder.h"
#include "web/document_kind.h"
#include "web/http_chunked.h"
#include "web/http_framing.h"
#include "web/http_head.h"

namespace meguri::app {
namespace {

// Undoes the content coding where that can be done.
void decode(std::string bytes, Document& document) {
  std::string coding = document.fields.combined("Content-Encoding");
  if (coding.empty() && web::is_gzip(bytes)) coding = "gzip";
  web::DecodedContent decoded = web::decode_content(bytes, coding);
  if (decoded.outcome == web::DecodeOutcome::kComplete) {
    document.body = std::move(decoded.bytes);
  } else if (web::is_gzip(bytes)) {
    document.remarks.push_back("the body cannot be decoded whole: " +
                               std::string(web::name_of(decoded.outcome)));
    document.body = std::move(decoded.bytes);
  } else {
    document.body = std::move(bytes);
  }
}

}  // namespace

Document document_of(std::string bytes) {
  Document document;
  if (bytes.starts_with("HTTP/")) {
    const web::ParsedHead head = web::parse_head(web::HeadKind::kResponse, bytes);
    if (head.state == web::HeadState::kComplete) {
      document.fields = head.head.fields;
      document.status = head.head.status;
      bytes.erase(0, head.size);
      if (web::response_framing(head.head, "GET").end == web::BodyEnd::kChunked) {
        web::ChunkedDecoder decoder;
        std::string decoded;
        decoder.feed(bytes, &decoded);
        if (decoder.finish() == web::ChunkedState::kComplete) bytes = std::move(decoded);
      }
    }
  }
  decode(std::move(bytes), document);
  return document;
}

Document document_of(std::string_view head, const std::string& body) {
  const web::ParsedHead parsed = web::parse_head(web::HeadKind::kResponse, head);
  Document document;
  document.fields = parsed.head.fields;
  document.status = parsed.head.status;
  decode(body, document);
  return document;
}

}  // namespace meguri::app
