// RecordId: what names a WARC record in all archives of the world.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "env/random.h"

namespace meguri::archive {

// A random UUID (version 4), written <urn:uuid:01234567-89ab-4cde-8f01-23456789abcd>.
struct RecordId {
  std::array<std::uint8_t, 16> bytes{};

  static RecordId draw(env::Random& random);
  // With or without angle brackets. Nullopt for ids that are no UUIDs, which others may use.
  static std::optional<RecordId> parse(std::string_view text);

  std::string to_string() const;

  friend auto operator<=>(const RecordId&, const RecordId&) = default;
};

}  // namespace meguri::archive
