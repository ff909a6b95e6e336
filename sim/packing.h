// Packing: content codings as a server applies them, fast rather than small.
#pragma once

#include <string>
#include <string_view>

namespace meguri::sim {

std::string gzip_of(std::string_view bytes);
std::string brotli_of(std::string_view bytes);

}  // namespace meguri::sim
