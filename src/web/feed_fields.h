// Which field of a feed an element is, in all formats at once. Used by parse_feed().
#pragma once

#include <cstdint>
#include <string_view>

#include "web/xml_reader.h"

namespace meguri::web {

enum class FeedField : std::uint8_t {
  kNone,
  kChannel,
  kEntry,
  kLink,
  kId,
  kTitle,
  kOtherTitle,  // counts where there is no kTitle
  kPublished,
  kOtherPublished,  // counts where there is no kPublished
  kUpdated,
  kEnclosure,
  kMedia,  // media:content, at any depth in an entry
  kTtl,
  kUpdatePeriod,
  kUpdateFrequency,
  kSkip,
  kHour,
  kDay,
};

// Elements without a prefix, with that of the root, or of a namespace of RSS or Atom are of the
// core; of others only Dublin Core, Syndication and Media are known.
FeedField feed_field_of(const XmlName& name, std::string_view root_prefix);

}  // namespace meguri::web
