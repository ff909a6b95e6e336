// Reads any bytes as a sitemap. Limits must hold, entries be whole, and a second reading equal.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "web/ascii.h"
#include "web/sitemap.h"

namespace {

using namespace meguri::web;

void check_url(std::string_view url) {
  CHECK(!url.empty() && url.size() <= kSitemapUrlBytesMax);
  CHECK(trim(url) == url, "not trimmed");
}

void check_entry(const SitemapEntry& entry) {
  check_url(entry.loc);
  CHECK(entry.lastmod.size() <= kSitemapFieldBytesMax);
  CHECK(entry.publication_date.size() <= kSitemapFieldBytesMax);
  CHECK(!entry.priority || (*entry.priority >= 0 && *entry.priority <= 1));
  CHECK(entry.images.size() + entry.videos.size() + entry.alternates.size() <= kSitemapExtrasMax);
  for (const std::string& url : entry.images) check_url(url);
  for (const std::string& url : entry.videos) check_url(url);
  for (const SitemapAlternate& alternate : entry.alternates) check_url(alternate.href);
}

bool is_sitemap(DocumentKind kind) {
  return kind == DocumentKind::kSitemap || kind == DocumentKind::kSitemapIndex ||
         kind == DocumentKind::kTextSitemap;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Sitemap sitemap = parse_sitemap(bytes);
  CHECK(sitemap.entries.size() == sitemap.report.entries);
  CHECK(sitemap.entries.size() <= kSitemapUrlsMax);
  CHECK(sitemap.entries.empty() || is_sitemap(sitemap.report.kind));
  for (const SitemapEntry& entry : sitemap.entries) check_entry(entry);

  // Every URL came from the bytes, so nothing can be longer than they are by much.
  std::size_t total = 0;
  for (const SitemapEntry& entry : sitemap.entries) total += entry.loc.size();
  CHECK(total <= size * 3);

  // What is closed properly keeps its entries when more follows.
  if (sitemap.report.end == XmlEnd::kComplete && sitemap.report.kind == DocumentKind::kSitemap) {
    const Sitemap longer = parse_sitemap(std::string(bytes) + "  ");
    CHECK(longer.entries.size() == sitemap.entries.size());
  }
  return 0;
}
