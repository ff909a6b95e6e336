// HistoryVisit: what a record of a WARC file, ours or anybody's, tells of a visit before this
// crawl.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "archive/sha1.h"
#include "base/time.h"
#include "flow/codec.h"
#include "web/similarity.h"

namespace meguri::crawl {

// What two visits must tell so that whoever compares them knows whether the page had changed.
struct HistoryVisit {
  std::string url;  // canonical
  base::Instant date;
  std::uint16_t status = 0;
  // The body was as before, which the record leaves to its status: 304.
  bool is_not_modified = false;
  std::optional<archive::Digest> digest = {};  // of the body; none where it is in another record
  // Hash of the digest as the record itself states it, by whatever method; 0: it states none.
  std::uint64_t said_digest = 0;
  std::optional<web::TextSketch> sketch = {};
  bool is_list = false;                             // a sitemap or a feed
  std::optional<std::uint64_t> target = {};         // of a redirect: hash of where it leads
  std::optional<base::Instant> last_modified = {};  // as the answer has it
  std::uint32_t depth = 0;                          // where the record tells it

  friend bool operator==(const HistoryVisit&, const HistoryVisit&) = default;
};

}  // namespace meguri::crawl

namespace meguri::flow {

template <>
struct Codec<crawl::HistoryVisit> {
  static void encode(const crawl::HistoryVisit& item, std::string& out);
  static bool decode(std::string_view bytes, crawl::HistoryVisit& item);
};

}  // namespace meguri::flow
