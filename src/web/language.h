// Which language a text is in.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace meguri::web {

// More text than this does not make the answer better.
constexpr std::size_t kLanguageBytesMax = 64UL << 10;
constexpr std::size_t kLanguagesMax = 3;
// A hint is used up to this length.
constexpr std::size_t kLanguageHintBytesMax = 64;

// What else is known; empty where nothing is. They tip the balance between languages that are
// near to each other, and cannot outweigh a text that is clearly in another one.
struct LanguageHints {
  std::string_view content_language = {};  // the header, such as "ja" or "de-AT, en"
  std::string_view html_lang = {};         // the attribute of the root element
  std::string_view top_level_domain = {};  // such as "jp"
};

struct LanguageShare {
  std::string code;  // ISO 639 ("ja", "sr", "ceb"), with a script where it matters ("zh-Hant")
  int percent = 0;   // of the text, 1 to 100

  friend bool operator==(const LanguageShare&, const LanguageShare&) = default;
};

struct LanguageFinding {
  // The largest share first, at most kLanguagesMax; empty if the text shows no language.
  std::vector<LanguageShare> languages;
  // Whether the first is clearly ahead of all others. Short texts are seldom reliable.
  bool reliable = false;

  friend bool operator==(const LanguageFinding&, const LanguageFinding&) = default;
};

// Whether find_languages() may find a language by this code, such as "ja" or "zh-Hant"; any case.
bool is_language_code(std::string_view code);

// The languages of `text`, plain text in UTF-8 without markup; only its first kLanguageBytesMax
// bytes are read, and broken UTF-8 in them counts as U+FFFD. Linear time; any thread.
LanguageFinding find_languages(std::string_view text, const LanguageHints& hints = {});

}  // namespace meguri::web
