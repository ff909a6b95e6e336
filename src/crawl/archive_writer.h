// ArchiveWriter: appends records to the WARC files and, once they are durable, tells the crawl what
// was found. The one place where a visit becomes a fact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/series_indexer.h"
#include "archive/temporal_index.h"
#include "archive/warc_file.h"
#include "base/result.h"
#include "base/time.h"
#include "crawl/messages.h"
#include "crawl/options.h"
#include "flow/module.h"

namespace meguri::crawl {

// When an ArchiveWriter asks for the end of an epoch.
struct ArchiveLimits {
  std::size_t findings_max = 1024;                       // appended and not yet told of
  std::uint64_t bytes_max = std::uint64_t{64} << 20U;    // of their records
  base::Duration wait_max = base::Duration::seconds(1);  // of the first of them
  // Of records whose entries are in the index, but not on its disk: what a restart reads again.
  std::uint64_t unindexed_bytes_max = std::uint64_t{256} << 20U;
};

// A blocking module; each instance writes a series of its own. It has no marked inputs, so epochs
// begin here: commit() syncs the files, then emits what was found in them, and returns their end.
// So the reports of an epoch are exactly those of the records before the mark of that epoch; what
// was appended later is cut off at a restart and fetched again.
//
// At its very first start the series may hold files of an earlier crawl whose state is gone. They
// count and stay. So that what comes behind them can be told apart before the first checkpoint,
// their end is noted in the state folder, in "NAME.base", until that checkpoint is there.
//
// Entries go into the temporal index when the checkpoint of their epoch is there: so it never has
// more than the files after a crash, and what it lacks is read from them at the start.
//
// A robots.txt ends the epoch at once, since all pages of its host wait for it.
class ArchiveWriter final : public flow::Module {
 public:
  // `index` is its own while it lives, and shared because a graph's arguments are copied; null:
  // none is kept. Only one instance can have one.
  explicit ArchiveWriter(const CrawlOptions& options, ArchiveLimits limits = {},
                         std::shared_ptr<archive::TemporalIndex> index = nullptr);

  flow::In<Finding> findings = in<&ArchiveWriter::on_finding>("findings");
  flow::Out<Candidate> candidates = out<Candidate>("candidates");
  flow::Out<Report> reports = out<Report>("reports");
  flow::Out<HostNews> news = out<HostNews>("news");
  flow::Out<VisitNote> notes = out<VisitNote>("notes");

 private:
  void on_finding(Finding&& finding);
  void on_timer(std::uint64_t tag) override;
  bool produce() override;
  bool idle() const override { return held_.empty(); }
  std::size_t backlog() const override { return held_.size(); }
  base::Status start() override;
  base::Result<std::string> commit(flow::EpochId epoch) override;
  void on_durable(flow::EpochId epoch) override;
  base::Status restore(flow::EpochId epoch, std::string_view state) override;

  base::Status append(Finding& finding);
  base::Status begin_first_life();
  base::Status open_writer();
  bool keeps_state() const { return !state_dir().empty(); }
  std::string base_path() const;
  base::Status remove_base();
  base::Status open_index();
  base::Status apply_to_index(flow::EpochId epoch);
  void ask_for_epoch();
  void tell(Finding&& finding);

  const CrawlOptions options_;
  const ArchiveLimits limits_;
  archive::WarcFileOptions warc_;
  archive::WarcPosition mark_;  // of the last commit, or what was there before us
  bool is_ours_ = false;        // the marked file is one that we began
  bool is_restored_ = false;    // an epoch has ended in an earlier life
  bool is_base_gone_ = false;   // there is no file at base_path() any more
  std::unique_ptr<archive::WarcWriter> writer_;
  const std::shared_ptr<archive::TemporalIndex> index_;
  std::optional<archive::SeriesIndexer> indexer_;
  // Ends of epochs whose checkpoint is not there yet.
  std::deque<std::pair<flow::EpochId, archive::WarcPosition>> marks_;

  std::vector<Finding> held_;     // appended; their records are gone
  std::uint64_t held_bytes_ = 0;  // of those records
  std::uint64_t life_ = 0;        // of the findings held, for their timer
  bool has_asked_ = false;        // for the end of the epoch
};

}  // namespace meguri::crawl
