// Figures: numbers as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace meguri::app {

std::string grouped(std::uint64_t number);    // "1,234,567"
std::string bytes_text(std::uint64_t bytes);  // "999 B", "12.3 kB", "4.5 GB"; powers of ten
std::string rate_text(double per_second);     // "0.3", "12.4", "1,234": three digits or more
// "1 host", "12 hosts": the second word where the number is not one.
std::string counted(std::uint64_t number, std::string_view one, std::string_view many);

}  // namespace meguri::app
