#include "sat/store_position.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace meguri::sat {

namespace {

// A number with a space behind it; both are taken. False: there is none.
bool take_number(std::string_view& text, std::uint64_t& number) {
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || after == end || *after != ' ') return false;
  text.remove_prefix(static_cast<std::size_t>(after - text.data()) + 1);
  return true;
}

}  // namespace

base::Result<StorePosition> StorePosition::parse(std::string_view text) {
  std::string_view rest = text;
  StorePosition position;
  if (!take_number(rest, position.number) || !take_number(rest, position.log_size) ||
      position.number == 0) {
    return base::fail(base::ErrorCode::kCorrupt, "\"{}\" is no position of a store", text);
  }
  ASSIGN_OR_RETURN(position.layout, TimeLayout::decode(rest));
  return position;
}

std::string StorePosition::to_string() const {
  return fmt::format("{} {} {}", number, log_size, layout.encode());
}

}  // namespace meguri::sat
