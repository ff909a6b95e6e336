#include "crawl/language_rule.h"

#include <algorithm>

#include "web/charset_detect.h"
#include "web/language.h"
#include "web/page_language.h"

namespace meguri::crawl {

namespace {

// A language that this much of a text is in is one of its languages.
constexpr int kPercentMin = 20;

// The language that nearly all documents in a charset are in; empty: there is no such.
std::string_view language_of(web::Charset charset) {
  using enum web::Charset;
  switch (charset) {
    case kShiftJis:
    case kEucJp:
    case kIso2022Jp: return "ja";
    case kEucKr: return "ko";
    case kGbk:
    case kGb18030: return "zh";
    case kBig5: return "zh-Hant";
    case kKoi8R: return "ru";
    case kKoi8U: return "uk";
    case kWindows874: return "th";
    case kIso8859_7:
    case kWindows1253: return "el";
    case kIso8859_8:
    case kIso8859_8I:
    case kWindows1255: return "iw";
    case kWindows1258: return "vi";
    default: return {};
  }
}

bool is_declared(web::CharsetSource source) {
  return source == web::CharsetSource::kHeader || source == web::CharsetSource::kMeta ||
         source == web::CharsetSource::kXmlDeclaration;
}

}  // namespace

bool LanguageRule::holds(std::string_view tag) const {
  const std::string found = web::plain_language_tag(tag);
  return std::ranges::any_of(languages_, [&](const std::string& language) {
    const std::string wanted = web::plain_language_tag(language);
    return found.starts_with(wanted) &&
           (found.size() == wanted.size() || found[wanted.size()] == '-');
  });
}

bool LanguageRule::is_known(std::string_view code) {
  return web::is_language_code(web::plain_language_tag(code));
}

// Content-Language may be a list.
bool LanguageRule::holds_one_of(std::string_view tags) const {
  while (true) {
    const std::size_t comma = tags.find(',');
    if (holds(tags.substr(0, comma))) return true;
    if (comma == tags.npos) return false;
    tags.remove_prefix(comma + 1);
  }
}

bool LanguageRule::is_foreign(const web::Page& page, std::string_view host) const {
  if (!is_on() || !web::is_for_people(page)) return false;
  const web::LanguageFinding finding =
      web::find_languages(page.main_text, web::language_hints_of(page, host));
  const bool is_found = std::ranges::any_of(finding.languages, [this](const auto& share) {
    return share.percent >= kPercentMin && holds(share.code);
  });
  if (is_found || finding.reliable) return !is_found;
  if (!page.declared_language.empty()) return !holds_one_of(page.declared_language);
  if (!is_declared(page.charset.source)) return false;
  const std::string_view language = language_of(page.charset.charset);
  return !language.empty() && !holds(language);
}

}  // namespace meguri::crawl
