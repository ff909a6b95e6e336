// WarcName: what our WARC files are called.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "archive/warc_record.h"
#include "base/time.h"

namespace meguri::archive {

// PREFIX-YYYYMMDDhhmmss-NNNNN-INSTANCE.warc.gz, or .warc. The files of one prefix and instance
// are in the order of time and serial number, and both only grow.
struct WarcName {
  std::string prefix;
  base::Instant time;  // whole seconds
  std::uint64_t serial = 0;
  std::string instance;  // who writes it: one of several writers or machines
  WarcCompression compression = WarcCompression::kGzip;

  std::string to_string() const;
  // Nullopt for what is not called like that. Never reads two names as one.
  static std::optional<WarcName> parse(std::string_view name);

  // Whether it comes after `other`, of the same prefix and instance.
  bool is_after(const WarcName& other) const;

  friend bool operator==(const WarcName&, const WarcName&) = default;
};

// One to 64 letters, digits, '_' and '.', and '-' where it is allowed; no '.' first.
bool is_name_part(std::string_view text, bool allows_hyphen);

}  // namespace meguri::archive
