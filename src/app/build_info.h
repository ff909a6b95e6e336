// What this program was built as.
#pragma once

#include <string>
#include <string_view>

namespace meguri::app {

std::string_view version();
std::string compiler();  // "GCC 12.2.0", "Clang 19.1.7"

}  // namespace meguri::app
