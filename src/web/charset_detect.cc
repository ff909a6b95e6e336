#include "web/charset_detect.h"

#include <uchardet.h>

#include <algorithm>
#include <memory>
#include <string>

#include "web/utf8.h"

namespace meguri::web {
namespace {

// The parts of `bytes` that are not only ASCII: each from a few words before its first other byte
// up to a tag or the end of its line. No charset that uchardet knows has '<', '>' or a line feed
// within a character, but for ISO-2022-JP, which is found before.
std::string text_to_judge(std::string_view bytes) {
  constexpr std::string_view kEnds = "<>\r\n";
  constexpr std::size_t kBefore = 32;
  std::string text;
  while (!bytes.empty() && text.size() < kDetectBytesMax) {
    const std::size_t length = std::min(bytes.find_first_of(kEnds), bytes.size());
    std::string_view part = bytes.substr(0, length);
    bytes.remove_prefix(std::min(length + 1, bytes.size()));
    const std::size_t ascii = ascii_prefix(part);
    if (ascii == part.size()) continue;
    part.remove_prefix(ascii - std::min(ascii, kBefore));
    text.append(part.substr(0, kDetectBytesMax - text.size())).push_back('\n');
  }
  return text;
}

// ISO-2022-JP is ASCII with escapes; no other text has these and reads without a fault.
bool is_iso_2022_jp(std::string_view bytes) {
  const std::size_t start = bytes.find("\x1B$");
  if (start == std::string_view::npos) return false;
  std::string text;
  Decoder decoder(Charset::kIso2022Jp);
  decoder.append(bytes.substr(start, kDetectBytesMax), &text);  // its end may be cut: no finish()
  return !text.contains(kReplacementUtf8);
}

// Whether all but a few characters beyond ASCII are well-formed UTF-8: a page made of several
// parts, or cut within a character, has a fault somewhere, and bytes of another charset hardly ever
// form so many.
bool is_mostly_utf8(std::string_view text) {
  constexpr std::size_t kWholePerBroken = 10;
  std::size_t whole = 0;
  std::size_t broken = 0;
  while (!text.empty()) {
    const Utf8Front front = utf8_front(text);
    if (front.kind != Utf8Front::Kind::kWhole) {
      ++broken;
    } else if (front.length > 1) {
      ++whole;
    }
    text.remove_prefix(front.length);
  }
  return whole >= broken * kWholePerBroken;
}

// uchardet's name for Korean is not among the standard's labels.
std::optional<Charset> charset_of_uchardet(std::string_view name) {
  return name == "UHC" ? Charset::kEucKr : charset_of_label(name);
}

// The charset of Windows that has the letters of `charset` too.
std::optional<Charset> windows_sibling(Charset charset) {
  switch (charset) {
    case Charset::kIso8859_2: return Charset::kWindows1250;
    case Charset::kIso8859_7: return Charset::kWindows1253;
    case Charset::kIso8859_8:
    case Charset::kIso8859_8I: return Charset::kWindows1255;
    case Charset::kIso8859_13: return Charset::kWindows1257;
    case Charset::kIso8859_15: return Charset::kWindows1252;
    default: return std::nullopt;
  }
}

std::string read_as(Charset charset, std::string_view text) {
  std::string utf8;
  decode(text, charset, &utf8);
  return utf8;
}

// Few bytes beyond ASCII leave uchardet much choice, and it knows nothing of how common charsets
// are on the web.
Charset likelier_charset(Charset guess, std::string_view text) {
  const auto is_c1 = [](char c) { return (static_cast<unsigned char>(c) & 0xE0) == 0x80; };
  const auto sibling = windows_sibling(guess);
  if (sibling && std::ranges::any_of(text, is_c1)) return *sibling;
  const bool same = read_as(guess, text) == read_as(Charset::kWindows1252, text);
  return same ? Charset::kWindows1252 : guess;
}

std::optional<Charset> ask_uchardet(std::string_view text) {
  const std::unique_ptr<uchardet, decltype(&uchardet_delete)> judge(uchardet_new(),
                                                                    &uchardet_delete);
  if (!judge || uchardet_handle_data(judge.get(), text.data(), text.size()) != 0) {
    return std::nullopt;
  }
  uchardet_data_end(judge.get());
  const auto charset = charset_of_uchardet(uchardet_get_charset(judge.get()));
  // UTF-8 was looked for before, and a text without byte order mark is not UTF-16.
  if (!charset || charset == Charset::kUtf8 || charset == Charset::kUtf16Be ||
      charset == Charset::kUtf16Le || charset == Charset::kReplacement) {
    return std::nullopt;
  }
  return likelier_charset(*charset, text);
}

std::optional<CharsetFinding> declared_charset(std::string_view first_bytes, MarkupKind kind) {
  const auto found_by = [](CharsetSource source) {
    return [source](Charset charset) { return CharsetFinding{charset, source}; };
  };
  switch (kind) {
    case MarkupKind::kHtml: return prescan_html(first_bytes, kMetaBytesMax);
    case MarkupKind::kXml:
      return charset_of_xml_declaration(first_bytes)
          .transform(found_by(CharsetSource::kXmlDeclaration));
    case MarkupKind::kCss:
      return charset_of_css_rule(first_bytes).transform(found_by(CharsetSource::kMeta));
    case MarkupKind::kText: break;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Charset> detect_charset(std::string_view first_bytes) {
  const std::string_view bytes = first_bytes.substr(0, kDetectScanMax);
  const std::size_t ascii = ascii_prefix(bytes);
  if (ascii == bytes.size()) {
    return is_iso_2022_jp(bytes) ? std::optional(Charset::kIso2022Jp) : std::nullopt;
  }
  // Our part of the document may end within a character, if there are whole ones before.
  const std::size_t valid = valid_utf8_prefix(bytes);
  const bool cut = valid > ascii && valid < bytes.size() &&
                   utf8_front(bytes.substr(valid)).kind == Utf8Front::Kind::kCut;
  if (cut || valid == bytes.size()) return Charset::kUtf8;
  const std::string text = text_to_judge(bytes);
  return is_mostly_utf8(text) ? Charset::kUtf8 : ask_uchardet(text);
}

CharsetFinding find_charset(std::string_view first_bytes,
                            std::optional<std::string_view> header_label, MarkupKind kind) {
  if (const auto charset = charset_of_bom(first_bytes)) return {*charset, CharsetSource::kBom};
  if (header_label) {
    if (const auto charset = charset_of_label(*header_label)) {
      return {*charset, CharsetSource::kHeader};
    }
  }
  if (const auto declared = declared_charset(first_bytes, kind)) return *declared;
  if (const auto charset = detect_charset(first_bytes)) return {*charset, CharsetSource::kDetected};
  const bool utf8_by_format = kind == MarkupKind::kXml || kind == MarkupKind::kCss;
  return {utf8_by_format ? Charset::kUtf8 : Charset::kWindows1252, CharsetSource::kDefault};
}

std::string_view without_byte_order_mark(std::string_view bytes, std::string* storage) {
  const auto charset = charset_of_bom(bytes);
  if (!charset) return bytes;
  if (*charset == Charset::kUtf8) return bytes.substr(kByteOrderMarkUtf8.size());
  storage->clear();
  decode(bytes, *charset, storage);
  return *storage;
}

}  // namespace meguri::web
