// A tokenizer for HTML as the standard describes it (html.spec.whatwg.org, section 13.2.5), made
// for speed: tokens are views of the input, and nothing is decoded before somebody asks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "web/char_refs.h"

namespace meguri::web {

// A tag or attribute name as a number, whatever its case. Exact for names of up to 8 letters and
// hyphens; longer ones are hashed.
using NameKey = std::uint64_t;

constexpr NameKey name_key(std::string_view name) {
  NameKey key = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const NameKey byte = static_cast<unsigned char>(name[i]) | 0x20U;
    if (i >= 8 && i % 8 == 0) key = (key ^ (key >> 29U)) * 0x9e3779b97f4a7c15ULL;
    key ^= byte << (8U * (i % 8));
  }
  return key;
}

struct HtmlAttribute {
  std::string_view name;   // as written
  std::string_view value;  // as written, without its quotes
  NameKey key = 0;
};

struct HtmlDoctype {
  std::optional<std::string> name = std::nullopt;
  std::optional<std::string> public_id = std::nullopt;
  std::optional<std::string> system_id = std::nullopt;
  bool force_quirks = false;
};

enum class HtmlTokenKind : std::uint8_t { kText, kStartTag, kEndTag, kComment, kDoctype };

// Its views die at the next call of HtmlTokenizer::next or feed.
struct HtmlToken {
  // Attributes of one tag behind this many are read but not kept.
  static constexpr std::size_t kAttributesMax = 1024;

  HtmlTokenKind kind = HtmlTokenKind::kText;
  TextMode mode = TextMode::kData;
  bool self_closing = false;
  NameKey key = 0;             // of a tag
  std::string_view name = {};  // of a tag, as written
  std::string_view text = {};  // of text and comments, as written
  // In the order of the source. A name may stand there twice; only the first counts.
  std::vector<HtmlAttribute> attributes = {};
  HtmlDoctype doctype = {};

  // The first attribute of this name, or null.
  const HtmlAttribute* find(NameKey wanted) const {
    for (const HtmlAttribute& attribute : attributes) {
      if (attribute.key == wanted) return &attribute;
    }
    return nullptr;
  }
};

// `raw` decoded: `raw` itself if nothing is to decode, else a view of `scratch`, which it fills.
std::string_view decoded(std::string_view raw, TextMode mode, std::string* scratch);

// A name as the standard gives it: lower-case, NULs replaced.
std::string lower_name(std::string_view name);

// Takes the document in pieces cut anywhere, and gives tokens as soon as they are complete; text
// may come in several tokens. The caller says what follows a start tag (`enter`); HtmlReader does
// so for whole documents.
//
// Linear in the input however it is cut: an unfinished token is looked at again only when what is
// there has doubled. Holds one unfinished token, up to kTokenBytesMax; the document ends where a
// longer one begins. Thread-compatible.
class HtmlTokenizer {
 public:
  static constexpr std::size_t kTokenBytesMax = 16U << 20U;

  // How the text after a start tag is to be read.
  enum class Model : std::uint8_t { kData, kRcdata, kRawtext, kScript, kPlaintext, kCdata };

  // `piece` must stay where it is until next() has returned false.
  void feed(std::string_view piece);

  // No more will come.
  void finish() { final_ = true; }

  // The next token; false: more input is needed or, after finish(), the document has ended.
  bool next(HtmlToken* token);

  // What follows is the content of the element `name` (in lower case).
  void enter(Model model, std::string_view name);

  // Whether "<![CDATA[" begins a CDATA section, as in SVG and MathML.
  void allow_cdata(bool allowed) { cdata_allowed_ = allowed; }

 private:
  enum class Opening : std::uint8_t { kText, kStartTag, kEndTag, kMarkup, kNothing, kUnknown };
  // Within a script: in "<!--", and in a "<script" within that.
  enum class Escape : std::uint8_t { kNone, kEscaped, kDouble };

  Opening opening_at(const char* at) const;
  bool next_data(HtmlToken* token);
  bool next_raw(HtmlToken* token);
  bool read_markup(HtmlToken* token, Opening opening);
  bool read_tag(HtmlToken* token, HtmlTokenKind kind, const char* name);
  const char* read_attributes(const char* at, HtmlToken* token) const;
  bool read_declaration(HtmlToken* token);
  bool read_comment(HtmlToken* token, const char* content);
  bool read_bogus_comment(HtmlToken* token, const char* content);
  bool read_doctype(HtmlToken* token, const char* content);

  const char* find_raw_end(const char* from);
  const char* find_script_end(const char* from);
  bool is_end_tag_at(const char* at, bool* unknown) const;
  bool is_script_name_at(const char* name, bool* unknown) const;
  const char* find_sequence(const char* from, std::string_view sequence) const;

  bool emit_text(HtmlToken* token, const char* end, TextMode mode);
  bool need_more();

  const char* at_ = nullptr;  // the first byte that no token has taken
  const char* end_ = nullptr;
  std::string carry_;            // the unfinished token of earlier pieces, with the next piece
  std::size_t retry_bytes_ = 0;  // do not try before this much is there
  bool final_ = false;
  bool over_ = false;  // nothing comes after what is there
  bool cdata_allowed_ = false;
  Model model_ = Model::kData;
  Escape escape_ = Escape::kNone;
  std::string element_;  // whose end tag ends the model
};

// The content of a DOCTYPE behind that word, up to its ">" or, if `open`, to the end of the input.
HtmlDoctype parse_doctype(std::string_view content, bool open);

}  // namespace meguri::web
