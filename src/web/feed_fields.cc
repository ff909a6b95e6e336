#include "web/feed_fields.h"

#include <algorithm>
#include <array>
#include <span>

#include "web/ascii.h"

namespace meguri::web {
namespace {

struct FieldName {
  std::string_view name;
  FeedField field;
};

constexpr auto kCore = std::to_array<FieldName>({
    {"channel", FeedField::kChannel},
    {"item", FeedField::kEntry},
    {"entry", FeedField::kEntry},
    {"link", FeedField::kLink},
    {"guid", FeedField::kId},
    {"id", FeedField::kId},
    {"title", FeedField::kTitle},
    {"pubDate", FeedField::kPublished},
    {"published", FeedField::kPublished},
    {"issued", FeedField::kPublished},
    {"created", FeedField::kOtherPublished},
    {"date", FeedField::kOtherPublished},
    {"updated", FeedField::kUpdated},
    {"modified", FeedField::kUpdated},
    {"lastBuildDate", FeedField::kUpdated},
    {"enclosure", FeedField::kEnclosure},
    {"ttl", FeedField::kTtl},
    {"skipHours", FeedField::kSkip},
    {"skipDays", FeedField::kSkip},
    {"hour", FeedField::kHour},
    {"day", FeedField::kDay},
});

constexpr auto kDublinCore = std::to_array<FieldName>({
    {"title", FeedField::kOtherTitle},
    {"date", FeedField::kOtherPublished},
    {"created", FeedField::kOtherPublished},
    {"issued", FeedField::kOtherPublished},
    {"modified", FeedField::kUpdated},
});

constexpr auto kSyndication = std::to_array<FieldName>({
    {"updatePeriod", FeedField::kUpdatePeriod},
    {"updateFrequency", FeedField::kUpdateFrequency},
});

constexpr auto kMedia = std::to_array<FieldName>({{"content", FeedField::kMedia}});

FeedField find(std::span<const FieldName> names, std::string_view local) {
  const auto found = std::ranges::find_if(
      names, [local](const FieldName& known) { return equals_ignoring_case(known.name, local); });
  return found == names.end() ? FeedField::kNone : found->field;
}

}  // namespace

FeedField feed_field_of(const XmlName& name, std::string_view root_prefix) {
  const auto is = [&name](std::string_view space, std::string_view prefix) {
    return name.space.contains(space) || (name.space.empty() && name.prefix == prefix);
  };
  // Before the core, because the namespace of RSS 1.0 modules begins like its own.
  if (is("rss/1.0/modules/syndication", "sy")) return find(kSyndication, name.local);
  if (is("purl.org/dc/", "dc")) return find(kDublinCore, name.local);
  if (is("search.yahoo.com/mrss", "media")) return find(kMedia, name.local);
  const bool core =
      name.prefix.empty() || name.prefix == root_prefix || is("w3.org/2005/Atom", "atom") ||
      name.space.contains("purl.org/atom/ns") || name.space.ends_with("purl.org/rss/1.0/") ||
      name.space.contains("netscape.com/rdf") || name.space.contains("backend.userland.com");
  return core ? find(kCore, name.local) : FeedField::kNone;
}

}  // namespace meguri::web
