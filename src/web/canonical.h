// The canonical form of a URL: what identifies a page.
#pragma once

#include "web/url.h"

namespace meguri::web {

// The form under which we know a page. It is a URL itself, parses to itself, and is its own
// canonical form. For http and https: no fragment, no empty query, no user name and password (we
// never send them), no dot at the end of the host, escapes with upper-case digits, and escapes of
// letters, digits and "-._~" replaced by what they stand for. Of other schemes only the fragment
// goes. Nothing is done that could join two pages: no sorting, no case folding of paths, no
// removal of parameters. docs/formats/url.md has the rules with their reasons.
Url canonical(const Url& url);
Url canonical(Url&& url);  // without a copy, for the most that are canonical already

}  // namespace meguri::web
