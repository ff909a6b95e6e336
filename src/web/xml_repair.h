// Makes XML of the web readable for a strict parser, as a stream: what comes out is UTF-8 with
// tags, text, character references and the five entities of XML, and nothing else.
//
// Taken out: white space before the first tag, processing instructions and the XML declaration,
// comments, and every <!...> declaration, DOCTYPE with its internal subset included. So no entity
// is ever defined, and none can be expanded. Changed: CDATA becomes text; an "&" that begins no
// character reference or entity of XML becomes "&amp;" (so "&nbsp;" stays visible as these six
// characters); "<" that begins no tag becomes "&lt;"; control characters become a blank, broken
// UTF-8 and forbidden characters U+FFFD.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace meguri::web {

// Borrows the text. Thread-compatible. Every octet is looked at once or twice.
class XmlRepair {
 public:
  explicit XmlRepair(std::string_view utf8) : text_(utf8) {}

  // Appends the next part, stopping soon after `bytes` bytes. False: that was the end.
  bool produce(std::size_t bytes, std::string* out);

  bool saw_doctype() const { return saw_doctype_; }

 private:
  enum class State : std::uint8_t { kProlog, kText, kTag, kCdata };

  void step(std::string* out);
  void take_text(std::string* out);
  void take_tag(std::string* out);
  void take_cdata(std::string* out);
  void take_markup(std::string* out);
  void take_reference(std::string* out);
  void take_other(std::string* out);
  void skip_declaration();

  std::string_view text_;
  std::size_t at_ = 0;
  State state_ = State::kProlog;
  char quote_ = 0;  // in a tag: the quote that is open
  bool saw_doctype_ = false;
};

// Where the comment, processing instruction or declaration that begins at `at` with "<!" or "<?"
// ends: the place behind it, or the end of the text.
std::size_t end_of_xml_declaration(std::string_view text, std::size_t at);

}  // namespace meguri::web
