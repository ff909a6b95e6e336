#include "archive/entry_filter.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "archive/record_entry.h"
#include "base/text.h"
#include "web/ascii.h"

namespace meguri::archive {

namespace {

using base::ErrorCode;

constexpr std::uint16_t kNotModified = 304;
constexpr std::uint16_t kStatusMax = 999;

std::optional<std::uint16_t> status_of(std::string_view text) {
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (!is_number || number > kStatusMax) return std::nullopt;
  return number;
}

// What an entry says for its content too.
bool says_status(const EntryView& entry) {
  return entry.status() != 0 && entry.status() != kNotModified;
}

}  // namespace

base::Status EntryFilter::add_mime(std::string_view text) {
  std::string mime = web::lower_copy(text);
  const std::size_t slash = mime.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == mime.size()) {
    return base::fail(ErrorCode::kInvalid, "{} is no type, such as text/html or image/*",
                      base::quoted(text));
  }
  if (mime.ends_with("/*")) mime.pop_back();
  mimes_.push_back(std::move(mime));
  return {};
}

base::Status EntryFilter::add_status(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (text.size() == 3 && web::is_digit(text[0]) && web::lower_copy(text.substr(1)) == "xx") {
    const auto first = static_cast<std::uint16_t>((text[0] - '0') * 100);
    statuses_.push_back({first, static_cast<std::uint16_t>(first + 99)});
    return {};
  }
  const auto first = status_of(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : status_of(text.substr(dash + 1));
  if (!first || !last || *last < *first) {
    return base::fail(ErrorCode::kInvalid, "{} is no status, such as 200, 4xx or 300-399",
                      base::quoted(text));
  }
  statuses_.push_back({*first, *last});
  return {};
}

base::Status EntryFilter::add_language(std::string_view text) {
  if (text.empty()) return base::fail(ErrorCode::kInvalid, "a language is a word such as ja");
  languages_.push_back(web::lower_copy(text));
  return {};
}

base::Status EntryFilter::add_digest(std::string_view text) {
  if (text.empty()) return base::fail(ErrorCode::kInvalid, "a digest is a text such as sha1:…");
  const bool is_labelled = text.find(':') != std::string_view::npos;
  digests_.push_back(
      entry_digest_of(is_labelled ? std::string(text) : "sha1:" + std::string(text)));
  return {};
}

bool EntryFilter::is_told_by(const EntryView& entry) const {
  return (mimes_.empty() || !entry.mime().empty()) && (statuses_.empty() || says_status(entry)) &&
         (languages_.empty() || !entry.language().empty()) &&
         (digests_.empty() || !entry.digest_bytes().empty());
}

bool EntryFilter::holds_mime(std::string_view mime) const {
  return std::ranges::any_of(mimes_, [&](const std::string& each) {
    return each.ends_with('/') ? mime.starts_with(each) : mime == each;
  });
}

bool EntryFilter::holds(const EntryView& entry, const EntryView* content) const {
  const EntryView& other = content == nullptr ? entry : *content;
  if (!mimes_.empty() && !holds_mime(entry.mime().empty() ? other.mime() : entry.mime())) {
    return false;
  }
  const std::uint16_t status = says_status(entry) ? entry.status() : other.status();
  const auto is_in = [&](const StatusRange& r) { return r.first <= status && status <= r.last; };
  if (!statuses_.empty() && std::ranges::none_of(statuses_, is_in)) return false;
  const std::string_view language = entry.language().empty() ? other.language() : entry.language();
  if (!languages_.empty() && std::ranges::find(languages_, language) == languages_.end()) {
    return false;
  }
  if (digests_.empty()) return true;
  const std::string digest = entry.digest_bytes().empty() ? other.digest() : entry.digest();
  return std::ranges::find(digests_, digest) != digests_.end();
}

}  // namespace meguri::archive
