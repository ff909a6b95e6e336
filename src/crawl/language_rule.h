// LanguageRule: whether a page is in one of the languages whose pages are followed.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "web/page.h"

namespace meguri::crawl {

// Thread-compatible; const calls from any thread.
class LanguageRule {
 public:
  // Codes that is_known() knows. "zh" stands for "zh-Hant" too. None: no page is foreign.
  explicit LanguageRule(std::vector<std::string> languages) : languages_(std::move(languages)) {}

  bool is_on() const { return !languages_.empty(); }

  // Whether the page is in none of the languages. Where its text does not tell, because there is
  // little of it, its lang attribute or Content-Language does, else a declared charset that is
  // usual for one language only; and where nothing tells, it is not foreign. What is no document
  // for people (style sheets, sitemaps, feeds) never is. `page` was read with its text.
  bool is_foreign(const web::Page& page, std::string_view host) const;

  // Whether texts in the language of this code, such as "ja" or "zh-Hant", can be told.
  static bool is_known(std::string_view code);

  // Whether a language tag, as documents and detectors write it, is of one of the languages.
  bool holds(std::string_view tag) const;

 private:
  bool holds_one_of(std::string_view tags) const;

  const std::vector<std::string> languages_;
};

}  // namespace meguri::crawl
