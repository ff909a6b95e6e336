// The fields of a URL: its path segments and query values, each in its lexical form. For
// url_template.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "web/url.h"

namespace meguri::web {

struct UrlField {
  std::string before;     // what stands between the field before and this one: "/", "?page=", "&q="
  std::string form;       // its text with parameters replaced
  std::string extension;  // ".html", for the last segment; at the end of `form` too
};

// At most kTemplateFieldsMax fields, and one more for the rest.
std::vector<UrlField> fields_of(const Url& url);

// What two URLs must share before their fields are compared.
std::uint64_t shape_of(const std::vector<UrlField>& fields);

}  // namespace meguri::web
