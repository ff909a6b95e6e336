#include "crawl/language_rule.h"

#include <algorithm>
#include <array>
#include <utility>

#include "web/ascii.h"
#include "web/charset_detect.h"
#include "web/language.h"

namespace meguri::crawl {

namespace {

// A language that this much of a text is in is one of its languages.
constexpr int kPercentMin = 20;
// What a page begins with tells its main language as well as all of it, for less.
constexpr std::size_t kMainLanguageBytes = 4096;

// Codes that have gone out of use or are another's, and what they are called here.
constexpr auto kOtherCodes = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"he", "iw"},
    {"in", "id"},
    {"ji", "yi"},
    {"jv", "jw"},
    {"nb", "no"},
    {"fil", "tl"},
    {"zh-tw", "zh-hant"},
    {"zh-hk", "zh-hant"},
    {"zh-mo", "zh-hant"},
});

std::string plain_tag(std::string_view tag) {
  std::string lower = web::lower_copy(web::trim(tag));
  std::ranges::replace(lower, '_', '-');
  for (const auto& [other, code] : kOtherCodes) {
    const bool is_it =
        lower.starts_with(other) && (lower.size() == other.size() || lower[other.size()] == '-');
    if (is_it) return std::string(code);
  }
  return lower;
}

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

bool is_for_people(const web::Page& page) {
  return page.format == web::PageFormat::kHtml || page.format == web::PageFormat::kText;
}

web::LanguageHints hints_of(const web::Page& page, std::string_view host) {
  return {.html_lang = page.declared_language,
          .top_level_domain = host.substr(host.rfind('.') + 1)};
}

}  // namespace

bool LanguageRule::holds(std::string_view tag) const {
  const std::string found = plain_tag(tag);
  return std::ranges::any_of(languages_, [&](const std::string& language) {
    const std::string wanted = plain_tag(language);
    return found.starts_with(wanted) &&
           (found.size() == wanted.size() || found[wanted.size()] == '-');
  });
}

bool LanguageRule::is_known(std::string_view code) {
  return web::is_language_code(plain_tag(code));
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
  if (!is_on() || !is_for_people(page)) return false;
  const web::LanguageFinding finding = web::find_languages(page.main_text, hints_of(page, host));
  const bool is_found = std::ranges::any_of(finding.languages, [this](const auto& share) {
    return share.percent >= kPercentMin && holds(share.code);
  });
  if (is_found || finding.reliable) return !is_found;
  if (!page.declared_language.empty()) return !holds_one_of(page.declared_language);
  if (!is_declared(page.charset.source)) return false;
  const std::string_view language = language_of(page.charset.charset);
  return !language.empty() && !holds(language);
}

std::string main_language_of(const web::Page& page, std::string_view host) {
  if (!is_for_people(page)) return {};
  const std::string_view text = std::string_view(page.main_text).substr(0, kMainLanguageBytes);
  const web::LanguageFinding finding = web::find_languages(text, hints_of(page, host));
  if (!finding.languages.empty() && finding.reliable) return finding.languages.front().code;
  const std::string_view declared = page.declared_language;
  const std::string tag = plain_tag(declared.substr(0, declared.find_first_of(", ")));
  const std::string_view language = std::string_view(tag).substr(0, tag.find('-'));
  if (web::is_language_code(language)) return std::string(language);
  return finding.languages.empty() ? std::string() : finding.languages.front().code;
}

}  // namespace meguri::crawl
