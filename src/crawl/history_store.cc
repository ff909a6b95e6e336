#include "crawl/history_store.h"

#include "base/check.h"

namespace meguri::crawl {

namespace {

constexpr char kVisitKey = 'v';
constexpr char kFileKey = 'f';
constexpr std::string_view kNameKey = "n";
constexpr std::size_t kBatchBytes = std::size_t{1} << 20U;

// So that keys have the order of numbers.
void put_big_endian(std::string& out, std::uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) {
    out += static_cast<char>(static_cast<unsigned char>(value >> static_cast<unsigned>(shift)));
  }
}

// A page's visits begin with this.
std::string place_of(const base::Id& id) {
  std::string place(1, kVisitKey);
  put_big_endian(place, id.high);
  put_big_endian(place, id.low);
  return place;
}
constexpr std::size_t kPlaceBytes = 1 + 16;

// What one record tells more of than another of the same moment is of no use.
std::string key_of(const HistoryVisit& visit) {
  std::string key = place_of(page_id_of(visit.url));
  put_big_endian(key, static_cast<std::uint64_t>(visit.date.ms()));
  return key;
}

std::string file_key_of(const std::string& path) { return kFileKey + path; }

}  // namespace

base::Result<std::unique_ptr<HistoryStore>> HistoryStore::open(
    env::FileSystem& files, std::string dir, std::unique_ptr<env::OrderedStore> store) {
  std::unique_ptr<HistoryStore> history(new HistoryStore(files, std::move(dir), std::move(store)));
  ASSIGN_OR_RETURN(auto name, history->store_->get(kNameKey));
  if (name) history->name_ = *std::move(name);
  return history;
}

base::Result<bool> HistoryStore::has_file(const std::string& path, std::uint64_t bytes) const {
  ASSIGN_OR_RETURN(const auto known, store_->get(file_key_of(path)));
  return known == std::to_string(bytes);
}

base::Status HistoryStore::put(std::string_view key, std::string_view value) {
  CHECK(name_.empty(), "a history is complete");
  batch_.put(std::string(key), std::string(value));
  batch_bytes_ += key.size() + value.size();
  return batch_bytes_ < kBatchBytes ? base::Status() : write();
}

base::Status HistoryStore::write() {
  RETURN_IF_ERROR(store_->write(batch_));
  batch_.clear();
  batch_bytes_ = 0;
  return {};
}

base::Status HistoryStore::begin_file(const std::string& path) {
  return put(file_key_of(path), {});
}

base::Result<std::vector<std::string>> HistoryStore::files() const {
  std::vector<std::string> paths;
  const auto cursor = store_->cursor();
  for (cursor->seek(std::string_view(&kFileKey, 1));
       cursor->valid() && cursor->key().starts_with(kFileKey); cursor->next()) {
    paths.emplace_back(cursor->key().substr(1));
  }
  RETURN_IF_ERROR(cursor->status());
  return paths;
}

base::Status HistoryStore::add(const HistoryVisit& visit) {
  std::string value;
  flow::Codec<HistoryVisit>::encode(visit, value);
  return put(key_of(visit), value);
}

base::Status HistoryStore::add_file(const std::string& path, std::uint64_t bytes) {
  RETURN_IF_ERROR(put(file_key_of(path), std::to_string(bytes)));
  return write();
}

base::Status HistoryStore::complete(std::string_view name) {
  RETURN_IF_ERROR(put(kNameKey, name));
  RETURN_IF_ERROR(write());
  RETURN_IF_ERROR(store_->flush());
  name_ = name;
  return {};
}

base::Status HistoryStore::reopen() {
  CHECK(!cursor_, "a history that is read");
  name_.clear();
  batch_.remove(kNameKey);
  return write();
}

base::Result<std::optional<HistoryStore::Page>> HistoryStore::next(std::string_view place,
                                                                   PageHistory& history) {
  if (!cursor_ || place != read_to_) {
    cursor_ = store_->cursor();
    // Behind all visits of that page.
    cursor_->seek(place.empty() ? std::string(1, kVisitKey) : std::string(place) + '\xff');
  }
  Page page;
  while (cursor_->valid() && cursor_->key().starts_with(kVisitKey)) {
    page.place = cursor_->key().substr(0, kPlaceBytes);
    for (; cursor_->valid() && cursor_->key().starts_with(page.place); cursor_->next()) {
      HistoryVisit visit;
      if (!flow::Codec<HistoryVisit>::decode(cursor_->value(), visit)) {
        return base::fail(base::ErrorCode::kCorrupt, "{}: there is something else than a visit",
                          dir_);
      }
      history.take(visit);
    }
    read_to_ = page.place;
    auto record = history.end();
    if (!record) continue;
    page.record = *std::move(record);
    return page;
  }
  RETURN_IF_ERROR(cursor_->status());
  return std::nullopt;
}

base::Status HistoryStore::discard() {
  cursor_.reset();
  store_.reset();
  const auto names = files_.list(dir_);
  if (!names) return {};
  for (const std::string& name : *names) RETURN_IF_ERROR(files_.remove(dir_ + "/" + name));
  return {};
}

}  // namespace meguri::crawl
