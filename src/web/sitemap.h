// Sitemaps: XML, indexes of them, and plain lists of URLs, with the extensions for images, videos,
// news and translations. Dates and URLs are text as it was written, trimmed; callers resolve and
// convert. Compressed bytes must be decoded before (is_gzip() of document_kind.h tells).
// Pure; any thread; linear time.
//
// Tolerated: no, wrong or prefixed namespaces; white space in elements; a URL directly in <sitemap>
// or <url>; a document that breaks off (entries before that are given, and the broken one if its
// <loc> was whole). See xml_reader.h for the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "web/document_kind.h"
#include "web/xml_reader.h"

namespace meguri::web {

inline constexpr std::size_t kSitemapUrlsMax = 50'000;    // reading ends there
inline constexpr std::size_t kSitemapUrlBytesMax = 4096;  // an entry with a longer <loc> is skipped
inline constexpr std::size_t kSitemapExtrasMax = 1000;    // images, videos, ... of one entry
inline constexpr std::size_t kSitemapFieldBytesMax =
    100;  // dates and such; longer ones are dropped

enum class ChangeFrequency : std::uint8_t {
  kAlways,
  kHourly,
  kDaily,
  kWeekly,
  kMonthly,
  kYearly,
  kNever,
};

struct SitemapAlternate {
  std::string hreflang;
  std::string href;

  friend bool operator==(const SitemapAlternate&, const SitemapAlternate&) = default;
};

struct SitemapEntry {
  std::string loc;
  std::string lastmod;           // empty: none
  std::string publication_date;  // of the news extension; empty: none
  std::optional<ChangeFrequency> change_frequency;
  std::optional<double> priority;            // 0..1
  std::vector<std::string> images;           // image:loc
  std::vector<std::string> videos;           // video:content_loc, video:player_loc
  std::vector<SitemapAlternate> alternates;  // xhtml:link rel="alternate"
};

// What is said of a document as a whole.
struct SitemapReport {
  DocumentKind kind = DocumentKind::kOther;  // not a sitemap: nothing was read
  XmlEnd end = XmlEnd::kComplete;            // kTooLarge: kXmlBytesMax, in plain text too
  std::size_t entries = 0;
  std::size_t skipped = 0;  // entries without a usable URL
  bool urls_cut = false;    // there are more than kSitemapUrlsMax
};

// Gives the entries one by one, of a sitemap or of an index. The callback must not throw.
SitemapReport read_sitemap(std::string_view bytes,
                           const std::function<void(SitemapEntry&&)>& on_entry);

struct Sitemap {
  SitemapReport report;
  std::vector<SitemapEntry> entries;
};

Sitemap parse_sitemap(std::string_view bytes);

}  // namespace meguri::web
