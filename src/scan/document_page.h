// DocumentPage: what a document says to its readers: title, text, links, language.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "scan/document.h"
#include "web/page.h"
#include "web/url.h"

namespace meguri::scan {

// Reads a document when it is first asked, and once. Of a large one the front counts, and of one
// that cannot be read from disk nothing. The document outlives it. Thread-compatible.
class DocumentPage {
 public:
  static constexpr std::size_t kBytesMax = 10'000'000;  // of the content

  // Of a page, its text is what costs most.
  enum class Want : std::uint8_t { kLinks, kText };

  // kLinks: the page has no main text, and its language is known only where the index has it.
  explicit DocumentPage(const Document& document, Want want = Want::kText)
      : document_(document), want_(want) {}

  // With its text, if it is wanted, and links made absolute. Lives as long as this.
  const web::Page& page();
  // Whether it is no picture, film or the like.
  bool is_text() { return page().format != web::PageFormat::kBinary; }
  // That the index has, else what the page tells: "ja". Empty: nobody knows.
  std::string language();
  // "www.example.com", without port; empty: the document has no URL with one.
  std::string_view host();

 private:
  const web::Url* url();

  const Document& document_;
  const Want want_;
  std::optional<web::Page> page_;
  std::optional<std::optional<web::Url>> url_;
};

}  // namespace meguri::scan
