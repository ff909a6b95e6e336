#include "scan/run_folder.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "env/block_file.h"
#include "scan/run_journal.h"

namespace meguri::scan {

namespace {

using base::ErrorCode;

constexpr std::size_t kBufferBytes = std::size_t{256} << 10U;  // of what is appended at once

constexpr std::string_view kDescription = "/run.json";
constexpr std::string_view kList = "/list";
constexpr std::string_view kResults = "/results";
constexpr std::string_view kSkipped = "/skipped.jsonl";
constexpr std::string_view kJournal = "/journal";
constexpr std::string_view kLock = "/lock";

// All that may be in a folder. Without the journal there is no run, so that it is removed first;
// without the lock nobody is kept out.
constexpr std::array<std::string_view, 9> kInRemovalOrder = {
    kJournal, "/journal.new", kList,           "/list.new", kResults,
    kSkipped, kDescription,   "/run.json.new", kLock};

std::string in(const std::string& folder, std::string_view name) {
  return folder + std::string(name);
}

// A file that is only appended to, in large pieces.
class Output {
 public:
  base::Status open(env::FileSystem& fs, const std::string& path) {
    ASSIGN_OR_RETURN(file_, fs.open_append(path));
    return {};
  }

  base::Status append(std::string_view bytes) {
    held_ += bytes;
    return held_.size() < kBufferBytes ? base::Status() : flush();
  }

  base::Status sync() {
    RETURN_IF_ERROR(flush());
    if (!std::exchange(is_unsynced_, false)) return {};
    return file_->sync();
  }

 private:
  base::Status flush() {
    if (held_.empty()) return {};
    is_unsynced_ = true;
    RETURN_IF_ERROR(file_->append(held_));
    file_->will_sync();
    held_.clear();
    return {};
  }

  std::unique_ptr<env::WritableFile> file_;
  std::string held_;
  bool is_unsynced_ = false;
};

// Cuts what lies behind `size` off.
base::Status cut(env::FileSystem& fs, const std::string& path, std::uint64_t size) {
  ASSIGN_OR_RETURN(const bool is_there, fs.exists(path));
  std::uint64_t there = 0;
  if (is_there) {
    ASSIGN_OR_RETURN(there, fs.size(path));
  }
  if (!is_there || there < size) {
    return base::fail(ErrorCode::kCorrupt, "{} has {} bytes, of {} that were written", path, there,
                      size);
  }
  return there == size ? base::Status() : fs.truncate(path, size);
}

// Whether the folder has a run that was begun.
base::Result<bool> was_begun(env::FileSystem& fs, const std::string& path) {
  return fs.exists(in(path, kJournal));
}

// Files without names have one for a moment, where the disk knows none.
bool is_temporary(std::string_view name) { return name.starts_with("meguri-"); }

bool is_ours(const std::string& name) {
  return is_temporary(name) ||
         std::ranges::find(kInRemovalOrder, "/" + name) != kInRemovalOrder.end();
}

// Whether nothing else is in the folder: somebody may have named the wrong one.
base::Result<bool> has_only_ours(env::FileSystem& fs, const std::string& path) {
  ASSIGN_OR_RETURN(const auto names, fs.list(path));
  return std::ranges::all_of(names, is_ours);
}

base::Status remove_file(env::FileSystem& fs, const std::string& path) {
  const auto removed = fs.remove(path);
  if (!removed && removed.error().code() != ErrorCode::kNotFound) return removed;
  return {};
}

base::Status remove_files(env::FileSystem& fs, const std::string& path, bool has_lock) {
  RETURN_IF_ERROR(remove_file(fs, in(path, kJournal)));
  RETURN_IF_ERROR(fs.sync_dir(path));  // before anything is missing that a run must have
  ASSIGN_OR_RETURN(const auto names, fs.list(path));
  for (const std::string& name : names) {
    if (is_temporary(name)) RETURN_IF_ERROR(remove_file(fs, in(path, "/" + name)));
  }
  for (const std::string_view name : kInRemovalOrder) {
    if (name != kLock || has_lock) RETURN_IF_ERROR(remove_file(fs, in(path, name)));
  }
  return fs.sync_dir(path);
}

}  // namespace

struct RunFolder::State {
  State(env::FileSystem& files, std::string folder) : fs(files), path(std::move(folder)) {}

  base::Status open_outputs();
  base::Status read_journal();
  base::Status add(std::uint64_t number, const std::function<base::Status()>& write);
  base::Status commit(bool is_last);
  // Remembers the first error, with which all goes on failing.
  base::Status note(base::Status status) {
    if (!status && failure) failure = status;
    return status;
  }

  env::FileSystem& fs;
  const std::string path;
  std::unique_ptr<env::FileLock> lock;
  std::string description;
  bool is_begun = false;
  bool has_ended = false;
  std::uint64_t documents = 0;
  DoneSet done;
  RunCounts counts;
  std::uint64_t result_bytes = 0;
  std::uint64_t skipped_bytes = 0;
  Output results;
  Output skipped;
  std::unique_ptr<env::WritableFile> journal;
  std::uint64_t blocks = 0;            // of the journal
  std::vector<std::uint64_t> pending;  // done since the last of them
  base::Status failure;
};

base::Status RunFolder::State::open_outputs() {
  RETURN_IF_ERROR(results.open(fs, in(path, kResults)));
  return skipped.open(fs, in(path, kSkipped));
}

// All whole commits count, and what they say of the other files. Behind the first block that is not
// whole nothing does: the documents of these are not done, and will be done again.
base::Status RunFolder::State::read_journal() {
  const std::string name = in(path, kJournal);
  ASSIGN_OR_RETURN(const auto file, fs.open_read(name));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  JournalContents contents;
  env::Block block;
  std::uint64_t end = 0;
  for (;;) {
    env::BlockView view;
    ASSIGN_OR_RETURN(const auto found, block.read(*file, kJournalKind, end, size, view));
    if (found != env::BlockState::kWhole && end > 0) break;
    if (found != env::BlockState::kWhole || !contents.take(view)) {
      return base::fail(ErrorCode::kCorrupt, "{} is damaged; the scan has to begin anew", name);
    }
    end += block.size();
  }
  if (end < size) {
    base::log_warn("cut the end of a journal that was never acknowledged",
                   {{"file", name}, {"bytes", size - end}});
  }
  const JournalMark& mark = contents.mark;
  documents = contents.documents;
  blocks = contents.blocks;
  done = std::move(contents.done);
  counts = mark.counts;
  has_ended = mark.has_ended;
  result_bytes = mark.result_bytes;
  skipped_bytes = mark.skipped_bytes;
  RETURN_IF_ERROR(cut(fs, name, end));
  if (has_ended) return {};
  RETURN_IF_ERROR(cut(fs, in(path, kResults), result_bytes));
  return cut(fs, in(path, kSkipped), skipped_bytes);
}

base::Status RunFolder::State::add(std::uint64_t number,
                                   const std::function<base::Status()>& write) {
  CHECK(is_begun && !has_ended && number < documents && !done.contains(number),
        "document {} of {} is added to a run twice, or is none of it", number, documents);
  RETURN_IF_ERROR(failure);
  RETURN_IF_ERROR(note(write()));
  done.add(number);
  pending.push_back(number);
  return {};
}

base::Status RunFolder::State::commit(bool is_last) {
  if (has_ended || (pending.empty() && !is_last)) return {};
  RETURN_IF_ERROR(results.sync());
  RETURN_IF_ERROR(skipped.sync());
  const JournalMark mark{.has_ended = is_last,
                         .result_bytes = result_bytes,
                         .skipped_bytes = skipped_bytes,
                         .counts = counts};
  RETURN_IF_ERROR(journal->append(commit_block(blocks, mark, pending)));
  RETURN_IF_ERROR(journal->sync());
  ++blocks;
  has_ended = is_last;
  pending.clear();
  return {};
}

RunFolder::RunFolder(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunFolder::~RunFolder() = default;

base::Result<std::unique_ptr<RunFolder>> RunFolder::create(env::FileSystem& fs, std::string path,
                                                           std::string_view description) {
  RETURN_IF_ERROR(fs.make_dirs(path));
  ASSIGN_OR_RETURN(const bool is_free, has_only_ours(fs, path));
  if (!is_free) return base::fail(ErrorCode::kExists, "{} holds files that are of no scan", path);
  auto state = std::make_unique<State>(fs, std::move(path));
  ASSIGN_OR_RETURN(state->lock, fs.lock(in(state->path, kLock)));
  ASSIGN_OR_RETURN(const bool is_there, was_begun(fs, state->path));
  if (is_there) {
    return base::fail(ErrorCode::kExists, "{} holds a scan that was not finished", state->path);
  }
  RETURN_IF_ERROR(remove_files(fs, state->path, false));
  RETURN_IF_ERROR(env::write_file_atomically(fs, in(state->path, kDescription), description));
  state->description = description;
  return std::unique_ptr<RunFolder>(new RunFolder(std::move(state)));
}

base::Result<std::unique_ptr<RunFolder>> RunFolder::open(env::FileSystem& fs, std::string path) {
  ASSIGN_OR_RETURN(const bool is_there, fs.exists(path));
  if (!is_there) return base::fail(ErrorCode::kNotFound, "{} does not exist", path);
  ASSIGN_OR_RETURN(const bool is_begun, was_begun(fs, path));
  ASSIGN_OR_RETURN(const bool is_safe, has_only_ours(fs, path));
  if (!is_begun && !is_safe) return base::fail(ErrorCode::kNotFound, "{} holds no scan", path);
  auto state = std::make_unique<State>(fs, std::move(path));
  ASSIGN_OR_RETURN(state->lock, fs.lock(in(state->path, kLock)));
  ASSIGN_OR_RETURN(state->is_begun, was_begun(fs, state->path));  // it may have ended meanwhile
  if (!state->is_begun) {
    RETURN_IF_ERROR(remove_files(fs, state->path, true));
    return base::fail(ErrorCode::kNotFound, "{} holds no scan that was begun", state->path);
  }
  ASSIGN_OR_RETURN(state->description, env::read_file(fs, in(state->path, kDescription)));
  RETURN_IF_ERROR(state->read_journal());
  if (!state->has_ended) RETURN_IF_ERROR(state->open_outputs());
  ASSIGN_OR_RETURN(state->journal, fs.open_append(in(state->path, kJournal)));
  return std::unique_ptr<RunFolder>(new RunFolder(std::move(state)));
}

const std::string& RunFolder::description() const { return state_->description; }
std::string RunFolder::list_path() const { return in(state_->path, kList); }
std::string RunFolder::results_path() const { return in(state_->path, kResults); }
std::string RunFolder::skipped_path() const { return in(state_->path, kSkipped); }
std::uint64_t RunFolder::documents() const { return state_->documents; }
const DoneSet& RunFolder::done() const { return state_->done; }
const RunCounts& RunFolder::counts() const { return state_->counts; }

std::uint64_t RunFolder::result_bytes() const { return state_->result_bytes; }
bool RunFolder::has_ended() const { return state_->has_ended; }

base::Status RunFolder::begin(std::uint64_t documents, std::string_view front) {
  State& state = *state_;
  CHECK(!state.is_begun, "a run begins once");
  const std::string journal = in(state.path, kJournal);
  RETURN_IF_ERROR(state.open_outputs());
  RETURN_IF_ERROR(state.results.append(front));
  RETURN_IF_ERROR(state.results.sync());
  RETURN_IF_ERROR(state.fs.sync_dir(state.path));
  // All that a run must have is there; with this it is one.
  RETURN_IF_ERROR(
      env::write_file_atomically(state.fs, journal, first_journal_block(documents, front.size())));
  ASSIGN_OR_RETURN(state.journal, state.fs.open_append(journal));
  state.blocks = 1;
  state.documents = documents;
  state.result_bytes = front.size();
  state.is_begun = true;
  return {};
}

base::Status RunFolder::add_result(std::uint64_t number, const env::SpooledBytes& result) {
  RETURN_IF_ERROR(state_->add(number, [&] {
    return result.for_each_piece(
        [this](std::string_view piece) { return state_->results.append(piece); });
  }));
  state_->result_bytes += result.size();
  ++state_->counts.results;
  return {};
}

base::Status RunFolder::add_skipped(std::uint64_t number, std::string_view line) {
  const std::string whole = std::string(line) + '\n';
  RETURN_IF_ERROR(state_->add(number, [&] { return state_->skipped.append(whole); }));
  state_->skipped_bytes += whole.size();
  ++state_->counts.skipped;
  return {};
}

base::Status RunFolder::commit() {
  RETURN_IF_ERROR(state_->failure);
  return state_->note(state_->commit(false));
}

base::Status RunFolder::end() {
  RETURN_IF_ERROR(state_->failure);
  return state_->note(state_->commit(true));
}

void RunFolder::close() {
  state_->results = Output();
  state_->skipped = Output();
  state_->journal.reset();
  state_->failure = base::fail(ErrorCode::kStopped, "the folder was closed");
  state_->lock.reset();
}

base::Status RunFolder::remove(env::FileSystem& fs, const std::string& path) {
  return remove_files(fs, path, true);
}

}  // namespace meguri::scan
