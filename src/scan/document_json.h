// A document as JSON, as docs/formats/scan.md tells analysers: the header before its bytes, or a
// line with all that was asked for.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "scan/document.h"
#include "scan/document_page.h"

namespace meguri::scan {

// Fields of a line, where nobody chooses others.
std::vector<std::string> default_fields();

// kInvalid: one is none, or there is none; the sentence has all that there are.
base::Status check_fields(std::span<const std::string> fields);

// One object, with an end of line: what is known before the content is looked at.
std::string header_line(const Document& document);

// Whether a line with these fields needs the page's text (DocumentPage::Want::kText).
bool needs_text(const Document& document, std::span<const std::string> fields);

// Likewise, with these fields in their order. Requires that check_fields() is content.
std::string fields_line(const Document& document, DocumentPage& page,
                        std::span<const std::string> fields);

}  // namespace meguri::scan
