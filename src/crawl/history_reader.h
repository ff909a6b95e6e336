// HistoryReader: the visits that the records of a WARC file tell of.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "archive/sha1.h"
#include "archive/warc_reader.h"
#include "archive/warc_visit.h"
#include "base/result.h"
#include "base/time.h"
#include "crawl/history_visit.h"
#include "crawl/options.h"
#include "env/file_system.h"
#include "web/http_head.h"

namespace meguri::crawl {

// Of one file.
struct HistoryCounts {
  std::uint64_t records = 0;
  std::uint64_t visits = 0;   // of pages, over HTTP
  std::uint64_t damages = 0;  // places where something is missing or broken
};

// Reads bodies for their digest and their main text, as the crawl does; of a long one no more text
// than that. Passes over what is no visit of a page: robots.txt, DNS, fetches without an answer,
// and dates after `now`. Thread-compatible: one for each thread.
class HistoryReader {
 public:
  HistoryReader(const CrawlOptions& options, base::Instant now) : options_(options), now_(now) {
    options_.links_max = 0;  // of lists all are read, which are what they say
  }

  // Told of each visit, in the order of the file. Ends reading with its first error.
  using Take = std::function<base::Status(HistoryVisit&& visit)>;
  // kInvalid: this is no WARC file. Any other error is the disk's, or that of `take`.
  base::Result<HistoryCounts> read(const env::ReadableFile& file, const Take& take);

 private:
  base::Result<std::optional<HistoryVisit>> visit_of(archive::WarcReader& reader);
  base::Status read_body(archive::WarcReader& reader, const web::ParsedHead& parsed,
                         HistoryVisit& visit);
  base::Result<std::string> take_body(archive::WarcReader& reader, const web::ParsedHead& parsed);
  base::Status take_text(const web::HttpHead& head, std::string body, HistoryVisit& visit) const;

  CrawlOptions options_;
  const base::Instant now_;
  archive::Sha1 sha1_;
};

}  // namespace meguri::crawl
