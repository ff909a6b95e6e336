#include "crawl/history_visit.h"

#include "crawl/record_bytes.h"

namespace meguri::flow {

namespace {

// What is there of what may be missing.
enum Part : std::uint8_t {
  kNotModified = 1,
  kDigest = 2,
  kSketch = 4,
  kList = 8,
  kTarget = 16,
  kModified = 32,
  kAllParts = 63,
};

std::uint8_t parts_of(const crawl::HistoryVisit& item) {
  unsigned parts = 0;
  if (item.is_not_modified) parts |= kNotModified;
  if (item.digest) parts |= kDigest;
  if (item.sketch) parts |= kSketch;
  if (item.is_list) parts |= kList;
  if (item.target) parts |= kTarget;
  if (item.last_modified) parts |= kModified;
  return static_cast<std::uint8_t>(parts);
}

bool take_parts(std::string_view bytes, unsigned parts, crawl::HistoryVisit& item) {
  const auto has = [parts](Part part) { return (parts & part) != 0; };
  item.is_not_modified = has(kNotModified);
  item.is_list = has(kList);
  item.digest.reset();
  item.sketch.reset();
  item.target.reset();
  item.last_modified.reset();
  if (has(kDigest) && !crawl::take_bytes(bytes, item.digest.emplace().bytes)) return false;
  if (has(kSketch) && !crawl::take_sketch(bytes, item.sketch.emplace())) return false;
  if (has(kTarget) && !take_fixed(bytes, item.target.emplace())) return false;
  if (has(kModified) && !crawl::take_instant(bytes, item.last_modified.emplace())) return false;
  return bytes.empty();
}

}  // namespace

void Codec<crawl::HistoryVisit>::encode(const crawl::HistoryVisit& item, std::string& out) {
  put_text(out, item.url);
  crawl::put_instant(out, item.date);
  put_fixed(out, item.status);
  put_fixed(out, item.said_digest);
  put_fixed(out, item.depth);
  put_fixed(out, parts_of(item));
  if (item.digest) crawl::put_bytes(out, item.digest->bytes);
  if (item.sketch) crawl::put_sketch(out, *item.sketch);
  if (item.target) put_fixed(out, *item.target);
  if (item.last_modified) crawl::put_instant(out, *item.last_modified);
}

bool Codec<crawl::HistoryVisit>::decode(std::string_view bytes, crawl::HistoryVisit& item) {
  std::string_view url;
  std::uint8_t parts = 0;
  if (!take_text(bytes, url) || !crawl::take_instant(bytes, item.date) ||
      !take_fixed(bytes, item.status) || !take_fixed(bytes, item.said_digest) ||
      !take_fixed(bytes, item.depth) || !take_fixed(bytes, parts) || parts > kAllParts) {
    return false;
  }
  item.url = url;
  return take_parts(bytes, parts, item);
}

}  // namespace meguri::flow
