#include "crawl/durable_map.h"

#include <utility>

namespace meguri::crawl {

base::Result<std::unique_ptr<DurableMap>> DurableMap::open(env::FileSystem& files, std::string dir,
                                                           std::string_view state,
                                                           DurableMapLimits limits) {
  std::unique_ptr<DurableMap> map(new DurableMap());
  const auto apply = [&map](std::string_view key, std::optional<std::string_view> value) {
    return map->apply(key, value);
  };
  ASSIGN_OR_RETURN(map->log_, DurableLog::open(files, std::move(dir), state, apply, limits));
  return map;
}

base::Status DurableMap::apply(std::string_view key, std::optional<std::string_view> value) {
  if (value) {
    set(key, *value);
  } else {
    drop(key);
  }
  return {};
}

void DurableMap::set(std::string_view key, std::string_view value) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    entries_.emplace(key, value);
  } else {
    live_bytes_ -= DurableLog::bytes_of(key, found->second);
    found->second = value;
  }
  live_bytes_ += DurableLog::bytes_of(key, value);
}

bool DurableMap::drop(std::string_view key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return false;
  live_bytes_ -= DurableLog::bytes_of(key, found->second);
  entries_.erase(found);
  return true;
}

void DurableMap::put(std::string_view key, std::string_view value) {
  log_->put(key, value);  // before set(): both may be views of the entry
  set(key, value);
}

bool DurableMap::erase(std::string_view key) {
  if (!entries_.contains(key)) return false;
  log_->erase(key);
  return drop(key);
}

std::optional<std::string_view> DurableMap::find(std::string_view key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  return found->second;
}

std::size_t DurableMap::memory_bytes() const {
  constexpr std::size_t kNodeBytes = 2 * sizeof(std::string) + 2 * sizeof(void*) + 16;
  return entries_.bucket_count() * sizeof(void*) + entries_.size() * kNodeBytes + live_bytes_ +
         log_->memory_bytes();
}

base::Result<std::string> DurableMap::commit(flow::EpochId epoch) {
  return log_->commit(epoch, live_bytes_, [this](DurableLog& log) {
    for (const auto& [key, value] : entries_) log.put(key, value);
  });
}

}  // namespace meguri::crawl
