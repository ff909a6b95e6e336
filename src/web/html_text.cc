#include "web/html_text.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "web/ascii.h"
#include "web/html_reader.h"
#include "web/scripts.h"

namespace meguri::web {
namespace {

constexpr std::uint32_t kLongBlockWords = 10;
constexpr std::size_t kGapBlocksMax = 16;

template <std::size_t kSize>
constexpr std::array<NameKey, kSize> sorted_keys(const std::array<std::string_view, kSize>& names) {
  std::array<NameKey, kSize> keys{};
  std::ranges::transform(names, keys.begin(), name_key);
  std::ranges::sort(keys);
  return keys;
}

// Elements that do not break a line of text.
constexpr auto kInline = sorted_keys(std::to_array<std::string_view>(
    {"a",     "abbr", "acronym", "b",      "bdi",      "bdo",     "big",  "cite", "code",
     "data",  "del",  "dfn",     "em",     "font",     "i",       "img",  "ins",  "kbd",
     "label", "mark", "nobr",    "q",      "rp",       "rt",      "ruby", "s",    "samp",
     "small", "span", "strike",  "strong", "sub",      "sup",     "time", "tt",   "u",
     "var",   "wbr",  "script",  "style",  "noscript", "template"}));

// Elements whose content is not the page's own, or not text.
constexpr auto kAside = sorted_keys(std::to_array<std::string_view>(
    {"nav", "footer", "aside", "form", "select", "button", "menu", "dialog", "noscript", "svg",
     "math", "object", "canvas", "template", "fieldset"}));

constexpr auto kAsideRoles =
    std::to_array<std::string_view>({"navigation", "banner", "contentinfo", "complementary",
                                     "search", "menu", "menubar", "toolbar", "dialog", "alert"});

bool is_heading_key(NameKey key) {
  return key == name_key("h1") || key == name_key("h2") || key == name_key("h3") ||
         key == name_key("h4") || key == name_key("h5") || key == name_key("h6");
}

// ASCII that is not white space.
bool is_ascii_mark(char c) { return static_cast<unsigned char>(c) < 0x80 && !is_space(c); }

class TextReader {
 public:
  PageText run(std::string_view html) {
    reader_.feed(html);
    reader_.finish();
    while (!page_.cut && reader_.next(&token_)) {
      switch (token_.kind) {
        case HtmlTokenKind::kStartTag: on_start(); break;
        case HtmlTokenKind::kEndTag: on_end(); break;
        case HtmlTokenKind::kText: on_text(); break;
        default: break;
      }
    }
    end_block();
    choose_main();
    return std::move(page_);
  }

 private:
  void on_start();
  void on_end();
  void on_text();
  void append(std::string_view text);
  void count(std::uint32_t half_words) {
    half_words_ += half_words;
    if (in_link_) link_half_words_ += half_words;
  }
  void end_block();
  bool is_aside_start() const;
  void choose_main();

  HtmlReader reader_;
  HtmlToken token_;
  PageText page_;
  std::string scratch_;
  TextBlock block_;
  bool in_word_ = false;
  bool in_link_ = false;
  bool is_silent_ = false;  // in script, style or title
  std::uint32_t half_words_ = 0;
  std::uint32_t link_half_words_ = 0;
  // The aside element we are in, and how many of its name are open within it.
  NameKey aside_key_ = 0;
  std::size_t aside_depth_ = 0;
  std::size_t main_depth_ = 0;
};

bool TextReader::is_aside_start() const {
  if (std::ranges::binary_search(kAside, token_.key)) return true;
  if (token_.key == name_key("header") && main_depth_ == 0) return true;
  if (const HtmlAttribute* role = token_.find(name_key("role"))) {
    if (std::ranges::any_of(kAsideRoles, [&](std::string_view aside) {
          return equals_ignoring_case(trim(role->value), aside);
        })) {
      return true;
    }
  }
  if (token_.find(name_key("hidden")) != nullptr) return true;
  const HtmlAttribute* hidden = token_.find(name_key("aria-hidden"));
  return hidden != nullptr && equals_ignoring_case(hidden->value, "true");
}

void TextReader::on_start() {
  const NameKey key = token_.key;
  is_silent_ = key == name_key("script") || key == name_key("style") || key == name_key("title") ||
               key == name_key("iframe") || key == name_key("noembed") ||
               key == name_key("noframes");
  if (!std::ranges::binary_search(kInline, key)) end_block();
  if (key == name_key("a")) in_link_ = token_.find(name_key("href")) != nullptr;
  if (is_heading_key(key)) block_.is_heading = true;
  if (key == name_key("main") || key == name_key("article")) ++main_depth_;
  if (token_.self_closing && reader_.is_foreign()) return;
  if (aside_depth_ > 0) {
    if (key == aside_key_) ++aside_depth_;
  } else if (is_aside_start() && key != name_key("img") && key != name_key("input") &&
             key != name_key("br") && key != name_key("hr")) {
    end_block();
    aside_key_ = key;
    aside_depth_ = 1;
  }
}

void TextReader::on_end() {
  const NameKey key = token_.key;
  is_silent_ = false;
  if (!std::ranges::binary_search(kInline, key)) end_block();
  if (key == name_key("a")) in_link_ = false;
  if ((key == name_key("main") || key == name_key("article")) && main_depth_ > 0) --main_depth_;
  if (aside_depth_ > 0 && key == aside_key_) {
    end_block();
    --aside_depth_;
  }
}

void TextReader::on_text() {
  if (is_silent_) return;
  append(decoded(token_.text, token_.mode, &scratch_));
}

void TextReader::append(std::string_view text) {
  std::string& out = page_.text;
  if (out.size() + text.size() + 2 > kTextBytesMax) {
    page_.cut = true;
    return;
  }
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (is_space(*at)) {
      in_word_ = false;
      if (out.size() > block_.offset && out.back() != ' ') out.push_back(' ');
      ++at;
      continue;
    }
    const char* const begin = at;
    while (at != end && is_ascii_mark(*at)) ++at;
    if (at != begin) {
      if (!in_word_) count(2);
      in_word_ = true;
    } else {
      const base::CodePoint c = base::first_code_point({at, end});
      at += c.length;
      const bool unspaced = c.valid && is_unspaced(c.value);
      if (unspaced || !in_word_) count(unspaced ? 1 : 2);
      in_word_ = !unspaced;
    }
    out.append(begin, at);
  }
}

void TextReader::end_block() {
  std::string& out = page_.text;
  while (out.size() > block_.offset && out.back() == ' ') out.pop_back();
  in_word_ = false;
  if (out.size() > block_.offset) {
    block_.size = static_cast<std::uint32_t>(out.size() - block_.offset);
    block_.words = (half_words_ + 1) / 2;
    block_.link_words = (link_half_words_ + 1) / 2;
    block_.is_aside = aside_depth_ > 0;
    page_.blocks.push_back(block_);
    out.push_back('\n');
    if (page_.blocks.size() >= kTextBlocksMax) page_.cut = true;
  }
  block_ = {};
  block_.offset = static_cast<std::uint32_t>(out.size());
  half_words_ = 0;
  link_half_words_ = 0;
}

void TextReader::choose_main() {
  auto& blocks = page_.blocks;
  // Headings may be links, whole.
  const auto may_be = [](const TextBlock& block) {
    return !block.is_aside && (block.is_heading || block.link_words * 3 < block.words);
  };
  // Short blocks that may be main wait for the next long one: between two they are a list, a
  // heading or a caption.
  std::size_t last = 0;  // behind the last main block
  bool any = false;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (!may_be(blocks[i]) || blocks[i].words < kLongBlockWords) continue;
    const bool near = any && i - last <= kGapBlocksMax;
    for (std::size_t j = near ? last : i - std::min<std::size_t>(i - last, 1); j <= i; ++j) {
      blocks[j].is_main = may_be(blocks[j]);
    }
    if (any && !near && last < i) blocks[last].is_main = may_be(blocks[last]);
    any = true;
    last = i + 1;
  }
  if (any && last < blocks.size()) blocks[last].is_main = may_be(blocks[last]);
  if (any) return;
  for (TextBlock& block : blocks) block.is_main = !block.is_aside;
}

}  // namespace

std::string PageText::main_text() const {
  std::string main;
  for (const TextBlock& block : blocks) {
    if (!block.is_main) continue;
    main.append(view(block));
    main.push_back('\n');
  }
  return main;
}

PageText read_text(std::string_view utf8_html) { return TextReader().run(utf8_html); }

}  // namespace meguri::web
