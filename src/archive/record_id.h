// RecordId: what names a WARC record in all archives of the world.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "env/random.h"

namespace meguri::archive {

// A UUID, random (version 4) where we draw it, written
// <urn:uuid:01234567-89ab-4cde-8f01-23456789abcd>.
struct RecordId {
  std::array<std::uint8_t, 16> bytes{};

  static RecordId draw(env::Random& random);
  // The same for the same hash (version 8), for records that have none.
  static RecordId from(const base::Id& hash);
  // With or without angle brackets. Nullopt for ids that are no UUIDs, which others may use.
  static std::optional<RecordId> parse(std::string_view text);

  std::string to_string() const;

  friend auto operator<=>(const RecordId&, const RecordId&) = default;
};

}  // namespace meguri::archive
