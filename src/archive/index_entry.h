// IndexEntry: what a visit left in the temporal index, and how it is written there.
// docs/formats/index.md describes the bytes.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace meguri::archive {

// Where a record stands in the files of an archive.
struct RecordPlace {
  std::uint32_t file = 0;    // its number in the index
  std::uint64_t offset = 0;  // of the member that holds its first byte
  std::uint32_t index = 0;   // records before it in that member; nearly always none
  std::uint64_t length = 0;  // in the file; 0: not known, or not its own

  friend auto operator<=>(const RecordPlace&, const RecordPlace&) = default;
};

enum class EntryKind : std::uint8_t {
  kChanged,    // the record holds content, or refers to that of another page (`original`)
  kUnchanged,  // the content is that of an earlier entry of the same page
  kGone,       // 404, 410
  kError,      // any other status that is no content, or no answer
};

std::string_view name_of(EntryKind kind);  // "changed"

// A record of another URL that holds the content.
struct EntryOriginal {
  std::string url;
  base::Instant date;

  friend bool operator==(const EntryOriginal&, const EntryOriginal&) = default;
};

// Redirects are content: kChanged, told apart by `target`.
struct IndexEntry {
  std::string url;     // exact, as the record has it
  base::Instant date;  // of the visit, to the millisecond
  EntryKind kind = EntryKind::kChanged;
  bool counts = true;            // as a change, for the schedule
  bool is_not_modified = false;  // of kUnchanged: the server said so, 304
  bool is_cut = false;           // the record does not have all of the content
  std::uint16_t status = 0;      // of the answer; 0: none is known
  std::string mime = {};         // lower-case, without parameters; empty: not known
  std::string digest = {};       // of the payload: "sha1:" and base32, or as others label it
  std::string language = {};     // "ja"; empty: not known
  std::uint32_t target = 0;      // of a redirect: a hash of where it leads; 0: it is none
  std::optional<EntryOriginal> original = {};
  RecordPlace place = {};

  friend bool operator==(const IndexEntry&, const IndexEntry&) = default;
};

// Of all entries of the index; other keys begin with other bytes.
inline constexpr char kEntryKeyPrefix = 'e';
// A SURT is part of a key up to here.
inline constexpr std::size_t kKeySurtBytesMax = 8192;

// Keys sort by SURT, then by exact URL, then newest first.
std::string key_of(const IndexEntry& entry);
// Both at once: most of their cost is the SURT.
struct EncodedEntry {
  std::string key;
  std::string value;
};
EncodedEntry encode(const IndexEntry& entry);

// The text of EntryView::digest_bytes().
std::string digest_text(std::string_view bytes, bool is_sha1);

// The front that the keys of all entries of one exact URL share.
std::string page_key_of(std::string_view url);
// Likewise with the date: seeking to it finds the newest entry of that date or before.
std::string page_key_of(std::string_view url, base::Instant date);

// Likewise of the front itself, as EntryView::page() has it.
std::string date_key_of(std::string_view page, base::Instant date);

// An entry where it stands, read without copying. The views die with the bytes they are of.
class EntryView {
 public:
  // Nullopt: these bytes are no entry.
  static std::optional<EntryView> parse(std::string_view key, std::string_view value);

  // The front of the key that is equal for all entries of one exact URL, and for no others.
  std::string_view page() const { return page_; }
  std::string_view surt() const;  // cut at kKeySurtBytesMax

  base::Instant date() const { return date_; }
  EntryKind kind() const { return kind_; }
  bool counts() const { return counts_; }
  bool is_not_modified() const { return is_not_modified_; }
  bool is_cut() const { return is_cut_; }
  std::uint16_t status() const { return status_; }
  std::string_view mime() const { return mime_; }
  // Bytes that are equal for equal digests of one algorithm; empty: not known.
  std::string_view digest_bytes() const { return digest_; }
  std::string digest() const;  // as in IndexEntry
  bool has_sha1() const { return is_sha1_; }
  std::string_view language() const { return language_; }
  std::uint32_t target() const { return target_; }
  bool has_original() const { return has_original_; }
  std::optional<EntryOriginal> original() const;
  const RecordPlace& place() const { return place_; }

  std::string url() const;
  IndexEntry to_entry() const;

 private:
  bool parse_value(std::string_view value);
  bool parse_key(std::string_view key);
  bool parse_parts(std::string_view& value, unsigned parts);

  std::string_view page_;
  base::Instant date_;
  EntryKind kind_ = EntryKind::kChanged;
  bool counts_ = true;
  bool is_not_modified_ = false;
  bool is_cut_ = false;
  bool is_sha1_ = false;
  bool has_index_ = false;
  bool has_original_ = false;
  bool has_url_ = false;
  bool is_https_ = false;
  bool has_www_ = false;
  std::uint16_t status_ = 0;
  std::uint32_t target_ = 0;
  std::string_view mime_;
  std::string_view digest_;
  std::string_view language_;
  std::string_view original_url_;
  base::Instant original_date_;
  std::string_view url_;
  RecordPlace place_;
};

}  // namespace meguri::archive
