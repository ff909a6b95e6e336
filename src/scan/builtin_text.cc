// text: what there is to read in a document, as a line of JSON.
#include <array>
#include <string>

#include "scan/builtin_functions.h"
#include "scan/document_json.h"
#include "scan/document_page.h"

namespace meguri::scan {

base::Result<Analyse> make_text(Arguments arguments) {
  RETURN_IF_ERROR(expect_no_arguments("text", arguments));
  return [](const Document& document) -> base::Result<env::SpooledBytes> {
    static const std::array<std::string, 5> fields = {"url", "time", "title", "language", "text"};
    DocumentPage page(document);
    if (!page.is_text()) return env::SpooledBytes();
    return env::SpooledBytes(fields_line(document, page, fields));
  };
}

}  // namespace meguri::scan
