// The language of a page: what its text shows and what it declares, together.
#pragma once

#include <string>
#include <string_view>

#include "web/language.h"
#include "web/page.h"

namespace meguri::web {

// A language tag as documents write it ("zh_TW", "HE"), in the lower-case words that
// find_languages() has for it ("zh-hant", "iw").
std::string plain_language_tag(std::string_view tag);

// What a page and its host tell besides the text. Borrows both.
LanguageHints language_hints_of(const Page& page, std::string_view host);

// Style sheets, sitemaps and feeds are not.
bool is_for_people(const Page& page);

// The language that a page is mostly in, by the front of its text where it was read with it, else
// by what it declares: "ja". Empty: nothing tells, or it is no document for people.
std::string main_language_of(const Page& page, std::string_view host);

}  // namespace meguri::web
