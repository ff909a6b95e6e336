// WarmStart: what WARC files tell of pages before a crawl, made ready for it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/found_warcs.h"
#include "app/stop_signals.h"
#include "base/result.h"
#include "base/time.h"
#include "crawl/history_reader.h"
#include "crawl/history_store.h"
#include "crawl/options.h"
#include "env/clock.h"
#include "env/file_system.h"

namespace meguri::app {

// Reads WARC files into the store DIR/history of the state's folder, on all cores, each once,
// however often the crawl is begun again. After a crash or a stop it goes on with the files that
// are not read yet. For whoever holds the archive's lock.
class WarmStart {
 public:
  WarmStart(const crawl::CrawlOptions& options, env::FileSystem& files, std::string state_dir,
            const env::Clock& clock)
      : options_(options), files_(files), state_dir_(std::move(state_dir)), clock_(clock) {}

  // The store, complete; null: there is nothing that the crawl does not know already.
  // kStopped: a signal came.
  base::Result<std::shared_ptr<crawl::HistoryStore>> prepare(const std::vector<FoundWarc>& found,
                                                             const StopSignals& signals,
                                                             bool is_quiet);

 private:
  using Taken = std::map<std::string, std::uint64_t>;  // files that were read, and their sizes then

  std::string store_dir() const { return state_dir_ + "/history"; }
  std::string taken_path() const { return state_dir_ + "/history-taken"; }
  base::Result<bool> has_store() const;
  base::Result<std::unique_ptr<crawl::HistoryStore>> open_store() const;
  base::Result<std::unique_ptr<crawl::HistoryStore>> open_to_fill(
      const std::vector<FoundWarc>& found, const Taken& taken) const;
  base::Result<Taken> read_taken() const;
  base::Status note_taken(Taken taken, const std::vector<FoundWarc>& fresh) const;
  base::Status fill(const std::vector<FoundWarc>& found, crawl::HistoryStore& store,
                    const StopSignals& signals, bool is_quiet);

  const crawl::CrawlOptions& options_;
  env::FileSystem& files_;
  const std::string state_dir_;
  const env::Clock& clock_;
};

}  // namespace meguri::app
