#include "archive/index_entry.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "archive/sha1.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "web/surt.h"

namespace meguri::archive {

namespace {

using base::Instant;

constexpr std::size_t kHashBytes = 8;
constexpr std::size_t kTailBytes = 8 + 4 + 8;  // of a key: date, file, offset
constexpr std::size_t kIndexBytes = 4;
constexpr std::size_t kSha1Bytes = 20;

// The first byte of a value: the kind in its lowest two bits.
constexpr unsigned kKindMask = 3;
constexpr unsigned kCounts = 1U << 2U;
constexpr unsigned kNotModified = 1U << 3U;
constexpr unsigned kCut = 1U << 4U;
constexpr unsigned kHttps = 1U << 5U;
constexpr unsigned kWww = 1U << 6U;
constexpr unsigned kStatus200 = 1U << 7U;

// The second: which parts there are.
constexpr unsigned kHasSha1 = 1U << 0U;
constexpr unsigned kHasDigest = 1U << 1U;  // another
constexpr unsigned kHasLanguage = 1U << 2U;
constexpr unsigned kHasTarget = 1U << 3U;
constexpr unsigned kHasOriginal = 1U << 4U;
constexpr unsigned kHasUrl = 1U << 5U;
constexpr unsigned kHasIndex = 1U << 6U;

// Types by their number, which is part of the format: the list may only grow. 0: a text follows.
constexpr std::array<std::string_view, 44> kMimes = {
    "",
    "text/html",
    "application/xhtml+xml",
    "text/plain",
    "text/css",
    "text/xml",
    "application/xml",
    "application/javascript",
    "text/javascript",
    "application/x-javascript",
    "application/json",
    "application/ld+json",
    "application/rss+xml",
    "application/atom+xml",
    "application/pdf",
    "application/octet-stream",
    "image/jpeg",
    "image/png",
    "image/gif",
    "image/webp",
    "image/svg+xml",
    "image/x-icon",
    "image/vnd.microsoft.icon",
    "image/avif",
    "image/bmp",
    "image/tiff",
    "font/woff",
    "font/woff2",
    "font/ttf",
    "application/font-woff",
    "application/font-woff2",
    "application/x-font-ttf",
    "application/zip",
    "application/gzip",
    "application/x-gzip",
    "application/msword",
    "application/vnd.ms-excel",
    "application/vnd.ms-fontobject",
    "application/manifest+json",
    "application/x-shockwave-flash",
    "audio/mpeg",
    "video/mp4",
    "video/webm",
    "text/dns",
};

void put_mime(std::string& out, std::string_view mime) {
  // The empty one is number 0 with an empty text.
  const auto* found = mime.empty() ? kMimes.end() : std::ranges::find(kMimes, mime);
  const bool is_known = found != kMimes.end();
  base::put_varint(out, is_known ? static_cast<std::uint64_t>(found - kMimes.begin()) : 0);
  if (!is_known) base::put_short_text(out, mime);
}

bool take_mime(std::string_view& bytes, std::string_view& mime) {
  std::uint64_t number = 0;
  if (!base::take_varint(bytes, number) || number >= kMimes.size()) return false;
  if (number == 0) return base::take_short_text(bytes, mime);
  mime = kMimes[static_cast<std::size_t>(number)];
  return true;
}

// Dates so that they sort as numbers, and then turned round so that the newest is first.
std::uint64_t newest_first(Instant date) {
  return ~(static_cast<std::uint64_t>(date.ms()) ^ (std::uint64_t{1} << 63U));
}

Instant date_from(std::uint64_t turned) {
  return Instant::from_ms(static_cast<std::int64_t>(~turned ^ (std::uint64_t{1} << 63U)));
}

std::uint64_t zigzag(std::int64_t number) {
  return static_cast<std::uint64_t>(number) << 1U ^ static_cast<std::uint64_t>(number >> 63);
}

std::int64_t from_zigzag(std::uint64_t number) {
  return static_cast<std::int64_t>(number >> 1U ^ (~(number & 1U) + 1));
}

// The URL that a SURT most likely came from: "com,example)/a" of http://example.com/a.
std::string url_of_surt(std::string_view surt, bool is_https, bool has_www) {
  const std::size_t end = surt.find(')');
  if (end == std::string_view::npos) return {};
  std::string url = is_https ? "https://" : "http://";
  if (has_www) url += "www.";
  std::string_view host = surt.substr(0, end);
  const std::size_t colon = std::min(host.find(':'), host.size());
  const std::string_view port = host.substr(colon);
  host = host.substr(0, colon);
  for (;;) {
    const std::size_t comma = host.rfind(',');
    url += host.substr(comma + 1);  // npos + 1 is the beginning
    if (comma == std::string_view::npos) break;
    url += '.';
    host = host.substr(0, comma);
  }
  url += port;
  url += surt.substr(end + 1);
  return url;
}

bool is_https(std::string_view url) { return url.starts_with("https://"); }

bool has_www(std::string_view url) {
  const std::size_t at = url.find("://");
  return at != std::string_view::npos && url.substr(at + 3).starts_with("www.");
}

std::string key_surt_of(std::string_view url) {
  std::string surt = web::surt_key(url);
  if (surt.size() > kKeySurtBytesMax) surt.resize(kKeySurtBytesMax);
  return surt;
}

void put_page(std::string& key, std::string_view surt, std::string_view url) {
  key += kEntryKeyPrefix;
  key += surt;
  key += '\0';
  base::put_sorted(key, base::hash64(url));
}

void put_tail(std::string& key, const IndexEntry& entry) {
  base::put_sorted(key, newest_first(entry.date));
  base::put_sorted(key, ~entry.place.file);
  base::put_sorted(key, ~entry.place.offset);
  if (entry.place.index != 0) base::put_sorted(key, ~entry.place.index);
}

void put_value(std::string& value, std::string_view surt, const IndexEntry& entry) {
  const bool https = is_https(entry.url);
  const bool www = has_www(entry.url);
  const bool is_implied = url_of_surt(surt, https, www) == entry.url;
  const bool is_plain_sha1 = Digest::is_as_written(entry.digest);

  auto flags = static_cast<unsigned>(entry.kind);
  if (entry.counts) flags |= kCounts;
  if (entry.is_not_modified) flags |= kNotModified;
  if (entry.is_cut) flags |= kCut;
  if (is_implied && https) flags |= kHttps;
  if (is_implied && www) flags |= kWww;
  if (entry.status == 200) flags |= kStatus200;
  unsigned parts = 0;
  if (is_plain_sha1) parts |= kHasSha1;
  if (!is_plain_sha1 && !entry.digest.empty()) parts |= kHasDigest;
  if (!entry.language.empty()) parts |= kHasLanguage;
  if (entry.target != 0) parts |= kHasTarget;
  if (entry.original) parts |= kHasOriginal;
  if (!is_implied) parts |= kHasUrl;
  if (entry.place.index != 0) parts |= kHasIndex;

  value += static_cast<char>(static_cast<unsigned char>(flags));
  value += static_cast<char>(static_cast<unsigned char>(parts));
  if (entry.status != 200) base::put_varint(value, entry.status);
  put_mime(value, entry.mime);
  base::put_varint(value, entry.place.length);
  if (is_plain_sha1) {
    const Digest sha1 = *Digest::parse(entry.digest);
    value.append(reinterpret_cast<const char*>(sha1.bytes.data()), sha1.bytes.size());
  } else if (!entry.digest.empty()) {
    base::put_short_text(value, entry.digest);
  }
  if (!entry.language.empty()) base::put_short_text(value, entry.language);
  if (entry.target != 0) base::put_fixed(value, entry.target);
  if (entry.original) {
    base::put_varint(value, zigzag(entry.date.ms() - entry.original->date.ms()));
    base::put_short_text(value, entry.original->url);
  }
  if (!is_implied) base::put_short_text(value, entry.url);
}

}  // namespace

std::string_view name_of(EntryKind kind) {
  switch (kind) {
    case EntryKind::kChanged: return "changed";
    case EntryKind::kUnchanged: return "unchanged";
    case EntryKind::kGone: return "gone";
    case EntryKind::kError: return "error";
  }
  return "error";
}

std::string page_key_of(std::string_view url) {
  std::string key;
  put_page(key, key_surt_of(url), url);
  return key;
}

std::string page_key_of(std::string_view url, Instant date) {
  return date_key_of(page_key_of(url), date);
}

std::string date_key_of(std::string_view page, Instant date) {
  std::string key(page);
  base::put_sorted(key, newest_first(date));
  return key;
}

std::string key_of(const IndexEntry& entry) {
  std::string key = page_key_of(entry.url);
  put_tail(key, entry);
  return key;
}

EncodedEntry encode(const IndexEntry& entry) {
  const std::string surt = key_surt_of(entry.url);
  EncodedEntry encoded;
  put_page(encoded.key, surt, entry.url);
  put_tail(encoded.key, entry);
  put_value(encoded.value, surt, entry);
  return encoded;
}

std::optional<EntryView> EntryView::parse(std::string_view key, std::string_view value) {
  EntryView view;
  if (!view.parse_value(value) || !view.parse_key(key)) return std::nullopt;
  // It is held against the date of the entry.
  view.original_date_ = Instant::from_ms(view.date_.ms() - view.original_date_.ms());
  return view;
}

bool EntryView::parse_key(std::string_view key) {
  const std::size_t tail_bytes = kTailBytes + (has_index_ ? kIndexBytes : 0);
  if (key.size() < 2 + kHashBytes + tail_bytes || key.front() != kEntryKeyPrefix) return false;
  page_ = key.substr(0, key.size() - tail_bytes);
  if (page_[page_.size() - kHashBytes - 1] != '\0') return false;
  std::string_view tail = key.substr(page_.size());
  std::uint64_t date = 0;
  base::take_sorted(tail, date);
  base::take_sorted(tail, place_.file);
  base::take_sorted(tail, place_.offset);
  date_ = date_from(date);
  place_.file = ~place_.file;
  place_.offset = ~place_.offset;
  if (!has_index_) return true;
  base::take_sorted(tail, place_.index);
  place_.index = ~place_.index;
  return true;
}

bool EntryView::parse_value(std::string_view value) {
  if (value.size() < 2) return false;
  const unsigned flags = static_cast<unsigned char>(value[0]);
  const unsigned parts = static_cast<unsigned char>(value[1]);
  value.remove_prefix(2);
  kind_ = static_cast<EntryKind>(flags & kKindMask);
  counts_ = (flags & kCounts) != 0;
  is_not_modified_ = (flags & kNotModified) != 0;
  is_cut_ = (flags & kCut) != 0;
  is_https_ = (flags & kHttps) != 0;
  has_www_ = (flags & kWww) != 0;
  has_index_ = (parts & kHasIndex) != 0;
  status_ = 200;
  if ((flags & kStatus200) == 0) {
    std::uint64_t status = 0;
    if (!base::take_varint(value, status)) return false;
    if (status > std::numeric_limits<std::uint16_t>::max()) return false;
    status_ = static_cast<std::uint16_t>(status);
  }
  if (!take_mime(value, mime_) || !base::take_varint(value, place_.length)) return false;
  return parse_parts(value, parts) && value.empty();
}

bool EntryView::parse_parts(std::string_view& value, unsigned parts) {
  if ((parts & kHasSha1) != 0) {
    if (value.size() < kSha1Bytes) return false;
    is_sha1_ = true;
    digest_ = value.substr(0, kSha1Bytes);
    value.remove_prefix(kSha1Bytes);
  } else if ((parts & kHasDigest) != 0 && !base::take_short_text(value, digest_)) {
    return false;
  }
  if ((parts & kHasLanguage) != 0 && !base::take_short_text(value, language_)) return false;
  if ((parts & kHasTarget) != 0 && !base::take_fixed(value, target_)) return false;
  if ((parts & kHasOriginal) != 0) {
    std::uint64_t before = 0;
    if (!base::take_varint(value, before)) return false;
    if (!base::take_short_text(value, original_url_)) return false;
    has_original_ = true;
    original_date_ = Instant::from_ms(from_zigzag(before));
  }
  if ((parts & kHasUrl) == 0) return true;
  has_url_ = true;
  return base::take_short_text(value, url_);
}

std::string digest_text(std::string_view bytes, bool is_sha1) {
  Digest digest;
  if (!is_sha1 || bytes.size() != digest.bytes.size()) return std::string(bytes);
  std::memcpy(digest.bytes.data(), bytes.data(), digest.bytes.size());
  return digest.to_string();
}

std::string_view EntryView::surt() const { return page_.substr(1, page_.size() - 2 - kHashBytes); }

std::string EntryView::digest() const { return digest_text(digest_, is_sha1_); }

std::optional<EntryOriginal> EntryView::original() const {
  if (!has_original_) return std::nullopt;
  return EntryOriginal{.url = std::string(original_url_), .date = original_date_};
}

std::string EntryView::url() const {
  return has_url_ ? std::string(url_) : url_of_surt(surt(), is_https_, has_www_);
}

IndexEntry EntryView::to_entry() const {
  return {.url = url(),
          .date = date_,
          .kind = kind_,
          .counts = counts_,
          .is_not_modified = is_not_modified_,
          .is_cut = is_cut_,
          .status = status_,
          .mime = std::string(mime_),
          .digest = digest(),
          .language = std::string(language_),
          .target = target_,
          .original = original(),
          .place = place_};
}

}  // namespace meguri::archive
