#include "sat/bucket_buffers.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/prefetch.h"

namespace meguri::sat {

BucketBuffers::BucketBuffers(std::uint32_t slots, std::size_t page_bytes, std::size_t pages)
    : page_bytes_(page_bytes),
      memory_(base::make_huge_bytes(page_bytes * pages)),
      next_(pages),
      free_pages_(pages),
      buffers_(slots) {
  CHECK(page_bytes >= kHeaderBytesMax && pages > 0 && pages < kNoPage);
  for (std::uint32_t i = 0; i < pages; ++i) next_[i] = i + 1 < pages ? i + 1 : kNoPage;
  free_ = 0;
}

bool BucketBuffers::has_room(Slot slot, std::size_t bytes) const {
  const std::size_t room = room_in_last(buffers_[slot]);
  if (bytes <= room) return true;
  return (bytes - room + page_bytes_ - 1) / page_bytes_ <= free_pages_;
}

void BucketBuffers::grow(Buffer& buffer) {
  CHECK(free_ != kNoPage, "a buffer grows although the pool is empty");
  const std::uint32_t index = free_;
  free_ = next_[index];
  --free_pages_;
  next_[index] = kNoPage;
  if (buffer.first == kNoPage) {
    buffer.first = index;
  } else {
    next_[buffer.last] = index;
  }
  buffer.last = index;
  ++buffer.pages;
  if (buffer.pages == 1) {
    buffer.place = static_cast<std::uint32_t>(filled_.size());
    filled_.push_back(static_cast<Slot>(&buffer - buffers_.data()));
  } else if (buffer.pages == 2) {
    exchange_places(buffer.place, filled_more_++);
  }
  for (std::size_t i = 0; i < over_.size(); ++i) over_[i] += buffer.pages == kManyPages[i] + 1;
}

void BucketBuffers::exchange_places(std::size_t a, std::size_t b) {
  std::swap(filled_[a], filled_[b]);
  buffers_[filled_[a]].place = static_cast<std::uint32_t>(a);
  buffers_[filled_[b]].place = static_cast<std::uint32_t>(b);
}

void BucketBuffers::append(Slot slot, const Record& record) {
  Buffer& buffer = buffers_[slot];
  const std::size_t size = encoded_size(record);
  ++buffer.records;
  if (size > room_in_last(buffer)) return append_across(buffer, record);
  const std::size_t used = page_bytes_ - room_in_last(buffer);
  encode(record, page(buffer.last) + used);
  buffer.bytes += size;
}

void BucketBuffers::append_across(Buffer& buffer, const Record& record) {
  scratch_.clear();
  sat::append(record, scratch_);
  std::string_view rest = scratch_;
  while (!rest.empty()) {
    if (room_in_last(buffer) == 0) grow(buffer);
    const std::size_t room = room_in_last(buffer);
    const std::size_t n = std::min(room, rest.size());
    std::memcpy(page(buffer.last) + page_bytes_ - room, rest.data(), n);
    buffer.bytes += n;
    rest.remove_prefix(n);
  }
}

void BucketBuffers::fetch(std::uint32_t index) const {
  constexpr std::size_t kLineBytes = 64;
  if (index == kNoPage) return;
  for (std::size_t at = 0; at < std::min(page_bytes_, kFetchedBytes); at += kLineBytes) {
    base::prefetch(page(index) + at);
  }
}

// Pages of a buffer lie apart from each other, so that the processor cannot guess which is next.
void BucketBuffers::copy(Slot slot, std::string& out) const {
  const Buffer& buffer = buffers_[slot];
  std::uint64_t left = buffer.bytes;
  for (std::uint32_t index = buffer.first; left > 0; index = next_[index]) {
    fetch(next_[index]);
    const std::size_t n = std::min<std::uint64_t>(left, page_bytes_);
    out.append(page(index), n);
    left -= n;
  }
}

void BucketBuffers::clear(Slot slot) {
  Buffer& buffer = buffers_[slot];
  if (buffer.first == kNoPage) return;
  next_[buffer.last] = free_;
  free_ = buffer.first;
  free_pages_ += buffer.pages;
  if (buffer.pages > 1) exchange_places(buffer.place, --filled_more_);
  exchange_places(buffer.place, filled_.size() - 1);
  filled_.pop_back();
  for (std::size_t i = 0; i < over_.size(); ++i) over_[i] -= buffer.pages > kManyPages[i];
  buffer = {};
}

}  // namespace meguri::sat
