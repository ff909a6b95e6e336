#include "bench/archive_walks.h"

#include <fmt/format.h>
#include <rocksdb/db.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "app/archive_index.h"
#include "archive/key_range.h"
#include "archive/sha1.h"
#include "archive/snapshot_walk.h"
#include "archive/temporal_index.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "bench/process.h"
#include "bench/timing.h"
#include "env/cpu_time.h"
#include "env/posix_file_system.h"
#include "sim/census.h"
#include "sim/dice.h"
#include "sim/site.h"

namespace meguri::bench {
namespace {

using archive::EntryKind;
using archive::IndexEntry;

constexpr base::Instant kStart = base::Instant::from_ms(1'767'225'600'000);
constexpr base::Duration kDay = base::Duration::hours(24);
constexpr std::uint64_t kDays = 10;
constexpr std::uint64_t kPagesOfHost = 100;
constexpr std::uint64_t kEntriesOfFile = 100'000;
constexpr std::uint64_t kRecordBytes = 8'400;
constexpr std::size_t kBatchEntries = 5'000;  // of an epoch
constexpr std::uint64_t kRangeBytes = std::uint64_t{16} << 20U;

// Every how many days a page is visited: 4.8 visits on the mean.
std::uint64_t period_of(std::uint64_t page) {
  const std::uint64_t draw = base::mix64(page) % 10;
  if (draw < 2) return 1;
  return draw < 6 ? 2 : 5;
}

sim::Census census_of(std::uint64_t entries) {
  sim::CensusOptions options;
  options.hosts = entries * 10 / 48 / kPagesOfHost + 1;
  options.pages = options.hosts * kPagesOfHost;
  options.size_exponent = 0;
  options.has_copies = false;
  return sim::Census(options);
}

// The visits of a crawl that went on for ten days, in the order of time.
class Visits {
 public:
  explicit Visits(std::uint64_t entries)
      : census_(census_of(entries)),
        pages_(census_.hosts() * kPagesOfHost),
        order_(1, pages_),
        versions_(pages_) {}

  // Calls `add` with each, up to `count` of them.
  void draw(std::uint64_t count, const std::function<void(const IndexEntry&)>& add) {
    for (std::uint64_t i = 0; count > 0; ++i) {
      const std::uint64_t day = i / pages_;
      const std::uint64_t page = order_(i % pages_);
      if ((day + page) % period_of(page) != 0) continue;
      const std::uint64_t ms = i % pages_ * static_cast<std::uint64_t>(kDay.ms()) / pages_;
      add(visit_of(page, kStart + kDay * static_cast<std::int64_t>(day) +
                             base::Duration::from_ms(static_cast<std::int64_t>(ms))));
      --count;
    }
  }

 private:
  IndexEntry visit_of(std::uint64_t page, base::Instant date) {
    const std::uint64_t host = page / kPagesOfHost;
    const sim::Site site(census_, host);
    const std::uint64_t draw = base::mix64(number_ + 1) % 100;
    IndexEntry entry;
    entry.url = fmt::format("http{}://{}{}", host % 4 == 0 ? "" : "s", census_.name_of(host),
                            site.address_of(page % kPagesOfHost));
    entry.date = date;
    entry.status = 200;
    entry.mime = "text/html";
    if (versions_[page] == 0 || draw < 20) {
      ++versions_[page];
    } else {
      entry.kind = EntryKind::kUnchanged;
      entry.is_not_modified = draw < 50;
      if (entry.is_not_modified) entry.status = 304;
    }
    entry.digest = sha1_.of(fmt::format("{} {}", page, versions_[page])).to_string();
    if (draw == 99) set_failure(entry, EntryKind::kGone, 404);
    if (draw >= 97 && draw < 99) set_failure(entry, EntryKind::kError, 503);
    entry.place = {.file = static_cast<std::uint32_t>(number_ / kEntriesOfFile + 1),
                   .offset = number_ % kEntriesOfFile * kRecordBytes,
                   .length = kRecordBytes - draw};
    ++number_;
    return entry;
  }
  static void set_failure(IndexEntry& entry, EntryKind kind, std::uint16_t status) {
    entry.kind = kind;
    entry.status = status;
    entry.is_not_modified = false;
  }

  const sim::Census census_;
  const std::uint64_t pages_;
  const sim::Shuffle order_;
  std::vector<std::uint8_t> versions_;  // of each page so far
  std::uint64_t number_ = 0;
  archive::Sha1 sha1_;
};

base::Status fill(archive::TemporalIndex& index, std::uint64_t entries) {
  archive::IndexBatch batch;
  for (std::uint32_t i = 1; i <= entries / kEntriesOfFile + 1; ++i) {
    batch.set({.number = i,
               .path = fmt::format("warc/{:05}.warc.gz", i),
               .bytes = kEntriesOfFile * kRecordBytes,
               .is_complete = true,
               .entries = kEntriesOfFile});
  }
  std::size_t held = 0;
  base::Status status;
  Visits(entries).draw(entries, [&](const IndexEntry& entry) {
    batch.add(entry);
    if (++held < kBatchEntries || !status) return;
    status = index.write(batch);
    batch.clear();
    held = 0;
  });
  RETURN_IF_ERROR(status);
  RETURN_IF_ERROR(index.write(batch));
  return index.flush();
}

archive::SnapshotQuery query_of(Walk walk) {
  const base::Instant middle = kStart + kDay * (kDays / 2) + kDay / 2;
  if (walk == Walk::kAt) return archive::SnapshotQuery::at(middle);
  archive::SnapshotQuery query;
  query.period = {middle, middle + kDay};
  return query;
}

// Walks over the ranges, which the threads take one after the other.
class Walkers {
 public:
  Walkers(const archive::TemporalIndex& index, Walk walk,
          const std::vector<archive::KeyRange>& ranges)
      : index_(index), query_(query_of(walk)), ranges_(ranges) {}

  base::Status run(std::size_t threads) {
    std::vector<std::thread> workers;
    for (std::size_t i = 0; i < threads; ++i) workers.emplace_back([this] { walk(); });
    for (std::thread& worker : workers) worker.join();
    const base::MutexLock lock(mutex_);
    return status_;
  }

  std::uint64_t items() const { return items_; }
  double cpu_seconds() const { return static_cast<double>(cpu_ns_) / 1e9; }

 private:
  void walk() {
    archive::SnapshotWalk walk(index_, query_);
    std::uint64_t bytes = 0;
    const auto take = [&bytes](const archive::SnapshotItem& item) -> base::Status {
      if (item.content != nullptr) bytes += item.content->place().length;
      return {};
    };
    for (std::size_t i = next_++; i < ranges_.size(); i = next_++) {
      if (const auto status = walk.walk(ranges_[i], take); !status) {
        const base::MutexLock lock(mutex_);
        status_ = status;
      }
    }
    CHECK(bytes > 0);
    items_ += walk.counts().items;
    cpu_ns_ += env::thread_cpu_nanoseconds();
  }

  const archive::TemporalIndex& index_;
  const archive::SnapshotQuery query_;
  const std::vector<archive::KeyRange>& ranges_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::uint64_t> items_ = 0;
  std::atomic<std::int64_t> cpu_ns_ = 0;
  base::Mutex mutex_;
  base::Status status_ GUARDED_BY(mutex_);
};

// What a child found out, for its parent.
void tell(const nlohmann::json& figures) {
  const std::string text = figures.dump();
  CHECK(::write(STDOUT_FILENO, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

base::Status walk_in_child(const std::string& archive, Walk walk, std::size_t threads) {
  env::PosixFileSystem files;
  ASSIGN_OR_RETURN(const auto index, app::open_archive_index(files, archive));
  std::vector<archive::KeyRange> ranges = {archive::range_of_entries()};
  base::Status status;
  std::optional<Walkers> walkers;
  const double real = seconds_of([&] {
    if (threads > 1) {
      auto parts = archive::split(*index, ranges, kRangeBytes);
      if (parts) ranges = *std::move(parts);
    }
    walkers.emplace(*index, walk, ranges);
    status = walkers->run(threads);
  });
  RETURN_IF_ERROR(status);
  tell({{"items", walkers->items()}, {"cpu", walkers->cpu_seconds()}, {"real", real}});
  return {};
}

base::Status iterate_in_child(const std::string& archive) {
  rocksdb::DB* opened = nullptr;
  const auto status = rocksdb::DB::OpenForReadOnly({}, archive + "/index", &opened);
  if (!status.ok()) return base::fail(base::ErrorCode::kFailed, "{}", status.ToString());
  const std::unique_ptr<rocksdb::DB> db(opened);
  std::uint64_t keys = 0;
  double cpu = 0;
  const double real = seconds_of([&] {
    cpu = cpu_seconds_of([&] {
      const std::unique_ptr<rocksdb::Iterator> iterator(db->NewIterator({}));
      for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) ++keys;
      CHECK(iterator->status().ok());
    });
  });
  tell({{"items", keys}, {"cpu", cpu}, {"real", real}});
  return {};
}

base::Result<nlohmann::json> figures_of(const ChildEnd& end, std::string_view doing) {
  auto figures = nlohmann::json::parse(end.output, nullptr, false);
  if (end.is_good && !figures.is_discarded()) return figures;
  return base::fail(base::ErrorCode::kFailed, "{} failed", doing);
}

int exit_code_of(const base::Status& status) {
  if (!status) fmt::print(stderr, "{}\n", status.error().message());
  return status ? 0 : 1;
}

}  // namespace

base::Result<IndexCost> make_index(const std::string& archive, std::uint64_t entries) {
  env::PosixFileSystem files;
  RETURN_IF_ERROR(files.make_dirs(archive));
  IndexCost cost;
  ChildEnd end;
  cost.real_seconds = seconds_of([&] {
    end = run_child([&] {
      auto index = app::open_index_for_writing(archive);
      return exit_code_of(index ? fill(**index, entries) : std::unexpected(index.error()));
    });
  });
  if (!end.is_good) return base::fail(base::ErrorCode::kFailed, "no index could be made");
  cost.cpu_seconds = end.cpu_seconds;
  const std::string dir = archive + "/index";
  ASSIGN_OR_RETURN(const auto names, files.list(dir));
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(const std::uint64_t size, files.size(fmt::format("{}/{}", dir, name)));
    cost.disk_mb += static_cast<double>(size) / 1e6;
  }
  return cost;
}

base::Result<WalkCost> measure_walk(const std::string& archive, std::uint64_t entries, Walk walk,
                                    std::size_t threads) {
  const ChildEnd end = run_child([&] {
    return exit_code_of(walk == Walk::kBare ? iterate_in_child(archive)
                                            : walk_in_child(archive, walk, threads));
  });
  ASSIGN_OR_RETURN(const auto figures, figures_of(end, "a walk over the index"));
  return WalkCost{.entries = entries,
                  .items = figures["items"].get<std::uint64_t>(),
                  .cpu_seconds = figures["cpu"].get<double>(),
                  .real_seconds = figures["real"].get<double>(),
                  .peak_mb = end.peak_mb};
}

}  // namespace meguri::bench
