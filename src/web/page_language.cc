#include "web/page_language.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "web/ascii.h"

namespace meguri::web {

namespace {

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

}  // namespace

std::string plain_language_tag(std::string_view tag) {
  std::string lower = lower_copy(trim(tag));
  std::ranges::replace(lower, '_', '-');
  for (const auto& [other, code] : kOtherCodes) {
    const bool is_it =
        lower.starts_with(other) && (lower.size() == other.size() || lower[other.size()] == '-');
    if (is_it) return std::string(code);
  }
  return lower;
}

LanguageHints language_hints_of(const Page& page, std::string_view host) {
  return {.html_lang = page.declared_language,
          .top_level_domain = host.substr(host.rfind('.') + 1)};
}

bool is_for_people(const Page& page) {
  return page.format == PageFormat::kHtml || page.format == PageFormat::kText;
}

std::string main_language_of(const Page& page, std::string_view host) {
  if (!is_for_people(page)) return {};
  const std::string_view text = std::string_view(page.main_text).substr(0, kMainLanguageBytes);
  const LanguageFinding finding = find_languages(text, language_hints_of(page, host));
  if (!finding.languages.empty() && finding.reliable) return finding.languages.front().code;
  const std::string_view declared = page.declared_language;
  const std::string tag = plain_language_tag(declared.substr(0, declared.find_first_of(", ")));
  const std::string_view language = std::string_view(tag).substr(0, tag.find('-'));
  if (is_language_code(language)) return std::string(language);
  return finding.languages.empty() ? std::string() : finding.languages.front().code;
}

}  // namespace meguri::web
