// ContentType: MIME types as WHATWG's MIME Sniffing and Fetch standards read them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "web/field_list.h"
#include "web/http_text.h"

namespace meguri::web {

struct ContentType {
  std::string type;                        // lower-cased: "text"
  std::string subtype;                     // lower-cased: "html"
  std::vector<FieldParameter> parameters;  // names differ; at most kFieldParametersMax

  std::string essence() const { return type + '/' + subtype; }
  std::optional<std::string_view> parameter(std::string_view lower_case_name) const;
  // The label as sent; which charset it means is for charset.h to say.
  std::optional<std::string_view> charset() const { return parameter("charset"); }

  std::string to_string() const;  // text/html;charset=utf-8; read back it is the same

  friend bool operator==(const ContentType&, const ContentType&) = default;
};

// One MIME type, with parameters. Nullopt: it is none.
std::optional<ContentType> parse_content_type(std::string_view text);

// What the Content-Type fields of a message mean together: the last valid one counts, and inherits
// the charset of those before if it is of the same type (Fetch: "extract a MIME type").
std::optional<ContentType> content_type_of(const FieldList& fields);

}  // namespace meguri::web
