// The addresses a style sheet or a style attribute needs: url(...) and @import.
#pragma once

#include <functional>
#include <string_view>

namespace meguri::web {

// Calls `found` for each, unescaped, in the order of the source; `is_import` for style sheets. What
// is passed dies with the call. data: addresses are left out. Linear.
void find_css_links(std::string_view css,
                    const std::function<void(std::string_view url, bool is_import)>& found);

}  // namespace meguri::web
