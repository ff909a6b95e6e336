#pragma once
#include <string>
namespace meguri::web {
void append_utf8(char32_t code_point, std::string* out);
}
