#include "bench/archive_warcs.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <thread>
#include <utility>

#include "archive/record_entry.h"
#include "archive/warc_file.h"
#include "archive/warc_reader.h"
#include "archive/warc_record.h"
#include "base/mutex.h"
#include "env/clock.h"
#include "env/posix_file_system.h"
#include "env/random.h"
#include "sim/dice.h"
#include "sim/world.h"

namespace meguri::bench {
namespace {

constexpr base::Instant kStart = base::Instant::from_ms(1'767'225'600'000);
constexpr std::uint64_t kPagesOfHost = 100;
constexpr std::uint64_t kVisitsOfRevisit = 10;  // of which one is one
constexpr std::size_t kRemembered = 1'000;      // visits that a revisit may refer to

sim::World world_of(const WarcLoad& load) {
  sim::WorldOptions options;
  options.census.hosts = (load.pages + kPagesOfHost - 1) / kPagesOfHost;
  options.census.pages = options.census.hosts * kPagesOfHost;
  options.census.size_exponent = 0;
  options.start = kStart;
  options.delay_mean = {};
  options.crawl_delays = false;
  options.make_sound();
  return sim::World(options);
}

std::string head_of(const sim::Answer& answer) {
  std::string head = "HTTP/1.1 200 OK\r\n";
  for (const sim::Field& field : answer.fields) {
    head += fmt::format("{}: {}\r\n", field.name, field.value);
  }
  return head + fmt::format("Content-Length: {}\r\n\r\n", answer.body.size());
}

// One thread's share of the visits, in files of its own.
class Crawl {
 public:
  Crawl(const sim::World& world, const WarcLoad& load, std::unique_ptr<archive::WarcWriter> writer)
      : world_(world), load_(load), writer_(std::move(writer)) {}

  base::Status visit(std::uint64_t page, base::Instant date) {
    if (!known_.empty() && page % kVisitsOfRevisit == 0) {
      Known known = std::move(known_.front());
      known_.pop_front();
      RETURN_IF_ERROR(store(known.page, date, &known));
    }
    return store(page, date, nullptr);
  }
  base::Status finish() { return writer_->sync(); }

 private:
  struct Known {
    std::uint64_t page = 0;
    archive::RecordId id;
    base::Instant date;
    archive::Digest digest;
  };

  base::Status store(std::uint64_t page, base::Instant date, const Known* known) {
    const sim::HostNumber host_number = page / kPagesOfHost;
    const sim::Site site(world_.census(), host_number);
    const std::string host = world_.census().name_of(host_number);
    const std::string target = site.address_of(page % kPagesOfHost);
    sim::Request request;
    request.origin.host = host;
    request.target = target;
    request.accepts_gzip = load_.is_encoded;
    request.accepts_brotli = load_.is_encoded;
    sim::Answer answer = world_.answer(request, known == nullptr ? date : known->date);
    const web::ParsedHead head = web::parse_head(web::HeadKind::kResponse, head_of(answer));
    const std::string url = fmt::format("http://{}{}", host, target);
    const std::string asked = fmt::format(
        "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: Mozilla/5.0 (compatible; meguri; bench)\r\n"
        "Accept: text/html,*/*;q=0.5\r\nAccept-Encoding: gzip, br\r\n\r\n",
        target, host);
    archive::Exchange exchange{.visit = {.target_uri = url,
                                         .date = date,
                                         .fetch_time = base::Duration::from_ms(120),
                                         .ip_address = "127.1.0.1",
                                         .via = "http://example.test/",
                                         .depth = 3,
                                         .purpose = {},
                                         .language = "en"},
                               .request_head = asked,
                               .head = head.head,
                               .body = env::SpooledBytes(std::move(answer.body)),
                               .payload_digest = {},
                               .truncation = archive::Truncation::kNone,
                               .protocol = {}};
    ASSIGN_OR_RETURN(exchange.payload_digest, maker_.digest_of(exchange.body));
    return append(exchange, page, known);
  }

  base::Status append(const archive::Exchange& exchange, std::uint64_t page, const Known* known) {
    const auto ids = archive::VisitIds::draw(random_);
    if (known != nullptr) {
      const archive::Original original{.id = known->id,
                                       .target_uri = exchange.visit.target_uri,
                                       .date = known->date,
                                       .payload_digest = known->digest};
      const auto kind = archive::RevisitKind::kIdenticalPayload;
      if (!archive::may_refer(exchange, original, kind)) return {};
      RETURN_IF_ERROR(writer_->append(maker_.revisit(exchange, original, kind, ids).bytes));
      return {};
    }
    ASSIGN_OR_RETURN(const archive::MadeRecords made, maker_.response(exchange, ids));
    RETURN_IF_ERROR(writer_->append(made.bytes));
    if (known_.size() < kRemembered) {
      known_.push_back({page, made.first_id, exchange.visit.date, exchange.payload_digest});
    }
    return {};
  }

  const sim::World& world_;
  const WarcLoad& load_;
  const std::unique_ptr<archive::WarcWriter> writer_;
  archive::RecordMaker maker_;
  env::Random random_{11};
  std::deque<Known> known_;
};

base::Status crawl_share(const sim::World& world, const WarcLoad& load, const std::string& dir,
                         std::uint64_t share, std::uint64_t shares) {
  env::PosixFileSystem files;
  const env::RealClock clock;
  archive::WarcFileOptions options;
  options.series.dir = dir;
  options.series.instance = fmt::format("{}", share);
  options.file_bytes_max = load.file_bytes;
  options.info.software = "meguri";
  ASSIGN_OR_RETURN(auto writer,
                   archive::WarcWriter::open(files, clock, env::Random(share), options, {}));
  Crawl crawl(world, load, std::move(writer));
  const sim::Shuffle order(1, load.pages);
  for (std::uint64_t i = share; i < load.pages; i += shares) {
    const auto late = base::Duration::from_ms(static_cast<std::int64_t>(i * 10));
    RETURN_IF_ERROR(crawl.visit(order(i), kStart + late));
  }
  return crawl.finish();
}

}  // namespace

base::Result<std::vector<std::string>> make_warcs(const std::string& dir, const WarcLoad& load) {
  env::PosixFileSystem files;
  RETURN_IF_ERROR(files.make_dirs(dir));
  const sim::World world = world_of(load);
  base::Mutex mutex;
  base::Status status;
  std::vector<std::thread> threads;
  const std::uint64_t shares = std::max(1U, std::thread::hardware_concurrency());
  for (std::uint64_t share = 0; share < shares; ++share) {
    threads.emplace_back([&, share] {
      const base::Status one = crawl_share(world, load, dir, share, shares);
      const base::MutexLock lock(mutex);
      if (!one) status = one;
    });
  }
  for (std::thread& thread : threads) thread.join();
  RETURN_IF_ERROR(status);
  ASSIGN_OR_RETURN(std::vector<std::string> paths, files.list(dir));
  for (std::string& path : paths) path = fmt::format("{}/{}", dir, path);
  return paths;
}

base::Result<WarcContents> count_records(const std::vector<std::string>& paths) {
  env::PosixFileSystem files;
  WarcContents contents;
  archive::EntryReader entries;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const auto file, files.open_read(path));
    ASSIGN_OR_RETURN(const std::uint64_t bytes, file->size());
    contents.mb += static_cast<double>(bytes) / 1e6;
    archive::WarcReader reader(*file);
    for (;;) {
      ASSIGN_OR_RETURN(const bool has_record, reader.next());
      if (!has_record) break;
      contents.records += 1;
      ASSIGN_OR_RETURN(const auto entry, entries.read(reader));
      if (entry) contents.visits += 1;
    }
  }
  return contents;
}

}  // namespace meguri::bench
