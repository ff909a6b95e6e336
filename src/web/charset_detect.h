// Which charset a document is in: what it says, and else what its bytes look like.
// All functions are pure, run in linear time and may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "web/charset.h"

namespace meguri::web {

// Browsers read this much before they start to parse, and the standard asks authors to declare the
// charset within it.
constexpr std::size_t kPrescanBytes = 1024;
// A declaration behind kPrescanBytes still counts: a browser's parser meets it later and starts
// again. It is looked for in this much, by the same prescan, which knows nothing of scripts.
constexpr std::size_t kMetaBytesMax = 64UL << 10;
// Detection looks for text that is not ASCII in this much of a document ...
constexpr std::size_t kDetectScanMax = 1UL << 20;
// ... and judges this much of such text at most.
constexpr std::size_t kDetectBytesMax = 64UL << 10;

enum class CharsetSource : std::uint8_t {
  kBom,             // a byte order mark; overrides everything
  kHeader,          // the label that came with the document
  kMeta,            // <meta> in HTML, @charset in CSS
  kXmlDeclaration,  // <?xml encoding="..."?>, or UTF-16 seen at its "<?x"
  kDetected,        // guessed from the bytes
  kDefault,         // nothing tells: windows-1252, or UTF-8 where its format says so
};

struct CharsetFinding {
  Charset charset = Charset::kWindows1252;
  CharsetSource source = CharsetSource::kDefault;

  friend bool operator==(const CharsetFinding&, const CharsetFinding&) = default;
};

enum class MarkupKind : std::uint8_t { kHtml, kXml, kCss, kText };

// The charset to read a document with. `first_bytes` is its start: all of it, or kDetectScanMax
// bytes if there are more. `header_label` is the charset of its Content-Type as it came; an unknown
// label counts as none.
CharsetFinding find_charset(std::string_view first_bytes,
                            std::optional<std::string_view> header_label, MarkupKind kind);

// The steps of find_charset(); each returns nullopt if its place says nothing.
std::optional<Charset> charset_of_bom(std::string_view first_bytes);

// The standard's prescan of HTML over the first `bytes_max` bytes: <meta> elements and, if those
// say nothing, the XML declaration.
std::optional<CharsetFinding> prescan_html(std::string_view first_bytes,
                                           std::size_t bytes_max = kPrescanBytes);

// The encoding of an XML declaration that starts the text.
std::optional<Charset> charset_of_xml_declaration(std::string_view first_bytes);

// The @charset rule that starts a style sheet, byte for byte as the standard has it.
std::optional<Charset> charset_of_css_rule(std::string_view first_bytes);

// The charset within the value of a "Content-Type" <meta>, or of the header itself.
std::optional<Charset> charset_of_content_type(std::string_view value);

// A guess from the bytes: UTF-8 if they are valid, but for few faults, and not only ASCII;
// ISO-2022-JP by its escapes; else what uchardet says of the parts that are not ASCII. nullopt for
// ASCII only, or no idea.
std::optional<Charset> detect_charset(std::string_view first_bytes);

// A text that names its charset by a byte order mark, as UTF-8 without it; any other as it is. The
// view is of `bytes` or of `*storage`.
std::string_view without_byte_order_mark(std::string_view bytes, std::string* storage);

}  // namespace meguri::web
