// Site: what one host of the virtual web is like: its addresses, its language, its habits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/census.h"
#include "web/charset.h"

namespace meguri::sim {

using PageNumber = std::uint64_t;  // 0 is the home page

enum class Language : std::uint8_t { kEnglish, kJapanese, kGerman, kFrench, kSpanish, kRussian };

std::string_view code_of(Language language);  // "en"

// What its texts are written in.
struct Script {
  Language language = Language::kEnglish;
  web::Charset charset = web::Charset::kUtf8;
};

// How its pages are addressed.
enum class AddressStyle : std::uint8_t {
  kFolders,  // /garden/lake/stone-12.html
  kQuery,    // /item.php?id=12&cat=4
  kDated,    // /2019/07/stone-12/
  kFlat,     // /stone-12.html
};

// Where a page says which charset it is in.
enum class CharsetHint : std::uint8_t { kHeader, kMeta, kWrong, kNone };

// Which validators it sends, and whether they can be believed.
enum class Validators : std::uint8_t {
  kNone,
  kEtag,
  kLastModified,
  kBoth,
  kFickle,  // an ETag that is new at every access
  kStale,   // says 304 though the page has changed
};

enum class SitemapHabit : std::uint8_t { kNone, kPlain, kGzip };
enum class FeedHabit : std::uint8_t { kNone, kRss, kAtom };

// The shares of each are in the source. Values; const calls from any thread.
class Site {
 public:
  // The site whose pages `host` serves, its own or those of the host it mirrors.
  Site(const Census& census, HostNumber host);

  HostNumber host() const { return host_; }
  std::uint64_t pages() const { return pages_; }
  const Script& script() const { return script_; }
  Language language() const { return script_.language; }
  web::Charset charset() const { return script_.charset; }
  CharsetHint charset_hint() const { return charset_hint_; }
  AddressStyle style() const { return style_; }
  Validators validators() const { return validators_; }
  SitemapHabit sitemap() const { return sitemap_; }
  bool sitemap_has_dates() const { return sitemap_has_dates_; }
  bool sitemap_dates_are_right() const { return sitemap_dates_are_right_; }
  FeedHabit feed() const { return feed_; }
  bool validates_lists() const { return validates_lists_; }  // by ETags
  bool has_robots() const { return has_robots_; }
  bool can_gzip() const { return can_gzip_; }
  bool can_brotli() const { return can_brotli_; }
  bool is_http10() const { return is_http10_; }
  bool is_chunked() const { return is_chunked_; }
  bool closes() const { return closes_; }        // the connection after every answer
  bool says_gone() const { return says_gone_; }  // 410 for dead pages, not 404

  // Path and query of a page, and back; nullopt for what is no page's address.
  std::string address_of(PageNumber page) const;
  std::optional<PageNumber> page_of(std::string_view path_and_query) const;

  // A word of the site, for names and slugs: the same for the same number.
  static std::string_view word(std::uint64_t number);

 private:
  void set_lists(ListHabit lists);

  HostNumber host_;
  std::uint64_t seed_;
  std::uint64_t pages_;
  Script script_;
  CharsetHint charset_hint_ = CharsetHint::kHeader;
  AddressStyle style_ = AddressStyle::kFolders;
  Validators validators_ = Validators::kNone;
  SitemapHabit sitemap_ = SitemapHabit::kNone;
  FeedHabit feed_ = FeedHabit::kNone;
  bool sitemap_has_dates_ = false;
  bool sitemap_dates_are_right_ = false;
  bool validates_lists_ = false;
  bool has_robots_ = false;
  bool can_gzip_ = false;
  bool can_brotli_ = false;
  bool is_http10_ = false;
  bool is_chunked_ = false;
  bool closes_ = false;
  bool says_gone_ = false;
};

}  // namespace meguri::sim
