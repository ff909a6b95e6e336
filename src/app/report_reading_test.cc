#include "app/report_reading.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "crawl/crawl_log_line.h"
#include "crawl/host_page_counts.h"
#include "crawl/page_store.h"
#include "crawl/registry_state.h"
#include "crawl/revisit_plan.h"
#include "env/posix_file_system.h"
#include "env/scratch_folder.h"
#include "flow/checkpoint.h"

namespace meguri::app {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kStart = Instant::from_ms(1'767'225'600'000);  // 2026-01-01
constexpr int kPages = 20;

// The disk of a crawl that ends an epoch whenever somebody looks at its checkpoint.
class BusyDisk final : public env::FileSystem {
 public:
  base::Result<std::unique_ptr<env::ReadableFile>> open_read(const std::string& path) override {
    constexpr std::string_view kName = "/checkpoint";
    if (path.ends_with("/state/checkpoint")) {
      const std::string dir = path.substr(0, path.size() - kName.size());
      auto checkpoint = flow::Checkpoint::load(disk_, dir).value();
      ++checkpoint.epoch;
      RETURN_IF_ERROR(checkpoint.save(disk_, dir));
    }
    return disk_.open_read(path);
  }
  base::Result<std::unique_ptr<env::WritableFile>> open_append(const std::string& path) override {
    return disk_.open_append(path);
  }
  base::Result<std::unique_ptr<env::WritableFile>> create(const std::string& path) override {
    return disk_.create(path);
  }
  base::Result<std::unique_ptr<env::TemporaryFile>> open_temporary(
      const std::string& dir) override {
    return disk_.open_temporary(dir);
  }
  base::Status truncate(const std::string& path, std::uint64_t size) override {
    return disk_.truncate(path, size);
  }
  base::Status punch(const std::string& path, std::uint64_t offset, std::uint64_t length) override {
    return disk_.punch(path, offset, length);
  }
  base::Status rename(const std::string& from, const std::string& to) override {
    return disk_.rename(from, to);
  }
  base::Status remove(const std::string& path) override { return disk_.remove(path); }
  base::Status make_dirs(const std::string& path) override { return disk_.make_dirs(path); }
  base::Status sync_dir(const std::string& path) override { return disk_.sync_dir(path); }
  base::Result<bool> exists(const std::string& path) override { return disk_.exists(path); }
  base::Result<std::uint64_t> size(const std::string& path) override { return disk_.size(path); }
  base::Result<env::FileStamp> stamp(const std::string& path) override { return disk_.stamp(path); }
  base::Result<std::vector<std::string>> list(const std::string& path) override {
    return disk_.list(path);
  }
  base::Result<std::uint64_t> free_space(const std::string& path) override {
    return disk_.free_space(path);
  }
  base::Result<std::unique_ptr<env::FileLock>> lock(const std::string& path) override {
    return disk_.lock(path);
  }

 private:
  env::PosixFileSystem disk_;
};

// An archive of two hosts, whose pages ask for a visit an hour each.
class ReportReading : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(files_.make_dirs(state()));
    ASSERT_TRUE(files_.make_dirs(archive() + "/logs"));
    crawl::RegistryState registry;
    registry.known = registry.done = kPages;
    registry.visited[static_cast<std::size_t>(crawl::VisitOutcome::kUnchanged)] = kPages;
    const std::string dir = state() + "/registry";
    auto pages = crawl::PageStore::open(files_, crawl::pages_dir(dir), {}, "", kStart).value();
    auto hosts = crawl::HostPageCounts::open(files_, crawl::host_counts_dir(dir), "").value();
    for (const char* name : {"a.example", "b.example"}) hosts->add_host(name, kStart);
    for (int i = 0; i < kPages; ++i) {
      const crawl::PageRecord record = record_of(i);
      const auto host = static_cast<crawl::Index>(i % 2);
      hosts->count_page(host);
      hosts->count_done(host);
      hosts->change_load(host, crawl::load_of(record));
      ASSERT_TRUE(pages->add(crawl::page_id_of(record.candidate.url), record, record.next_visit));
    }
    registry.pages = pages->commit(1).value();
    registry.hosts = hosts->commit(1).value();
    flow::Checkpoint checkpoint;
    checkpoint.epoch = 1;
    checkpoint.states["registry"] = registry.encode();
    checkpoint.states["log"] = write_log().encode();
    ASSERT_TRUE(checkpoint.save(files_, state()));
  }

  static crawl::PageRecord record_of(int i) {
    crawl::PageRecord record;
    record.candidate.url = fmt::format("http://{}.example/{}", i % 2 == 0 ? 'a' : 'b', i);
    record.state = crawl::PageState::kVisited;
    record.outcome = crawl::VisitOutcome::kUnchanged;
    record.visits = record.changes.visits = 2;
    record.changes.versions = 1;
    record.visited = record.changes.last_visit = kStart;
    record.changes.interval = Duration::hours(1);
    record.next_visit = kStart + Duration::hours(1);
    return record;
  }

  crawl::CrawlLogMark write_log() {
    crawl::VisitNote note;
    note.date = kStart;
    note.outcome = crawl::VisitOutcome::kUnchanged;
    note.status = 304;
    std::string text;
    append_line(note, &text);
    const crawl::CrawlLogMark mark{.serial = 1, .offset = text.size()};
    append_line(note, &text);  // after the checkpoint
    EXPECT_TRUE(env::write_file_atomically(files_, archive() + "/logs/crawl.jsonl", text));
    return mark;
  }

  void remove_records() {
    const std::string dir = crawl::pages_dir(state() + "/registry") + "/records";
    const auto names = files_.list(dir).value();
    for (const std::string& name : names) {
      if (name.starts_with("checkpoint")) {
        ASSERT_TRUE(files_.remove(dir + "/" + name));
      }
    }
  }

  std::string archive() const { return folder_.path(); }
  std::string state() const { return folder_.path() + "/state"; }
  base::Result<CrawlReport> read(env::FileSystem& files) const {
    return read_report(files, {archive(), options_, [](std::string_view /*text*/) {}});
  }

  env::PosixFileSystem files_;
  env::ScratchFolder folder_ = env::ScratchFolder::make("meguri-report-test").value();
  crawl::CrawlOptions options_;
};

TEST_F(ReportReading, IsOfOneCheckpoint) {
  const auto report = read(files_);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->epoch, 1U);
  EXPECT_EQ(report->standing.known, std::uint64_t{kPages});
  ASSERT_TRUE(report->pages);
  EXPECT_EQ(report->pages->pages, std::uint64_t{kPages});
  EXPECT_EQ(report->pages->seen_again, std::uint64_t{kPages});
  EXPECT_EQ(report->hosts.hosts, 2U);
  EXPECT_EQ(report->hosts.loaded, 2U);
  EXPECT_NEAR(report->hosts.visits_a_day, 24.0 * kPages, 1e-9);
  ASSERT_TRUE(report->visits);
  EXPECT_EQ(report->visits->not_modified, 1U);
  EXPECT_TRUE(report->notes.empty());
}

TEST_F(ReportReading, SaysDamageWhereNothingMoves) {
  remove_records();
  EXPECT_FALSE(read(files_));
}

TEST_F(ReportReading, IsWithoutPagesWhereACrawlGoesOnFasterThanTheyAreRead) {
  remove_records();
  BusyDisk busy;
  const auto report = read(busy);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_FALSE(report->pages);
  EXPECT_EQ(report->hosts.loaded, 2U);
  ASSERT_EQ(report->notes.size(), 1U);
  EXPECT_TRUE(report->notes[0].starts_with("The pages are not shown"));
}

TEST_F(ReportReading, SaysThatNothingWasCrawled) {
  ASSERT_TRUE(files_.remove(state() + "/checkpoint"));
  const auto report = read(files_);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), base::ErrorCode::kNotFound);
}

TEST_F(ReportReading, SaysThatThereIsNoLog) {
  auto checkpoint = flow::Checkpoint::load(files_, state()).value();
  checkpoint.states.erase("log");
  ASSERT_TRUE(checkpoint.save(files_, state()));
  const auto report = read(files_);
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->visits);
  ASSERT_EQ(report->notes.size(), 1U);
  EXPECT_TRUE(report->notes[0].starts_with("There is no crawl log"));
}

}  // namespace
}  // namespace meguri::app
