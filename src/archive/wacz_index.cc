#include "archive/wacz_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/text.h"
#include "web/ascii.h"
#include "web/surt.h"
#include "web/url.h"

namespace meguri::archive {

namespace {

// "http://www2.example.com/" without its "www2.".
std::string without_www(std::string_view url) {
  constexpr std::string_view kWww = "www";
  const std::size_t host = url.find("://") + 3;
  std::string_view rest = url.substr(host);
  if (!rest.starts_with(kWww)) return std::string(url);
  rest.remove_prefix(kWww.size());
  while (!rest.empty() && web::is_digit(rest.front())) rest.remove_prefix(1);
  if (!rest.starts_with('.')) return std::string(url);
  return std::string(url.substr(0, host)).append(rest.substr(1));
}

void append_reversed_host(std::string_view host, std::string& out) {
  while (true) {
    const std::size_t dot = host.rfind('.');
    out += host.substr(dot == std::string_view::npos ? 0 : dot + 1);
    if (dot == std::string_view::npos) return;
    out += ',';
    host = host.substr(0, dot);
  }
}

void append_sorted_query(std::string_view query, std::string& out) {
  std::vector<std::string_view> arguments;
  while (true) {
    const std::size_t end = query.find('&');
    arguments.push_back(query.substr(0, end));
    if (end == std::string_view::npos) break;
    query.remove_prefix(end + 1);
  }
  std::ranges::sort(arguments);
  char mark = '?';
  for (const std::string_view argument : arguments) {
    (out += mark) += argument;
    mark = '&';
  }
}

// Blanks and controls are percent-encoded: they would end the field, or the line.
void append_key(std::string_view key, std::string& out) {
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte != 0x7f) {
      out += c;
    } else {
      fmt::format_to(std::back_inserter(out), "%{:02x}", byte);
    }
  }
}

void append_text_field(std::string_view name, std::string_view value, std::string& out) {
  if (value.empty()) return;
  out += name;
  base::append_json_string(value, &out);
}

bool is_revisit(const IndexEntry& entry) {
  return entry.kind == EntryKind::kUnchanged || entry.original.has_value();
}

// What follows the key.
std::string rest_of_line(const IndexEntry& entry, std::string_view warc) {
  std::string rest = fmt::format(" {} {{\"url\": ", entry.date.to_digits());
  base::append_json_string(entry.url, &rest);
  append_text_field(", \"mime\": ", is_revisit(entry) ? "warc/revisit" : entry.mime, rest);
  const auto to = std::back_inserter(rest);
  if (entry.status != 0) fmt::format_to(to, ", \"status\": \"{}\"", entry.status);
  append_text_field(", \"digest\": ", entry.digest, rest);
  fmt::format_to(to, R"(, "length": "{}", "offset": "{}", "filename": "{}"}})", entry.place.length,
                 entry.place.offset, warc);
  return rest;
}

// "KEY DATE" of a line.
std::string_view front_of(std::string_view line) {
  return line.substr(0, line.find(' ', line.find(' ') + 1));
}

}  // namespace

std::string replay_key_of(std::string_view url) {
  if (!url.starts_with("http://") && !url.starts_with("https://")) return std::string(url);
  std::string text = without_www(url);
  std::ranges::transform(text, text.begin(), web::to_lower);
  const auto parsed = web::Url::parse(text);
  if (!parsed) return std::string(url);
  std::string key;
  append_reversed_host(parsed->host(), key);
  if (const auto port = parsed->port()) fmt::format_to(std::back_inserter(key), ":{}", *port);
  (key += ')') += parsed->path();
  if (!parsed->query().empty()) append_sorted_query(parsed->query(), key);
  return key;
}

WaczIndex::WaczIndex(env::FileSystem& fs, WaczIndexOptions options)
    : options_(std::move(options)), sorter_(fs, options_.scratch, options_.sort_bytes_max) {}

base::Status WaczIndex::add(const IndexEntry& entry) {
  if (entry.status == 0 && entry.kind == EntryKind::kError) return {};
  ++records_;
  const std::string rest = rest_of_line(entry, options_.warc);
  std::string line;
  append_key(web::surt_key(entry.url), line);
  std::string other;
  append_key(replay_key_of(entry.url), other);
  const bool is_other = other != line;
  line += rest;
  RETURN_IF_ERROR(sorter_.add(line));
  if (!is_other) return {};
  other += rest;
  return sorter_.add(other);
}

base::Status WaczIndex::write(const ByteSink& cdx, const ByteSink& idx) {
  RETURN_IF_ERROR(idx(fmt::format(
      "!meta 0 {{\"format\": \"cdxj-gzip-1.0\", \"filename\": \"{}\"}}\n", options_.cdx)));
  RETURN_IF_ERROR(sorter_.take_all([&](std::string_view line) -> base::Status {
    block_ += line;
    block_ += '\n';
    ++block_lines_;
    const bool is_full = block_lines_ >= options_.block_lines || block_.size() >= kBlockBytesMax;
    return is_full ? end_block(cdx, idx) : base::Status();
  }));
  return block_lines_ == 0 ? base::Status() : end_block(cdx, idx);
}

base::Status WaczIndex::end_block(const ByteSink& cdx, const ByteSink& idx) {
  std::string member;
  gzip_.append_member({}, block_, {}, &member);
  RETURN_IF_ERROR(cdx(member));
  RETURN_IF_ERROR(
      idx(fmt::format("{} {{\"offset\": {}, \"length\": {}, \"digest\": \"{}\"}}\n",
                      front_of(block_), cdx_bytes_, member.size(), sha256_.of(member))));
  cdx_bytes_ += member.size();
  block_.clear();
  block_lines_ = 0;
  return {};
}

}  // namespace meguri::archive
