#include "app/warm_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <string_view>
#include <thread>
#include <utility>

#include "app/figures.h"
#include "base/console.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/progress.h"
#include "env/ordered_store.h"
#include "env/random.h"
#include "web/http_text.h"

namespace meguri::app {

namespace {

using base::ErrorCode;

constexpr base::Duration kLookEvery = base::Duration::from_ms(250);

// Several threads take one file after the other.
class Filling {
 public:
  Filling(const std::vector<FoundWarc>& found, crawl::HistoryStore& store,
          const crawl::CrawlOptions& options, env::FileSystem& files, base::Instant now)
      : found_(found), store_(store), options_(options), files_(files), now_(now) {}

  void run() {
    crawl::HistoryReader reader(options_, now_);
    for (std::size_t i = next_++; i < found_.size() && !is_over_; i = next_++) {
      if (auto status = take(found_[i], reader); !status) stop(std::move(status.error()));
    }
    ++ended_;
  }

  void stop(base::Error error) {
    const base::MutexLock lock(mutex_);
    if (!is_over_) error_ = std::move(error);
    is_over_ = true;
  }

  std::size_t ended() const { return ended_; }  // threads
  base::Status status() const {
    const base::MutexLock lock(mutex_);
    return error_ ? base::Status(std::unexpected(*error_)) : base::Status();
  }
  std::string progress() const {
    const base::MutexLock lock(mutex_);
    return fmt::format("reading what was archived before: {} of {}, {}, {}", grouped(files_read_),
                       counted(found_.size(), "file", "files"), bytes_text(bytes_),
                       counted(visits_, "visit", "visits"));
  }

 private:
  base::Status take(const FoundWarc& file, crawl::HistoryReader& reader) {
    {
      const base::MutexLock lock(mutex_);
      ASSIGN_OR_RETURN(const bool is_known, store_.has_file(file.path, file.bytes));
      if (is_known) {
        ++files_read_;
        bytes_ += file.bytes;
        return {};
      }
    }
    ASSIGN_OR_RETURN(const auto bytes, files_.open_read(file.path));
    {
      const base::MutexLock lock(mutex_);
      RETURN_IF_ERROR(store_.begin_file(file.path));
    }
    const auto read = reader.read(*bytes, [this](crawl::HistoryVisit&& visit) {
      const base::MutexLock lock(mutex_);
      if (is_over_) return base::Status(base::fail(ErrorCode::kStopped, "stopped"));
      ++visits_;
      return store_.add(visit);
    });
    if (!read && read.error().code() == ErrorCode::kInvalid && !file.is_named) {
      base::log_warn("passed over what is no WARC file", {{"file", file.path}});
      return {};
    }
    if (!read) return std::unexpected(read.error().with_context(file.path));
    if (read->damages > 0) {
      base::log_warn("a WARC file is damaged; the rest of it was read",
                     {{"file", file.path}, {"places", read->damages}});
    }
    const base::MutexLock lock(mutex_);
    ++files_read_;
    bytes_ += file.bytes;
    return store_.add_file(file.path, file.bytes);
  }

  const std::vector<FoundWarc>& found_;
  crawl::HistoryStore& store_;  // under the mutex
  const crawl::CrawlOptions& options_;
  env::FileSystem& files_;
  const base::Instant now_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::size_t> ended_ = 0;
  std::atomic<bool> is_over_ = false;
  mutable base::Mutex mutex_;
  std::uint64_t visits_ GUARDED_BY(mutex_) = 0;
  std::size_t files_read_ GUARDED_BY(mutex_) = 0;
  std::uint64_t bytes_ GUARDED_BY(mutex_) = 0;
  std::optional<base::Error> error_ GUARDED_BY(mutex_);
};

}  // namespace

base::Result<bool> WarmStart::has_store() const { return files_.exists(store_dir() + "/CURRENT"); }

base::Result<std::unique_ptr<crawl::HistoryStore>> WarmStart::open_store() const {
  RETURN_IF_ERROR(files_.make_dirs(store_dir()));
  ASSIGN_OR_RETURN(auto store, env::open_rocksdb_store(store_dir(), {}));
  return crawl::HistoryStore::open(files_, store_dir(), std::move(store));
}

base::Result<WarmStart::Taken> WarmStart::read_taken() const {
  Taken taken;
  ASSIGN_OR_RETURN(const bool exists, files_.exists(taken_path()));
  if (!exists) return taken;
  ASSIGN_OR_RETURN(const std::string text, env::read_file(files_, taken_path()));
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t space = std::min(line.find(' '), line.size());
    if (const auto bytes = web::parse_decimal(line.substr(0, space));
        bytes && space < line.size()) {
      taken[std::string(line.substr(space + 1))] = *bytes;
    }
  }
  return taken;
}

base::Status WarmStart::note_taken(Taken taken, const std::vector<FoundWarc>& fresh) const {
  for (const FoundWarc& file : fresh) taken[file.path] = file.bytes;
  std::string text;
  for (const auto& [path, bytes] : taken) text += fmt::format("{} {}\n", bytes, path);
  return env::write_file_atomically(files_, taken_path(), text);
}

// What a store has of files that were read to their end may not be in the crawl yet, and stays.
// What was begun of a file that nobody wants any more goes, with the rest of such a store.
base::Result<std::unique_ptr<crawl::HistoryStore>> WarmStart::open_to_fill(
    const std::vector<FoundWarc>& found, const Taken& taken) const {
  ASSIGN_OR_RETURN(auto store, open_store());
  if (!store->name().empty()) {
    RETURN_IF_ERROR(store->reopen());
    return store;
  }
  ASSIGN_OR_RETURN(const auto begun, store->files());
  const bool is_wanted = std::ranges::all_of(begun, [&](const std::string& path) {
    return taken.contains(path) || std::ranges::find(found, path, &FoundWarc::path) != found.end();
  });
  if (is_wanted) return store;
  RETURN_IF_ERROR(store->discard());
  return open_store();
}

base::Result<std::shared_ptr<crawl::HistoryStore>> WarmStart::prepare(
    const std::vector<FoundWarc>& found, const StopSignals& signals, bool is_quiet) {
  ASSIGN_OR_RETURN(const Taken taken, read_taken());
  std::vector<FoundWarc> fresh;
  std::ranges::copy_if(found, std::back_inserter(fresh), [&](const FoundWarc& file) {
    const auto before = taken.find(file.path);
    return before == taken.end() || before->second != file.bytes;
  });
  if (fresh.empty()) {
    ASSIGN_OR_RETURN(const bool has_one, has_store());
    if (!has_one) return nullptr;
    ASSIGN_OR_RETURN(std::shared_ptr<crawl::HistoryStore> store, open_store());
    if (store->name().empty()) return nullptr;  // nobody wants it any more
    return store;
  }
  ASSIGN_OR_RETURN(auto store, open_to_fill(found, taken));
  RETURN_IF_ERROR(fill(fresh, *store, signals, is_quiet));
  RETURN_IF_ERROR(store->complete(fmt::format("{:016x}", env::Random::from_system().next())));
  RETURN_IF_ERROR(note_taken(taken, fresh));
  return std::shared_ptr<crawl::HistoryStore>(std::move(store));
}

base::Status WarmStart::fill(const std::vector<FoundWarc>& found, crawl::HistoryStore& store,
                             const StopSignals& signals, bool is_quiet) {
  Filling filling(found, store, options_, files_, clock_.utc());
  const std::size_t count =
      std::min<std::size_t>(std::max(1U, std::thread::hardware_concurrency()), found.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back([&] { filling.run(); });
  const env::RealClock clock;
  base::Progress progress(base::Console::standard_error());
  while (filling.ended() < count) {
    if (signals.wait(kLookEvery)) {
      filling.stop(base::Error(ErrorCode::kStopped,
                               "stopped while reading what was archived before; the same command "
                               "goes on with it"));
    }
    if (!is_quiet) progress.update(clock.ticks(), filling.progress());
  }
  for (std::thread& thread : threads) thread.join();
  if (is_quiet) return filling.status();
  progress.update(clock.ticks(), filling.progress());
  progress.finish();
  return filling.status();
}

}  // namespace meguri::app
