// A small archive in memory, for tests of what is done to archives: files of a crawl, with the
// index that the crawl wrote.
#pragma once

#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "archive/series_indexer.h"
#include "archive/temporal_index.h"
#include "archive/warc_file.h"
#include "archive/warc_record.h"
#include "base/check.h"
#include "env/clock.h"
#include "env/file_system.h"
#include "env/memory_ordered_store.h"
#include "env/random.h"
#include "web/http_head.h"

namespace meguri::archive {

// Borrows the file system. In "/a".
class SmallArchive {
 public:
  explicit SmallArchive(env::FileSystem& files, Removals removals = {},
                        WarcCompression compression = WarcCompression::kGzip)
      : files_(files) {
    options_.series.dir = "/a/warc";
    options_.file_bytes_max = 5000;
    options_.records.compression = compression;
    CHECK(files_.make_dirs("/a/warc"));
    index_ = TemporalIndex::open(disk_.open().value(), std::move(removals)).value();
    indexer_ = std::make_unique<SeriesIndexer>(*index_, files_, options_.series, "warc");
    writer_ = WarcWriter::open(files_, clock_, env::Random(7), options_, std::nullopt).value();
  }

  // A page that was fetched, with a request.
  void visit(const std::string& url, const std::string& body) {
    RecordMaker maker(options_.records);
    const std::string text = fmt::format(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n", body.size());
    const web::ParsedHead head = web::parse_head(web::HeadKind::kResponse, text);
    const Exchange exchange{.visit = {.target_uri = url,
                                      .date = start() + base::Duration::seconds(visits_++),
                                      .fetch_time = {},
                                      .ip_address = {},
                                      .via = {},
                                      .purpose = {}},
                            .request_head = "GET / HTTP/1.1\r\n\r\n",
                            .head = head.head,
                            .body = env::SpooledBytes(body),
                            .payload_digest = maker.digest_of(env::SpooledBytes(body)).value(),
                            .protocol = {}};
    const MadeRecords made = maker.response(exchange, VisitIds::draw(random_)).value();
    indexer_->add(writer_->append(made.bytes).value(), made);
  }

  // The epoch ends: all before is durable.
  WarcPosition commit() {
    CHECK(writer_->sync());
    CHECK(indexer_->apply(writer_->position()));
    CHECK(index_->flush());
    return writer_->position();
  }

  TemporalIndex& index() { return *index_; }
  const WarcSeries& series() const { return options_.series; }

  static base::Instant start() { return base::Instant::from_ms(1'767'225'600'000); }

  static std::map<std::string, std::string> all_of(const TemporalIndex& index) {
    std::map<std::string, std::string> all;
    const auto cursor = index.cursor();
    for (cursor->seek(""); cursor->valid(); cursor->next()) {
      all.emplace(cursor->key(), cursor->value());
    }
    return all;
  }

 private:
  env::FileSystem& files_;
  env::VirtualClock clock_{start()};
  env::Random random_{3};
  WarcFileOptions options_;
  env::MemoryStoreDisk disk_;
  std::unique_ptr<TemporalIndex> index_;
  std::unique_ptr<SeriesIndexer> indexer_;
  std::unique_ptr<WarcWriter> writer_;
  int visits_ = 0;
};

}  // namespace meguri::archive
