// ArcLine: the line before each document of an ARC file, which WARC came after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "archive/record_id.h"
#include "base/time.h"
#include "web/field_list.h"

namespace meguri::archive {

inline constexpr std::size_t kArcLineBytesMax = std::size_t{64} << 10U;

// "URL IP-address Archive-date Content-type Archive-length", or the ten words of version 2, of
// which the first four and the last are the same. The views are parts of the bytes it was read
// from.
struct ArcLine {
  std::string_view url;  // with the spaces that some left in it
  std::string_view ip_address;
  std::string_view date;  // 12 to 17 digits
  std::string_view mime;
  std::uint64_t length = 0;  // of the document
  std::size_t size = 0;      // of the line with its end

  bool is_version_block() const { return url.starts_with("filedesc:"); }
  std::optional<base::Instant> instant() const;
};

struct ArcStart {
  enum class State : std::uint8_t { kNone, kMore, kWhole };  // kMore: it may become one
  State state = State::kNone;
  ArcLine line = {};
};

// What the front of some bytes is.
ArcStart arc_line_at(std::string_view bytes);

// What a line tells, as the fields of a WARC record.
web::FieldList warc_fields_of(const ArcLine& line, const RecordId& id);

// Whether they begin with a scheme that most ARC records have, so that a line that is cut there is
// taken for one.
bool begins_with_arc_scheme(std::string_view bytes);

}  // namespace meguri::archive
