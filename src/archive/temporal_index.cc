#include "archive/temporal_index.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"

namespace meguri::archive {

namespace {

using base::ErrorCode;

// The one key that is neither an entry nor a file: the version of the format, and the next number
// of a file.
constexpr std::string_view kHeadKey = "h";
constexpr std::uint8_t kVersion = 1;

constexpr std::uint64_t kEntriesBetweenLooks = 4'096;

std::string head_value(std::uint32_t next_number) {
  std::string value;
  base::put_fixed(value, kVersion);
  base::put_fixed(value, next_number);
  return value;
}

}  // namespace

void IndexBatch::add(const IndexEntry& entry) {
  EncodedEntry encoded = encode(entry);
  bytes_ += encoded.key.size() + encoded.value.size();
  batch_.put(std::move(encoded.key), std::move(encoded.value));
}

void IndexBatch::add(std::string_view key, std::string_view value) {
  batch_.put(std::string(key), std::string(value));
  bytes_ += key.size() + value.size();
}

void IndexBatch::set(const IndexFile& file) {
  batch_.put(key_of(file), value_of(file));
  files_.push_back(file);
}

void IndexBatch::remove_file(std::uint32_t number) {
  batch_.remove(file_key_of(number));
  removed_files_.push_back(number);
}

void IndexBatch::for_each_entry(
    const std::function<void(std::string_view key, std::string_view value)>& use) const {
  for (const env::StoreBatch::Change& change : batch_.changes()) {
    if (change.value && change.key.starts_with(kEntryKeyPrefix)) use(change.key, *change.value);
  }
}

void IndexBatch::clear() {
  batch_.clear();
  files_.clear();
  removed_files_.clear();
  next_number_ = 0;
  bytes_ = 0;
}

base::Result<std::unique_ptr<TemporalIndex>> TemporalIndex::open(
    std::unique_ptr<env::OrderedStore> store, Removals removals, std::unique_ptr<FileList> list) {
  std::unique_ptr<TemporalIndex> index(
      new TemporalIndex(std::move(store), std::move(removals), std::move(list)));
  RETURN_IF_ERROR(index->load());
  if (!index->list_) return index;
  // What was not on its disk when the power went.
  for (const auto& [number, file] : index->files_) RETURN_IF_ERROR(index->list_->set(file));
  return index;
}

base::Status TemporalIndex::load() {
  ASSIGN_OR_RETURN(const auto head, store_->get(kHeadKey));
  if (head) {
    std::string_view bytes = *head;
    std::uint8_t version = 0;
    const bool is_read = base::take_fixed(bytes, version) && version == kVersion &&
                         base::take_fixed(bytes, next_number_) && bytes.empty();
    if (!is_read) {
      return base::fail(ErrorCode::kCorrupt,
                        "the index is not of a version that this program knows; 'meguri repair' "
                        "makes it anew");
    }
  }
  const auto cursor = store_->cursor();
  for (cursor->seek(std::string_view(&kFileKeyPrefix, 1));
       cursor->valid() && cursor->key().starts_with(kFileKeyPrefix); cursor->next()) {
    const auto file = parse_index_file(cursor->key(), cursor->value());
    if (!file || file->number >= next_number_) {
      return base::fail(ErrorCode::kCorrupt,
                        "the index names a file that is none; 'meguri repair' makes it anew");
    }
    note(*file);
  }
  return cursor->status();
}

void TemporalIndex::note(const IndexFile& file) {
  files_[file.number] = file;
  numbers_[file.path] = file.number;
}

const IndexFile* TemporalIndex::file(std::uint32_t number) const {
  const auto found = files_.find(number);
  return found == files_.end() ? nullptr : &found->second;
}

const IndexFile* TemporalIndex::find_file(std::string_view path) const {
  const auto found = numbers_.find(path);
  return found == numbers_.end() ? nullptr : file(found->second);
}

base::Status TemporalIndex::flush() {
  if (list_) RETURN_IF_ERROR(list_->sync());
  return store_->flush();
}

base::Status TemporalIndex::write_list(const IndexBatch& batch) {
  if (!list_) return {};
  for (const IndexFile& file : batch.files_) RETURN_IF_ERROR(list_->set(file));
  for (const std::uint32_t number : batch.removed_files_) RETURN_IF_ERROR(list_->remove(number));
  return {};
}

base::Status TemporalIndex::write(const IndexBatch& batch) {
  RETURN_IF_ERROR(write_list(batch));
  std::uint32_t next = std::max(next_number_, batch.next_number_);
  for (const IndexFile& file : batch.files_) next = std::max(next, file.number + 1);
  if (next == next_number_) {
    RETURN_IF_ERROR(store_->write(batch.batch_));
  } else {
    env::StoreBatch with_head = batch.batch_;
    with_head.put(std::string(kHeadKey), head_value(next));
    RETURN_IF_ERROR(store_->write(with_head));
    next_number_ = next;
  }
  for (const IndexFile& file : batch.files_) {
    const IndexFile* before = this->file(file.number);
    if (before != nullptr && before->path != file.path) numbers_.erase(before->path);
    note(file);
  }
  for (const std::uint32_t number : batch.removed_files_) {
    const IndexFile* before = file(number);
    if (before == nullptr) continue;
    numbers_.erase(before->path);
    files_.erase(number);
  }
  return {};
}

base::Status TemporalIndex::for_each_entry(std::string_view front, const UseEntry& use,
                                           const Look& look) const {
  std::uint64_t seen = 0;
  const auto cursor = store_->cursor();
  for (cursor->seek(front); cursor->valid() && cursor->key().starts_with(front); cursor->next()) {
    if (look && seen++ % kEntriesBetweenLooks == 0) RETURN_IF_ERROR(look());
    RETURN_IF_ERROR(use(cursor->key(), cursor->value()));
  }
  return cursor->status();
}

base::Result<std::vector<IndexEntry>> TemporalIndex::entries_of(std::string_view url) const {
  std::vector<IndexEntry> entries;
  const std::string page = page_key_of(url);
  const auto cursor = store_->cursor();
  for (cursor->seek(page); cursor->valid() && cursor->key().starts_with(page); cursor->next()) {
    const auto view = EntryView::parse(cursor->key(), cursor->value());
    if (!view) return base::fail(ErrorCode::kCorrupt, "the index holds an entry that is none");
    if (view->page() == page) entries.push_back(view->to_entry());
  }
  RETURN_IF_ERROR(cursor->status());
  return entries;
}

}  // namespace meguri::archive
