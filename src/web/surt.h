// SURT keys: the sort key of the archive's index, equal to what the `surt` package (0.3.1) makes,
// so that our index can be read with other archives' tools. Different pages may share a key; what
// identifies a page is its canonical URL (web/canonical.h). docs/formats/surt.md has every step.
#pragma once

#include <string>
#include <string_view>

#include "web/url.h"

namespace meguri::web {

// The key of a URL as found. An empty text gives "-"; what starts with "filedesc" stays as it is,
// and so does what the package refuses with an exception: nothing but spaces, a port that is not a
// number up to 65535, a host of more than 4,300 digits. Linear but for the sorting of the query.
std::string surt_key(std::string_view url);

// The same as surt_key(url.href()), faster.
std::string surt_key(const Url& url);

}  // namespace meguri::web
