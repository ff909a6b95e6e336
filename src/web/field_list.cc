#include "web/field_list.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "web/ascii.h"
#include "web/http_text.h"

namespace meguri::web {

namespace {

constexpr std::array<std::string_view, 18> kQuirkNames = {
    "leading_blank_line",
    "lower_case_name",
    "icy",
    "odd_version",
    "odd_spacing",
    "no_reason",
    "no_version",
    "space_in_target",
    "bare_lf",
    "bare_cr",
    "nul",
    "control",
    "not_ascii",
    "folded",
    "space_before_first",
    "space_before_colon",
    "no_colon",
    "bad_name",
};

// The line without its line end.
std::string_view content_of(std::string_view line, HeadQuirks* quirks) {
  if (!line.ends_with('\n')) return line;
  line.remove_suffix(1);
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  } else {
    quirks->add(HeadQuirk::kBareLf);
  }
  return line;
}

// Whether all of it is printable ASCII, and so nothing about it is odd.
bool is_plain(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighBits = kOnes * 0x80;
  std::uint64_t odd = 0;
  // Eight at a time: a byte below ' ' borrows, one from DEL on carries or has its high bit.
  for (; text.size() >= sizeof(odd); text.remove_prefix(sizeof(odd))) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data(), sizeof(bytes));
    odd |= (bytes - kOnes * ' ') | (bytes + kOnes) | bytes;
  }
  const auto is_printable = [](char c) { return c >= ' ' && c < '\x7f'; };
  return (odd & kHighBits) == 0 && std::ranges::all_of(text, is_printable);
}

// What a head has of lines and their bytes, mostly.
constexpr std::size_t kFieldsUsual = 16;
constexpr std::size_t kBytesUsual = 1000;

}  // namespace

std::string_view name_of(HeadQuirk quirk) {
  return kQuirkNames.at(static_cast<std::size_t>(quirk));
}

std::string cleaned_field_text(std::string_view text, HeadQuirks* quirks) {
  std::string clean(text);
  for (char& c : clean) {
    if (c == '\0') {
      quirks->add(HeadQuirk::kNul);
      c = ' ';
    } else if (c == '\r') {
      quirks->add(HeadQuirk::kBareCr);
      c = ' ';
    } else if (is_http_control(c)) {
      quirks->add(HeadQuirk::kControl);
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      quirks->add(HeadQuirk::kNotAscii);
    }
  }
  return clean;
}

std::string_view FieldList::view(const Piece& piece) const {
  return {(piece.is_text ? text_ : raw_).data() + piece.at, piece.size};
}

HttpField FieldList::field_at(const Field& field) const {
  return {.name = view(field.name), .value = view(field.value), .raw = view(field.raw)};
}

std::vector<HttpField> FieldList::fields() const {
  std::vector<HttpField> fields;
  fields.reserve(fields_.size());
  for (const Field& field : fields_) fields.push_back(field_at(field));
  return fields;
}

FieldList::Piece FieldList::keep(std::string_view text) {
  const Piece piece{.at = static_cast<std::uint32_t>(text_.size()),
                    .size = static_cast<std::uint32_t>(text.size()),
                    .is_text = true};
  text_ += text;
  return piece;
}

FieldList::Piece FieldList::keep_raw(std::string_view bytes) {
  if (raw_.empty() && fields_.empty()) {
    raw_.reserve(kBytesUsual);
    fields_.reserve(kFieldsUsual);
  }
  const Piece piece{.at = static_cast<std::uint32_t>(raw_.size()),
                    .size = static_cast<std::uint32_t>(bytes.size())};
  raw_ += bytes;
  return piece;
}

FieldList::Piece FieldList::part_of(const Piece& piece, std::string_view part) const {
  if (part.empty()) return {};
  const auto before = static_cast<std::uint32_t>(part.data() - view(piece).data());
  return {.at = piece.at + before,
          .size = static_cast<std::uint32_t>(part.size()),
          .is_text = piece.is_text};
}

const FieldList::Field* FieldList::find(std::string_view name) const {
  if (name.empty()) return nullptr;
  const auto found = std::ranges::find_if(fields_, [&](const Field& field) {
    return field.name.size == name.size() && equals_ignoring_case(view(field.name), name);
  });
  return found == fields_.end() ? nullptr : &*found;
}

std::optional<std::string_view> FieldList::get(std::string_view name) const {
  const Field* field = find(name);
  if (field == nullptr) return std::nullopt;
  return view(field->value);
}

std::vector<std::string_view> FieldList::all(std::string_view name) const {
  std::vector<std::string_view> values;
  if (name.empty()) return values;
  for (const Field& field : fields_) {
    if (equals_ignoring_case(view(field.name), name)) values.push_back(view(field.value));
  }
  return values;
}

std::string FieldList::combined(std::string_view name) const {
  std::string text;
  bool is_first = true;
  for (const std::string_view value : all(name)) {
    if (!std::exchange(is_first, false)) text += ", ";
    text += value;
  }
  return text;
}

std::vector<std::string_view> FieldList::elements(std::string_view name) const {
  std::vector<std::string_view> elements;
  for (const std::string_view value : all(name)) {
    const auto some = split_list(value);
    elements.insert(elements.end(), some.begin(), some.end());
  }
  return elements;
}

void FieldList::add(std::string_view name, std::string_view value) {
  CHECK(is_token(name), "a field needs a name");
  std::string clean(value);
  std::ranges::replace_if(clean, [](char c) { return c == '\0' || c == '\r' || c == '\n'; }, ' ');
  fields_.push_back({.name = keep(name), .value = keep(trimmed(clean)), .raw = {}});
}

std::size_t FieldList::remove(std::string_view name) {
  if (name.empty()) return 0;
  return std::erase_if(
      fields_, [&](const Field& field) { return equals_ignoring_case(view(field.name), name); });
}

std::size_t FieldList::rename(std::string_view name, std::string_view new_name) {
  CHECK(is_token(new_name), "a field needs a name");
  if (name.empty()) return 0;
  std::size_t count = 0;
  for (Field& field : fields_) {
    if (!equals_ignoring_case(view(field.name), name)) continue;
    field.name = keep(new_name);
    field.raw = {};
    ++count;
  }
  return count;
}

void FieldList::clear() {
  fields_.clear();
  raw_.clear();
  text_.clear();
}

// Continues the last field. What is its own and last in its text grows there, so that many lines
// cost no more than their bytes.
void FieldList::fold(std::string_view line, std::string_view more) {
  Field& last = fields_.back();
  const Piece raw = keep_raw(line);
  if (last.raw.size > 0 && last.raw.at + last.raw.size == raw.at) {
    last.raw.size += raw.size;
  } else {
    last.raw = keep_raw(std::string(view(last.raw)) + std::string(line));
  }
  if (more.empty()) return;
  const bool can_grow = last.value.is_text && last.value.at + last.value.size == text_.size();
  if (!can_grow) last.value = keep(std::string(view(last.value)));
  if (last.value.size > 0) last.value.size += keep(" ").size;
  last.value.size += keep(more).size;
}

HeadQuirks FieldList::add_line(std::string_view line) {
  HeadQuirks quirks;
  const std::string_view content = content_of(line, &quirks);
  const bool starts_blank = !content.empty() && is_http_blank(content.front());
  if (starts_blank && !fields_.empty()) {
    quirks.add(HeadQuirk::kFolded);
    fold(line, trimmed(cleaned_field_text(content, &quirks)));
    return quirks;
  }
  const Piece raw = keep_raw(line);
  const Piece received = part_of(raw, view(raw).substr(0, content.size()));
  const Piece cleaned = is_plain(content) ? received : keep(cleaned_field_text(content, &quirks));
  const std::string_view text = view(cleaned);
  const std::size_t colon = text.find(':');
  Field field{.name = {}, .value = {}, .raw = raw};
  if (starts_blank || colon == std::string_view::npos) {
    quirks.add(starts_blank ? HeadQuirk::kSpaceBeforeFirst : HeadQuirk::kNoColon);
    field.value = part_of(cleaned, trimmed(text));
  } else {
    // Names are taken as sent: one that holds a NUL must not become another name.
    const std::string_view before = view(received).substr(0, colon);
    const std::string_view name = trimmed(before);
    if (name.size() != before.size()) quirks.add(HeadQuirk::kSpaceBeforeColon);
    if (!is_token(name)) quirks.add(HeadQuirk::kBadName);
    field.name = part_of(received, name);
    field.value = part_of(cleaned, trimmed(text.substr(colon + 1)));
  }
  fields_.push_back(field);
  return quirks;
}

void FieldList::add_raw(std::string_view bytes) {
  if (!bytes.empty()) fields_.push_back({.name = {}, .value = {}, .raw = keep_raw(bytes)});
}

void FieldList::append_to(std::string* out) const {
  for (const Field& each : fields_) {
    const HttpField field = field_at(each);
    if (!field.raw.empty()) {
      *out += field.raw;
    } else {
      out->append(field.name).append(": ").append(field.value).append("\r\n");
    }
  }
}

}  // namespace meguri::web
