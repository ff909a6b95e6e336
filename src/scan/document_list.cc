#include "scan/document_list.h"

#include <algorithm>
#include <array>
#include <compare>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "base/time.h"
#include "env/block_file.h"

namespace meguri::scan {

namespace {

using archive::EntryKind;
using archive::EntryView;
using archive::RecordPlace;
using base::ErrorCode;
using base::Instant;

constexpr env::BlockKind kHeadKind = env::block_kind("MGDL");
constexpr env::BlockKind kBlockKind = env::block_kind("MGDB");
constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kBlockBytes = std::size_t{64} << 10U;  // of a payload; the last one goes over

constexpr std::size_t kHeldPointersMax = 1024;  // of an intake
constexpr std::size_t kHeldUrlBytesMax = std::size_t{256} << 10U;

// A document on its way through the sort. What tells documents apart comes before where their URLs
// are, which depends on threads.
struct SortedPointer {
  RecordPlace place;
  std::int64_t time_ms = 0;
  std::uint64_t page = 0;  // a hash of what has the URL; 0: it is the record's own
  std::int64_t record_ms = 0;
  std::int64_t begin_ms = 0;
  std::int64_t end_ms = 0;
  std::array<char, kListLanguageBytesMax> language = {};  // up to the first zero
  std::uint32_t is_missing = 0;
  std::uint32_t url_bytes = 0;
  std::uint64_t url = 0;  // where it is among the URLs

  friend auto operator<=>(const SortedPointer&, const SortedPointer&) = default;
};

SortedPointer sorted_pointer_of(const archive::SnapshotItem& item) {
  const EntryView& visit = item.entry;
  const EntryView& record = item.content == nullptr ? visit : *item.content;
  const bool is_own = visit.kind() == EntryKind::kGone || visit.kind() == EntryKind::kError;
  SortedPointer pointer{.place = record.place(),
                        .time_ms = visit.date().ms(),
                        .record_ms = record.date().ms(),
                        .begin_ms = item.valid.begin.ms(),
                        .end_ms = item.valid.end.ms()};
  pointer.is_missing = item.content == nullptr && !is_own ? 1 : 0;
  if (pointer.is_missing != 0 || record.page() != visit.page()) {
    pointer.page = std::max<std::uint64_t>(base::hash64(visit.page()), 1);
  }
  // A visit that found nothing new may not say what the content was.
  std::string_view language = visit.language();
  if (language.empty()) language = record.language();
  language.substr(0, kListLanguageBytesMax).copy(pointer.language.data(), kListLanguageBytesMax);
  return pointer;
}

std::string_view text_of(const std::array<char, kListLanguageBytesMax>& language) {
  const std::string_view all(language.data(), language.size());
  return all.substr(0, all.find('\0'));
}

DocumentPointer pointer_of(const SortedPointer& sorted, std::string url) {
  return {.place = sorted.place,
          .record_ms = sorted.record_ms,
          .facts = {.number = 0,
                    .url = std::move(url),
                    .time = Instant::from_ms(sorted.time_ms),
                    .valid = {.begin = Instant::from_ms(sorted.begin_ms),
                              .end = Instant::from_ms(sorted.end_ms)},
                    .language = std::string(text_of(sorted.language))},
          .is_missing = sorted.is_missing != 0};
}

// Puts documents into blocks, and these into a file.
class ListWriter {
 public:
  explicit ListWriter(env::WritableFile& file) : file_(file) {}

  base::Status begin(std::uint64_t documents) {
    base::put_varint(block_.out(), kVersion);
    RETURN_IF_ERROR(file_.append(block_.seal(kHeadKind, 1, documents)));
    block_.clear();
    return {};
  }

  base::Status add(const DocumentPointer& pointer) {
    put_pointer(block_.out(), pointer, last_);
    last_ = pointer;
    ++count_;
    return block_.size() < kBlockBytes ? base::Status() : end_block();
  }

  base::Status end_block() {
    if (count_ == 0) return {};
    RETURN_IF_ERROR(file_.append(block_.seal(kBlockKind, count_, first_)));
    first_ += std::exchange(count_, 0);
    last_ = {};
    block_.clear();
    return {};
  }

 private:
  env::WritableFile& file_;
  env::Block block_;
  std::uint32_t count_ = 0;  // in the block
  std::uint64_t first_ = 0;  // of the block
  DocumentPointer last_;     // in the block
};

}  // namespace

// URLs of documents whose records have others, as they came.
struct DocumentListMaker::Lists {
  Lists(env::FileSystem& files, const std::string& dir, std::size_t sort_bytes_max)
      : fs(files), scratch(dir), pointers(files, dir, sort_bytes_max) {}

  // Where they begin.
  base::Result<std::uint64_t> add_urls(std::string_view bytes) EXCLUDES(mutex) {
    const base::MutexLock lock(mutex);
    if (urls == nullptr) {
      ASSIGN_OR_RETURN(urls, fs.open_temporary(scratch));
    }
    RETURN_IF_ERROR(urls->append(bytes));
    return std::exchange(urls_bytes, urls_bytes + bytes.size());
  }

  base::Result<std::string> read_url(const SortedPointer& pointer) EXCLUDES(mutex) {
    std::string url;
    if (pointer.url_bytes == 0) return url;
    const base::MutexLock lock(mutex);
    RETURN_IF_ERROR(urls->read_at(pointer.url, pointer.url_bytes, &url));
    if (url.size() == pointer.url_bytes) return url;
    return base::fail(ErrorCode::kIo, "a temporary file in {} ends too early", scratch);
  }

  env::FileSystem& fs;
  const std::string scratch;
  archive::ExternalSort<SortedPointer> pointers;
  base::Mutex mutex;
  std::unique_ptr<env::TemporaryFile> urls GUARDED_BY(mutex);  // null: there are none
  std::uint64_t urls_bytes GUARDED_BY(mutex) = 0;
};

struct DocumentListMaker::Intake::Held {
  std::vector<SortedPointer> pointers;
  std::string urls;
};

DocumentListMaker::DocumentListMaker(env::FileSystem& fs, std::string scratch,
                                     std::size_t sort_bytes_max)
    : fs_(fs), lists_(std::make_unique<Lists>(fs, std::move(scratch), sort_bytes_max)) {}

DocumentListMaker::~DocumentListMaker() = default;

DocumentListMaker::Intake::Intake(DocumentListMaker& maker)
    : maker_(maker), held_(std::make_unique<Held>()) {}

DocumentListMaker::Intake::~Intake() = default;

base::Status DocumentListMaker::Intake::add(const archive::SnapshotItem& item) {
  SortedPointer pointer = sorted_pointer_of(item);
  if (pointer.page != 0) {
    const std::string url = item.entry.url();
    pointer.url = held_->urls.size();
    pointer.url_bytes = static_cast<std::uint32_t>(url.size());
    held_->urls += url;
  }
  held_->pointers.push_back(pointer);
  const bool is_full =
      held_->pointers.size() >= kHeldPointersMax || held_->urls.size() >= kHeldUrlBytesMax;
  return is_full ? flush() : base::Status();
}

base::Status DocumentListMaker::Intake::flush() {
  if (!held_->urls.empty()) {
    ASSIGN_OR_RETURN(const std::uint64_t begin, maker_.lists_->add_urls(held_->urls));
    for (SortedPointer& pointer : held_->pointers) {
      if (pointer.page != 0) pointer.url += begin;
    }
    held_->urls.clear();
  }
  RETURN_IF_ERROR(maker_.lists_->pointers.add(held_->pointers));
  held_->pointers.clear();
  return {};
}

base::Result<std::uint64_t> DocumentListMaker::write(const std::string& path) {
  RETURN_IF_ERROR(lists_->pointers.finish());
  const std::uint64_t documents = lists_->pointers.size();
  ASSIGN_OR_RETURN(const auto file, fs_.create(path));
  ListWriter writer(*file);
  RETURN_IF_ERROR(writer.begin(documents));
  for (;;) {
    ASSIGN_OR_RETURN(const auto sorted, lists_->pointers.next());
    if (!sorted) break;
    ASSIGN_OR_RETURN(std::string url, lists_->read_url(*sorted));
    RETURN_IF_ERROR(writer.add(pointer_of(*sorted, std::move(url))));
  }
  RETURN_IF_ERROR(writer.end_block());
  RETURN_IF_ERROR(file->sync());
  RETURN_IF_ERROR(fs_.sync_dir(env::parent_of(path)));
  return documents;
}

struct DocumentListReader::State {
  base::Status read_block();
  std::unexpected<base::Error> damaged(std::string_view why) const {
    return base::fail(ErrorCode::kCorrupt, "the list of documents {} is damaged: {}", path, why);
  }

  std::string path;
  std::unique_ptr<env::ReadableFile> file;
  std::uint64_t bytes = 0;      // of the file
  std::uint64_t documents = 0;  // in all
  std::uint64_t offset = 0;     // of the next block
  std::uint64_t next = 0;       // the number of the next document
  env::Block block;
  std::string_view rest;   // of the block's payload
  std::uint32_t left = 0;  // documents in it
  DocumentPointer last;    // before them, in the block
};

// The block that the next document is in.
base::Status DocumentListReader::State::read_block() {
  if (!rest.empty()) return damaged("a block holds more than it says");
  env::BlockView view;
  ASSIGN_OR_RETURN(const env::BlockState found, block.read(*file, kBlockKind, offset, bytes, view));
  if (found != env::BlockState::kWhole) return damaged(env::describe(found));
  const std::uint64_t missing = documents - next;
  if (view.number != next || view.count == 0 || view.count > missing) {
    return damaged("a block is not where it belongs");
  }
  offset += block.size();
  rest = view.payload;
  left = view.count;
  last = {};
  return {};
}

DocumentListReader::DocumentListReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
DocumentListReader::~DocumentListReader() = default;

base::Result<std::unique_ptr<DocumentListReader>> DocumentListReader::open(
    env::FileSystem& fs, const std::string& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  ASSIGN_OR_RETURN(state->file, fs.open_read(path));
  ASSIGN_OR_RETURN(state->bytes, state->file->size());
  env::BlockView view;
  ASSIGN_OR_RETURN(const env::BlockState found,
                   state->block.read(*state->file, kHeadKind, 0, state->bytes, view));
  if (found != env::BlockState::kWhole) return state->damaged(env::describe(found));
  std::uint64_t version = 0;
  if (!base::take_varint(view.payload, version) || version != kVersion || !view.payload.empty()) {
    return state->damaged("it is of another version of the program");
  }
  state->documents = view.number;
  state->offset = state->block.size();
  return std::unique_ptr<DocumentListReader>(new DocumentListReader(std::move(state)));
}

std::uint64_t DocumentListReader::size() const { return state_->documents; }

base::Result<std::optional<DocumentPointer>> DocumentListReader::next() {
  State& state = *state_;
  if (state.next == state.documents) {
    const bool is_whole = state.rest.empty() && state.offset == state.bytes;
    if (!is_whole) return state.damaged("something follows the last document");
    return std::nullopt;
  }
  if (state.left == 0) RETURN_IF_ERROR(state.read_block());
  if (!take_pointer(state.rest, state.last)) return state.damaged("a document in it is none");
  --state.left;
  state.last.facts.number = state.next++;
  return state.last;
}

}  // namespace meguri::scan
