// CrawlLog: writes what became of every visit and of every page that was refused, one line each.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "crawl/crawl_log_file.h"
#include "crawl/messages.h"
#include "crawl/options.h"
#include "crawl/visit_tally.h"
#include "flow/module.h"

namespace meguri::crawl {

// A blocking module, and a sink; one instance. It hears of a visit when its records are durable,
// and takes part in epochs: the log of epoch n has one line for each visit in the WARC files up to
// the mark of epoch n, and for each page that the Registry of epoch n holds as refused. What came
// later is cut off at a restart.
//
// At its very first start there may be lines of an earlier crawl whose state is gone. They stay,
// and their end is noted in the state folder, in "NAME.base", until the first checkpoint is there.
class CrawlLog final : public flow::Module {
 public:
  explicit CrawlLog(CrawlLogOptions options) : options_(std::move(options)) {}

  flow::In<VisitNote> visits = in<&CrawlLog::on_visit>("visits");
  flow::In<RefusalNote> refusals = in<&CrawlLog::on_refusal>("refusals");

  // Of this process; counted also where no log is written. Any thread, while the module lives.
  VisitTotals totals() const { return tally_.totals(); }

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{64} << 10U;

  void on_visit(VisitNote&& note);
  void on_refusal(RefusalNote&& note);
  base::Status start() override;
  base::Result<std::string> commit(flow::EpochId epoch) override;
  void on_durable(flow::EpochId epoch) override;
  base::Status restore(flow::EpochId epoch, std::string_view state) override;

  bool is_on() const { return !options_.dir.empty(); }
  bool keeps_state() const { return !state_dir().empty(); }
  base::Result<CrawlLogMark> first_mark();
  void write_if_much();
  base::Status write();
  std::string base_path() const;
  base::Status remove_base();

  const CrawlLogOptions options_;
  std::optional<CrawlLogMark> restored_;
  bool is_base_gone_ = false;  // there is no file at base_path() any more
  std::unique_ptr<CrawlLogFile> file_;
  std::string buffer_;  // lines that are not in the file yet
  VisitTally tally_;
};

}  // namespace meguri::crawl
