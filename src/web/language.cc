#include "web/language.h"

#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>

#include <algorithm>
#include <array>

#include "web/ascii.h"
#include "web/utf8.h"

namespace meguri::web {
namespace {

// cld2 reads words of several bytes at once: what it may read behind the text is ours.
constexpr std::size_t kPadding = 32;

// Code points that are no text for cld2: it stops at controls and at noncharacters.
bool is_unreadable(char32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0) ||
         (code_point >= 0xFDD0 && code_point <= 0xFDEF) || (code_point & 0xFFFE) == 0xFFFE;
}

// The value of the well-formed sequence `bytes`.
char32_t value_of(std::string_view bytes) {
  const auto lead = static_cast<unsigned char>(bytes[0]);
  if (bytes.size() == 1) return lead;
  char32_t value = lead & (0x7FU >> bytes.size());
  for (const char byte : bytes.substr(1)) {
    value = value << 6 | (static_cast<unsigned char>(byte) & 0x3FU);
  }
  return value;
}

// The start of `text` as valid UTF-8 with spaces for what cld2 cannot read.
std::string readable_start(std::string_view text) {
  text = text.substr(0, kLanguageBytesMax);
  std::string readable;
  readable.reserve(text.size() + kPadding);
  while (!text.empty()) {
    const Utf8Front front = utf8_front(text);
    const std::string_view sequence = text.substr(0, front.length);
    if (front.kind == Utf8Front::Kind::kWhole) {
      readable.append(is_unreadable(value_of(sequence)) ? " " : sequence);
    } else if (front.kind == Utf8Front::Kind::kBroken) {
      readable.append(kReplacementUtf8);
    }
    text.remove_prefix(front.length);
  }
  return readable;
}

// Only what a list of language tags is made of.
void append_hint(std::string_view hint, std::string* out) {
  if (hint.empty()) return;
  if (!out->empty()) out->push_back(',');
  for (const char c : hint.substr(0, kLanguageHintBytesMax)) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (letter || c == '-' || c == ',') out->push_back(c);
  }
}

}  // namespace

bool is_language_code(std::string_view code) {
  if (code.empty()) return false;
  for (int i = 0; i < CLD2::NUM_LANGUAGES; ++i) {
    const auto language = static_cast<CLD2::Language>(i);
    if (language == CLD2::UNKNOWN_LANGUAGE) continue;
    if (equals_ignoring_case(code, CLD2::LanguageCode(language))) return true;
  }
  return false;
}

LanguageFinding find_languages(std::string_view text, const LanguageHints& hints) {
  std::string readable = readable_start(text);
  const auto length = static_cast<int>(readable.size());
  readable.append(kPadding, '\0');

  std::string tags;
  append_hint(hints.html_lang, &tags);
  append_hint(hints.content_language, &tags);
  std::string domain;
  append_hint(hints.top_level_domain, &domain);
  const CLD2::CLDHints cld_hints{tags.c_str(), domain.c_str(), CLD2::UNKNOWN_ENCODING,
                                 CLD2::UNKNOWN_LANGUAGE};

  std::array<CLD2::Language, kLanguagesMax> languages{};
  std::array<int, kLanguagesMax> percents{};
  std::array<double, kLanguagesMax> scores{};
  int text_bytes = 0;
  bool reliable = false;
  CLD2::ExtDetectLanguageSummary(readable.data(), length, /*is_plain_text=*/true, &cld_hints,
                                 /*flags=*/0, languages.data(), percents.data(), scores.data(),
                                 /*resultchunkvector=*/nullptr, &text_bytes, &reliable);

  LanguageFinding finding;
  for (std::size_t i = 0; i < kLanguagesMax; ++i) {
    if (languages.at(i) == CLD2::UNKNOWN_LANGUAGE || percents.at(i) <= 0) continue;
    finding.languages.push_back({CLD2::LanguageCode(languages.at(i)), percents.at(i)});
  }
  finding.reliable = reliable && !finding.languages.empty();
  return finding;
}

}  // namespace meguri::web
