// EntryFilter: which visits are meant, by what they found.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "archive/index_entry.h"
#include "base/result.h"

namespace meguri::archive {

// All conditions that were added; of one kind, any of them. What a visit does not say itself, its
// content says: a 304 has no type. Thread-compatible.
class EntryFilter {
 public:
  // kInvalid: the text is none; the sentence says so.
  base::Status add_mime(std::string_view text);      // "text/html", "image/*"
  base::Status add_status(std::string_view text);    // "200", "4xx", "300-399"
  base::Status add_language(std::string_view text);  // "ja"
  base::Status add_digest(std::string_view text);    // "sha1:…", or its base32 alone

  bool is_empty() const {
    return mimes_.empty() && statuses_.empty() && languages_.empty() && digests_.empty();
  }
  // Whether the entry says itself all that is asked for.
  bool is_told_by(const EntryView& entry) const;
  // `content` may be null, or the entry itself.
  bool holds(const EntryView& entry, const EntryView* content) const;

 private:
  struct StatusRange {
    std::uint16_t first = 0;
    std::uint16_t last = 0;
  };

  bool holds_mime(std::string_view mime) const;

  std::vector<std::string> mimes_;  // "image/" of "image/*"
  std::vector<StatusRange> statuses_;
  std::vector<std::string> languages_;
  std::vector<std::string> digests_;
};

}  // namespace meguri::archive
