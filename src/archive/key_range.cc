#include "archive/key_range.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/check.h"

namespace meguri::archive {

namespace {

constexpr std::size_t kMiddleBytes = 64;  // behind what both ends share
constexpr int kHalvings = 256;            // in search of the middle
constexpr int kDepthMax = 64;             // of a range that does not become smaller

// A key between two others, half way as bytes are counted; `begin` where there is none.
std::string middle_of(std::string_view begin, std::string_view end) {
  std::size_t shared = 0;
  while (shared < begin.size() && shared < end.size() && begin[shared] == end[shared]) ++shared;
  const auto digit = [](std::string_view text, std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  // The sum of both from the last digit on, then its half from the first on.
  std::vector<unsigned> sum(kMiddleBytes + 1);
  unsigned carry = 0;
  for (std::size_t i = kMiddleBytes; i > 0; --i) {
    carry += digit(begin, shared + i - 1) + digit(end, shared + i - 1);
    sum[i] = carry % 256;
    carry /= 256;
  }
  sum[0] = carry;
  std::string middle(begin.substr(0, shared));
  unsigned rest = sum[0];
  for (std::size_t i = 1; i <= kMiddleBytes; ++i) {
    rest = rest * 256 + sum[i];
    middle += static_cast<char>(static_cast<unsigned char>(rest / 2));
    rest %= 2;
  }
  return middle;
}

// Cuts ranges in two until they are small enough.
class Splitter {
 public:
  Splitter(const TemporalIndex& index, std::uint64_t range_bytes)
      : index_(index), cursor_(index.cursor()), range_bytes_(range_bytes) {}

  base::Status split(const KeyRange& range, int depth, std::vector<KeyRange>& out) {
    const std::uint64_t bytes = index_.approximate_bytes(range.begin, range.end);
    if (bytes <= range_bytes_ || depth == 0) {
      out.push_back(range);
      return {};
    }
    ASSIGN_OR_RETURN(const std::string middle, middle_surt(range));
    if (middle.empty()) {
      out.push_back(range);
      return {};
    }
    RETURN_IF_ERROR(split({range.begin, middle}, depth - 1, out));
    return split({middle, range.end}, depth - 1, out);
  }

 private:
  // Where a SURT begins that has about as much before it as behind it; empty: there is none but the
  // first.
  base::Result<std::string> middle_surt(const KeyRange& range) {
    ASSIGN_OR_RETURN(std::string surt, surt_from(middle_key(range)));
    // The first may have more than half of all.
    if (!surt.empty() && surt <= range.begin) {
      ASSIGN_OR_RETURN(surt, surt_from(range_of_front(surt).end));
    }
    return surt < range.end ? surt : std::string();
  }

  std::string middle_key(const KeyRange& range) const {
    // Keys that are there share more than those that may be.
    cursor_->seek(range.begin);
    std::string low = cursor_->valid() ? std::string(cursor_->key()) : range.begin;
    cursor_->seek_for_prev(range.end);
    std::string high = cursor_->valid() ? std::string(cursor_->key()) : range.end;
    const std::uint64_t all = index_.approximate_bytes(range.begin, range.end);
    for (int i = 0; i < kHalvings; ++i) {
      std::string middle = middle_of(low, high);
      if (middle <= low || middle >= high) break;
      const std::uint64_t before = index_.approximate_bytes(range.begin, middle);
      if (before * 10 >= all * 4 && before * 10 <= all * 6) return middle;
      (before < all / 2 ? low : high) = std::move(middle);
    }
    return low;
  }

  // The SURT of the first entry from a key on, as keys begin with it; empty: there is none.
  base::Result<std::string> surt_from(const std::string& key) {
    cursor_->seek(key);
    if (!cursor_->valid()) {
      RETURN_IF_ERROR(cursor_->status());
      return std::string();
    }
    const auto entry = EntryView::parse(cursor_->key(), cursor_->value());
    if (!entry) return std::string();
    std::string surt;
    surt.append(1, kEntryKeyPrefix).append(entry->surt()).append(1, '\0');
    return surt;
  }

  const TemporalIndex& index_;
  const std::unique_ptr<env::StoreCursor> cursor_;
  const std::uint64_t range_bytes_;
};

}  // namespace

KeyRange range_of_front(std::string_view front) {
  std::string end(front);
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 255) end.pop_back();
  CHECK(!end.empty(), "nothing sorts behind it");
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return {std::string(front), std::move(end)};
}

KeyRange range_of_entries() { return range_of_front(std::string_view(&kEntryKeyPrefix, 1)); }

std::vector<KeyRange> joined(std::vector<KeyRange> ranges) {
  std::ranges::sort(ranges);
  std::vector<KeyRange> out;
  for (KeyRange& range : ranges) {
    if (!out.empty() && range.begin <= out.back().end) {
      out.back().end = std::max(out.back().end, range.end);
    } else {
      out.push_back(std::move(range));
    }
  }
  return out;
}

base::Result<std::vector<KeyRange>> split(const TemporalIndex& index,
                                          const std::vector<KeyRange>& ranges,
                                          std::uint64_t range_bytes) {
  std::vector<KeyRange> out;
  Splitter splitter(index, range_bytes);
  for (const KeyRange& range : ranges) RETURN_IF_ERROR(splitter.split(range, kDepthMax, out));
  return out;
}

}  // namespace meguri::archive
