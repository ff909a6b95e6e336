// The text of an HTML page, and the part of it that is the page's own: its main text, without
// navigation, headers and footers, scripts and forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace meguri::web {

// A paragraph, heading, list item or cell.
struct TextBlock {
  std::uint32_t offset = 0;  // in PageText::text
  std::uint32_t size = 0;
  std::uint32_t words = 0;       // characters of scripts without spaces count as half a word
  std::uint32_t link_words = 0;  // of these, those that stand in links
  bool is_heading = false;
  bool is_aside = false;  // within nav, footer, aside, a menu or a form
  bool is_main = false;
};

struct PageText {
  std::string text;  // every block, each ended by a line feed; white space joined
  std::vector<TextBlock> blocks;
  bool cut = false;  // there was more than kTextBytesMax or kTextBlocksMax

  std::string_view view(const TextBlock& block) const {
    return std::string_view(text).substr(block.offset, block.size);
  }
  std::string main_text() const;  // the main blocks, each ended by a line feed
};

inline constexpr std::size_t kTextBytesMax = 4U << 20U;
inline constexpr std::size_t kTextBlocksMax = 100'000;

// Reads a document that is UTF-8 already. Linear.
//
// A block is main when it stands in no aside part, less than a third of its words are links (or it
// is a heading), and it has at least 10 words, or stands next to such a block or between two that
// are not far apart. If none has, every block that stands in no aside part is main.
PageText read_text(std::string_view utf8_html);

}  // namespace meguri::web
