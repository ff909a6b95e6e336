#include "web/field_list.h"

#include <algorithm>
#include <array>
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

const HttpField* FieldList::find(std::string_view name) const {
  if (name.empty()) return nullptr;
  const auto found = std::ranges::find_if(
      fields_, [&](const HttpField& field) { return equals_ignoring_case(field.name, name); });
  return found == fields_.end() ? nullptr : &*found;
}

std::optional<std::string_view> FieldList::get(std::string_view name) const {
  const HttpField* field = find(name);
  if (field == nullptr) return std::nullopt;
  return field->value;
}

std::vector<std::string_view> FieldList::all(std::string_view name) const {
  std::vector<std::string_view> values;
  if (name.empty()) return values;
  for (const HttpField& field : fields_) {
    if (equals_ignoring_case(field.name, name)) values.emplace_back(field.value);
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
  fields_.push_back({std::string(name), std::string(trimmed(clean)), {}});
}

std::size_t FieldList::remove(std::string_view name) {
  if (name.empty()) return 0;
  return std::erase_if(
      fields_, [&](const HttpField& field) { return equals_ignoring_case(field.name, name); });
}

std::size_t FieldList::rename(std::string_view name, std::string_view new_name) {
  CHECK(is_token(new_name), "a field needs a name");
  if (name.empty()) return 0;
  std::size_t count = 0;
  for (HttpField& field : fields_) {
    if (!equals_ignoring_case(field.name, name)) continue;
    field.name = new_name;
    field.raw.clear();
    ++count;
  }
  return count;
}

HeadQuirks FieldList::add_line(std::string_view line) {
  HeadQuirks quirks;
  const std::string_view content = content_of(line, &quirks);
  const std::string text = cleaned_field_text(content, &quirks);
  const bool starts_blank = !content.empty() && is_http_blank(content.front());
  if (starts_blank && !fields_.empty()) {
    quirks.add(HeadQuirk::kFolded);
    HttpField& last = fields_.back();
    const std::string_view more = trimmed(text);
    if (!last.value.empty() && !more.empty()) last.value += ' ';
    last.value += more;
    last.raw += line;
    return quirks;
  }
  const std::size_t colon = text.find(':');
  HttpField field{.name = {}, .value = std::string(trimmed(text)), .raw = std::string(line)};
  if (starts_blank) {
    quirks.add(HeadQuirk::kSpaceBeforeFirst);
  } else if (colon == std::string::npos) {
    quirks.add(HeadQuirk::kNoColon);
  } else {
    // Names are taken as sent: one that holds a NUL must not become another name.
    const std::string_view before = content.substr(0, colon);
    const std::string_view name = trimmed(before);
    if (name.size() != before.size()) quirks.add(HeadQuirk::kSpaceBeforeColon);
    if (!is_token(name)) quirks.add(HeadQuirk::kBadName);
    field.name = name;
    field.value = trimmed(std::string_view(text).substr(colon + 1));
  }
  fields_.push_back(std::move(field));
  return quirks;
}

void FieldList::add_raw(std::string_view bytes) {
  if (!bytes.empty()) fields_.push_back({{}, {}, std::string(bytes)});
}

void FieldList::append_to(std::string* out) const {
  for (const HttpField& field : fields_) {
    if (!field.raw.empty()) {
      *out += field.raw;
    } else {
      out->append(field.name).append(": ").append(field.value).append("\r\n");
    }
  }
}

}  // namespace meguri::web
