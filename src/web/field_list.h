// FieldList: the fields of an HTTP message in the order and bytes they came in, and what was odd
// about them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace meguri::web {

// What a head did that RFC 9112 does not allow, or allows only to tolerate. None of these stops
// reading.
enum class HeadQuirk : std::uint8_t {
  kLeadingBlankLine,  // empty lines before the start line
  kLowerCaseName,     // "http/1.1"
  kIcy,               // "ICY 200 OK", as radio servers say
  kOddVersion,        // a version that is not "1.0", "1.1", "2" or "3", or "HTTP/2.0"
  kOddSpacing,        // tabs or several spaces between the parts of the start line, or none
  kNoReason,          // an HTTP/1 status line that ends behind the status
  kNoVersion,         // a request line without a version, as in HTTP/0.9
  kSpaceInTarget,     // the target of a request holds white space
  kBareLf,            // a line that ends with LF alone
  kBareCr,            // a CR inside a line; read as a space
  kNul,               // a NUL byte; read as a space
  kControl,           // another control character; kept
  kNotAscii,          // bytes above 0x7f; kept
  kFolded,            // a value continued on the next line (obs-fold)
  kSpaceBeforeFirst,  // white space before the first field; that line is no field
  kSpaceBeforeColon,  // white space between name and colon; taken away
  kNoColon,           // a line without a colon; it is no field
  kBadName,           // a name that is empty or holds characters no name may hold
};

std::string_view name_of(HeadQuirk quirk);  // "bare_lf"

// A set of quirks.
class HeadQuirks {
 public:
  constexpr void add(HeadQuirk quirk) { bits_ |= bit_of(quirk); }
  constexpr void add(HeadQuirks others) { bits_ |= others.bits_; }
  constexpr bool has(HeadQuirk quirk) const { return (bits_ & bit_of(quirk)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }

  friend constexpr bool operator==(HeadQuirks, HeadQuirks) = default;

 private:
  static constexpr std::uint32_t bit_of(HeadQuirk quirk) {
    return 1U << static_cast<unsigned>(quirk);
  }
  std::uint32_t bits_ = 0;
};

// `text` with NUL and CR as spaces, which RFC 9110 asks for, and what was found in it.
std::string cleaned_field_text(std::string_view text, HeadQuirks* quirks);

// A field of a list; the views are its.
struct HttpField {
  std::string_view name;   // as sent; empty: a line that is no field, kept for its bytes
  std::string_view value;  // without white space at its ends, folded lines joined by one space
  std::string_view raw;    // the bytes as received with their line ends; empty: a field of our own

  friend bool operator==(const HttpField&, const HttpField&) = default;
};

// All bytes are in two texts, so that a field costs no memory of its own. Thread-compatible. Views
// returned die when the list changes. Names are looked up in any case. Not bounded itself: those
// who add lines bound them, far below 4 GiB.
class FieldList {
 public:
  std::vector<HttpField> fields() const;
  std::size_t size() const { return fields_.size(); }
  bool empty() const { return fields_.empty(); }

  bool has(std::string_view name) const { return find(name) != nullptr; }
  std::optional<std::string_view> get(std::string_view name) const;  // the first one's value
  std::vector<std::string_view> all(std::string_view name) const;    // in order
  std::string combined(std::string_view name) const;                 // joined by ", "
  // The elements of the comma-separated list that all fields of this name form together.
  std::vector<std::string_view> elements(std::string_view name) const;

  // Adds a field of our own at the end. Requires a token as name. Line ends and NULs in `value`
  // become spaces, so that no value can add a line.
  void add(std::string_view name, std::string_view value);
  std::size_t remove(std::string_view name);                             // says how many
  std::size_t rename(std::string_view name, std::string_view new_name);  // says how many
  void clear();                                                          // keeps the memory

  // Takes one line as received, its line end included. Says what was odd about it.
  HeadQuirks add_line(std::string_view line);
  // Takes bytes that are no line, such as the part of one before the end of the stream.
  void add_raw(std::string_view bytes);

  // Appends every field: as received, or "Name: value" if it is new or was renamed.
  void append_to(std::string* out) const;

  friend bool operator==(const FieldList& a, const FieldList& b) {
    return a.fields() == b.fields();
  }

 private:
  // A stretch of raw_, or of text_.
  struct Piece {
    std::uint32_t at = 0;
    std::uint32_t size = 0;
    bool is_text = false;
  };
  struct Field {
    Piece name;
    Piece value;
    Piece raw;  // in raw_
  };

  std::string_view view(const Piece& piece) const;
  HttpField field_at(const Field& field) const;
  Piece keep(std::string_view text);
  Piece keep_raw(std::string_view bytes);
  // The part of a piece that `part`, a view of it, is.
  Piece part_of(const Piece& piece, std::string_view part) const;
  void fold(std::string_view line, std::string_view more);
  const Field* find(std::string_view name) const;

  std::vector<Field> fields_;
  std::string raw_;   // lines as received, one after the other
  std::string text_;  // what stands in none of them
};

}  // namespace meguri::web
