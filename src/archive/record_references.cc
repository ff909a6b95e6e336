#include "archive/record_references.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/time.h"
#include "web/ascii.h"

namespace meguri::archive {

namespace {

constexpr std::uint64_t kMomentSeed = 1;
constexpr std::uint64_t kDigestSeed = 2;

std::string_view without_brackets(std::string_view text) {
  return text.starts_with('<') && text.ends_with('>') ? text.substr(1, text.size() - 2) : text;
}

std::uint64_t id_of(std::string_view id) {
  return id.empty() ? 0 : base::hash64(without_brackets(id));
}

// Dates are compared by the second: not all writers repeat its fractions.
std::uint64_t moment_of(std::string_view uri, std::string_view date) {
  if (uri.empty() || date.empty()) return 0;
  const auto instant = base::Instant::parse_rfc3339(date);
  std::string text = instant ? instant->to_digits() : std::string(date);
  text += without_brackets(uri);
  return base::hash64(text, kMomentSeed);
}

std::uint64_t digest_of(std::string_view digest) {
  return digest.empty() ? 0 : base::hash64(web::lower_copy(digest), kDigestSeed);
}

}  // namespace

RecordReferences::Id RecordReferences::add(const WarcRecord& record, std::uint32_t file) {
  const std::uint64_t id = id_of(record.get("WARC-Record-ID"));
  Id state = Id::kNew;
  if (id != 0) {
    const auto [known, is_new] = ids_.emplace(id, file);
    if (!is_new) state = known->second == file ? Id::kOfThisFile : Id::kOfAnotherFile;
  }
  const std::uint64_t digest = digest_of(record.get("WARC-Payload-Digest"));
  if (web::equals_ignoring_case(record.type(), "revisit")) {
    revisits_.push_back({.place = {.file = file, .offset = record.offset},
                         .id = id_of(record.get("WARC-Refers-To")),
                         .moment = moment_of(record.get("WARC-Refers-To-Target-URI"),
                                             record.get("WARC-Refers-To-Date")),
                         .digest = digest});
  } else if (!web::equals_ignoring_case(record.type(), "request")) {
    const std::uint64_t moment = moment_of(record.target_uri(), record.get("WARC-Date"));
    if (moment != 0) targets_.push_back(moment);
    if (digest != 0) targets_.push_back(digest);
  }
  return state;
}

std::vector<RecordReferences::Place> RecordReferences::dangling() {
  std::ranges::sort(targets_);
  const auto has = [this](std::uint64_t hash) {
    return std::ranges::binary_search(targets_, hash);
  };
  std::vector<Place> found;
  for (const Revisit& revisit : revisits_) {
    const bool refers = (revisit.id != 0 && ids_.contains(revisit.id)) ||
                        (revisit.moment != 0 && has(revisit.moment)) ||
                        (revisit.digest != 0 && has(revisit.digest));
    if (!refers) found.push_back(revisit.place);
  }
  return found;
}

}  // namespace meguri::archive
