// The named character references of HTML.
#pragma once

#include <span>
#include <string_view>

namespace meguri::web {

struct Entity {
  std::string_view name;  // without the ampersand; with the semicolon, where one ends it
  char32_t first;
  char32_t second;  // 0: the reference stands for one character
};

// All of them, sorted by the bytes of their names.
std::span<const Entity> entity_table();

}  // namespace meguri::web
