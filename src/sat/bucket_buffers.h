// BucketBuffers: what is written to buckets, gathered in memory until there is enough of it. Every
// slot has a buffer that grows page by page, all from one pool.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/huge_pages.h"
#include "sat/record.h"
#include "sat/time_layout.h"

namespace meguri::sat {

// Bytes of a buffer are a stream: records may lie across pages. Thread-compatible.
class BucketBuffers {
 public:
  // Requires pages of at least kHeaderBytesMax bytes.
  BucketBuffers(std::uint32_t slots, std::size_t page_bytes, std::size_t pages);

  // Whether so many bytes can be appended to a slot without a page being freed before.
  bool has_room(Slot slot, std::size_t bytes) const;
  void append(Slot slot, const Record& record);  // requires has_room(slot, encoded_size(record))

  std::uint32_t slots() const { return static_cast<std::uint32_t>(buffers_.size()); }
  std::size_t page_bytes() const { return page_bytes_; }
  std::size_t pages_total() const { return next_.size(); }
  std::size_t pages_free() const { return free_pages_; }

  std::uint32_t pages(Slot slot) const { return buffers_[slot].pages; }
  std::uint64_t bytes(Slot slot) const { return buffers_[slot].bytes; }
  std::uint32_t records(Slot slot) const { return buffers_[slot].records; }
  // Slots that have a page, and those with more than one: in no order, which every change of a
  // buffer may change.
  std::span<const Slot> filled() const { return filled_; }
  std::span<const Slot> filled_more() const { return filled().first(filled_more_); }
  // How many buffers have more than kManyPages[i] pages.
  static constexpr std::array<std::uint32_t, 3> kManyPages = {16, 4, 1};
  std::uint32_t buffers_over(std::size_t i) const { return over_[i]; }
  // Appends the bytes of a slot to `out`.
  void copy(Slot slot, std::string& out) const;
  void clear(Slot slot);  // gives its pages back

 private:
  static constexpr std::uint32_t kNoPage = 0xffff'ffff;

  struct Buffer {
    std::uint32_t first = kNoPage;
    std::uint32_t last = kNoPage;
    std::uint32_t pages = 0;
    std::uint32_t records = 0;
    std::uint64_t bytes = 0;
    std::uint32_t place = 0;  // in filled_
  };

  std::size_t room_in_last(const Buffer& buffer) const {
    return buffer.pages * page_bytes_ - buffer.bytes;
  }
  char* page(std::uint32_t index) { return memory_.get() + index * page_bytes_; }
  const char* page(std::uint32_t index) const { return memory_.get() + index * page_bytes_; }
  static constexpr std::size_t kFetchedBytes = 512;  // the processor itself goes on from there
  void fetch(std::uint32_t index) const;             // brings the front of a page into the cache
  void grow(Buffer& buffer);
  void exchange_places(std::size_t a, std::size_t b);  // in filled_
  void append_across(Buffer& buffer, const Record& record);

  std::size_t page_bytes_;
  base::HugeBytes memory_;
  std::vector<std::uint32_t> next_;  // by page: the next of its buffer, or of the free ones
  std::uint32_t free_ = kNoPage;
  std::size_t free_pages_ = 0;
  std::vector<Buffer> buffers_;
  std::vector<Slot> filled_;  // those with more than one page first
  std::size_t filled_more_ = 0;
  std::array<std::uint32_t, kManyPages.size()> over_{};
  std::string scratch_;  // a record that lies across pages
};

}  // namespace meguri::sat
