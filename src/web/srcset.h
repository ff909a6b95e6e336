// The addresses of a srcset attribute.
#pragma once

#include <functional>
#include <string_view>

namespace meguri::web {

// Calls `found` for each candidate's address, as the standard splits them (a comma may be part of
// an address; descriptors may hold commas in parentheses). Linear.
void find_srcset_urls(std::string_view srcset, const std::function<void(std::string_view)>& found);

}  // namespace meguri::web
