#include "crawl/block_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "base/check.h"

namespace meguri::crawl {

namespace {

constexpr std::size_t kLargePageBytes = std::size_t{2} << 20U;
constexpr std::size_t kFineBytes = 128;  // up to here sizes are 16 bytes apart
constexpr std::size_t kSteps = 8;        // sizes between a power of two and the next

// A large page, where the kernel has one to give. malloc would take two to align it.
char* map_large_page() {
  void* const memory = ::mmap(nullptr, 2 * kLargePageBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  auto* const begin = static_cast<char*>(memory);
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(begin) % kLargePageBytes;
  const std::size_t before = beyond == 0 ? 0 : kLargePageBytes - beyond;
  if (before > 0) ::munmap(begin, before);
  ::munmap(begin + before + kLargePageBytes, kLargePageBytes - before);
  ::madvise(begin + before, kLargePageBytes, MADV_HUGEPAGE);
  return begin + before;
}

}  // namespace

// At the beginning of its memory; the pieces follow.
struct BlockPool::Sheet {
  struct Free {
    Free* next = nullptr;
  };

  std::size_t size_class = 0;
  std::size_t used = 0;   // pieces
  Free* free = nullptr;   // pieces that were given back
  std::size_t fresh = 0;  // where those begin that were never taken
  Sheet* prev = nullptr;  // of those of its size that have room
  Sheet* next = nullptr;

  char* memory() { return reinterpret_cast<char*>(this); }
  bool has_room() const {
    return free != nullptr || fresh + size_of_class(size_class) <= kSheetBytes;
  }
};

std::size_t BlockPool::class_of(std::size_t bytes) {
  if (bytes <= kFineBytes) return std::max<std::size_t>(1, (bytes + 15) / 16) - 1;
  // The power of two below, and how many eighths of it more.
  const auto power = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;
  const std::size_t step = (std::size_t{1} << power) / kSteps;
  const std::size_t steps = (bytes - (std::size_t{1} << power) + step - 1) / step;
  return kFineBytes / 16 - 1 + (power - 7) * kSteps + steps;
}

std::size_t BlockPool::size_of_class(std::size_t size_class) {
  if (size_class < kFineBytes / 16) return (size_class + 1) * 16;
  const std::size_t above = size_class - kFineBytes / 16;
  const std::size_t power = std::size_t{1} << (above / kSteps + 7);
  return power + (above % kSteps + 1) * (power / kSteps);
}

std::size_t BlockPool::size_for(std::size_t bytes) {
  return bytes > kPieceBytesMax ? (bytes + 15) / 16 * 16 : size_of_class(class_of(bytes));
}

BlockPool::Sheet* BlockPool::sheet_of(char* piece) {
  return reinterpret_cast<Sheet*>(piece - reinterpret_cast<std::uintptr_t>(piece) % kSheetBytes);
}

BlockPool::~BlockPool() {
  for (char* const piece : large_) ::operator delete(piece);
  for (const Chunk& chunk : chunks_) {
    if (chunk.bytes == kLargePageBytes) {
      ::munmap(chunk.memory, chunk.bytes);
    } else {
      ::operator delete(chunk.memory, std::align_val_t{kSheetBytes});
    }
  }
}

void BlockPool::swap(BlockPool& other) noexcept {
  std::swap(chunks_, other.chunks_);
  std::swap(chunk_used_, other.chunk_used_);
  std::swap(empty_, other.empty_);
  std::swap(with_room_, other.with_room_);
  std::swap(large_, other.large_);
  std::swap(memory_bytes_, other.memory_bytes_);
  std::swap(used_bytes_, other.used_bytes_);
}

char* BlockPool::take(std::size_t bytes) {
  used_bytes_ += size_for(bytes);
  if (bytes > kPieceBytesMax) {
    memory_bytes_ += size_for(bytes);
    auto* const piece = static_cast<char*>(::operator new(size_for(bytes)));
    large_.insert(piece);
    return piece;
  }
  const std::size_t size_class = class_of(bytes);
  Sheet* sheet = with_room_[size_class];
  if (sheet == nullptr) sheet = take_sheet(size_class);
  char* piece = reinterpret_cast<char*>(sheet->free);
  if (piece != nullptr) {
    sheet->free = sheet->free->next;
  } else {
    piece = sheet->memory() + sheet->fresh;
    sheet->fresh += size_of_class(size_class);
  }
  ++sheet->used;
  if (!sheet->has_room()) unlink(*sheet);
  return piece;
}

void BlockPool::give_back(char* piece, std::size_t bytes) {
  used_bytes_ -= size_for(bytes);
  if (bytes > kPieceBytesMax) {
    memory_bytes_ -= size_for(bytes);
    large_.erase(piece);
    ::operator delete(piece);
    return;
  }
  Sheet& sheet = *sheet_of(piece);
  const bool had_room = sheet.has_room();
  sheet.free = new (piece) Sheet::Free{sheet.free};
  if (!had_room) link(sheet);
  if (--sheet.used > 0) return;
  unlink(sheet);
  empty_.push_back(&sheet);
}

BlockPool::Sheet* BlockPool::take_sheet(std::size_t size_class) {
  if (empty_.empty()) {
    if (chunks_.empty() || chunk_used_ == chunks_.back().bytes) add_chunk();
    empty_.push_back(reinterpret_cast<Sheet*>(chunks_.back().memory + chunk_used_));
    chunk_used_ += kSheetBytes;
  }
  auto* const sheet = new (empty_.back()) Sheet;
  empty_.pop_back();
  sheet->size_class = size_class;
  sheet->fresh = (sizeof(Sheet) + kAlignment - 1) / kAlignment * kAlignment;
  link(*sheet);
  return sheet;
}

// A small table has small ones.
void BlockPool::add_chunk() {
  const std::size_t bytes =
      chunks_.empty() ? kSheetBytes : std::min(chunks_.back().bytes * 2, kLargePageBytes);
  char* const memory =
      bytes == kLargePageBytes
          ? map_large_page()
          : static_cast<char*>(::operator new(bytes, std::align_val_t{kSheetBytes}));
  chunks_.push_back({memory, bytes});
  chunk_used_ = 0;
  memory_bytes_ += bytes;
}

void BlockPool::link(Sheet& sheet) {
  Sheet*& first = with_room_[sheet.size_class];
  sheet.prev = nullptr;
  sheet.next = first;
  if (first != nullptr) first->prev = &sheet;
  first = &sheet;
}

void BlockPool::unlink(Sheet& sheet) {
  (sheet.prev == nullptr ? with_room_[sheet.size_class] : sheet.prev->next) = sheet.next;
  if (sheet.next != nullptr) sheet.next->prev = sheet.prev;
}

}  // namespace meguri::crawl
