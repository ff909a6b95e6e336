// Finds the language of any bytes, with any hints. The first byte is the length of a hint.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "web/language.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace meguri::web;
  if (size < 1) return 0;
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string_view hint = text.substr(0, std::min<std::size_t>(data[0], 100));
  text.remove_prefix(hint.size());

  const LanguageHints hints{hint, hint, hint.substr(0, 4)};
  const LanguageFinding finding = find_languages(text, hints);
  CHECK(finding == find_languages(text, hints), "the same text, the same answer");
  CHECK(finding.languages.size() <= kLanguagesMax);
  int sum = 0;
  for (const LanguageShare& language : finding.languages) {
    CHECK(!language.code.empty() && language.percent > 0);
    sum += language.percent;
  }
  CHECK(sum <= 100);
  CHECK(!finding.reliable || !finding.languages.empty());
  return 0;
}
