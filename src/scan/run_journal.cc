#include "scan/run_journal.h"

#include <algorithm>

#include "base/bytes.h"

namespace meguri::scan {

namespace {

constexpr std::uint64_t kVersion = 1;

}  // namespace

std::string first_journal_block(std::uint64_t documents, std::uint64_t front_bytes) {
  env::Block block;
  base::put_varint(block.out(), kVersion);
  base::put_varint(block.out(), documents);
  base::put_varint(block.out(), front_bytes);
  return std::string(block.seal(kJournalKind, 0, 0));
}

std::string commit_block(std::uint64_t number, const JournalMark& mark,
                         std::vector<std::uint64_t>& documents) {
  env::Block block;
  std::string& out = block.out();
  base::put_varint(out, mark.has_ended ? 1 : 0);
  base::put_varint(out, mark.result_bytes);
  base::put_varint(out, mark.skipped_bytes);
  base::put_varint(out, mark.counts.results);
  base::put_varint(out, mark.counts.skipped);
  std::ranges::sort(documents);
  std::uint64_t last = 0;
  for (const std::uint64_t document : documents) {
    base::put_varint(out, document - last);
    last = document;
  }
  return std::string(
      block.seal(kJournalKind, static_cast<std::uint32_t>(documents.size()), number));
}

bool JournalContents::take(const env::BlockView& view) {
  if (view.number != blocks) return false;
  const bool is_good = blocks == 0 ? take_first(view.payload) : take_commit(view);
  ++blocks;
  return is_good;
}

bool JournalContents::take_first(std::string_view bytes) {
  std::uint64_t version = 0;
  return base::take_varint(bytes, version) && version == kVersion &&
         base::take_varint(bytes, documents) && base::take_varint(bytes, mark.result_bytes) &&
         bytes.empty();
}

bool JournalContents::take_commit(const env::BlockView& view) {
  std::string_view bytes = view.payload;
  const JournalMark before = mark;
  std::uint64_t has_ended = 0;
  if (!base::take_varint(bytes, has_ended) || !base::take_varint(bytes, mark.result_bytes) ||
      !base::take_varint(bytes, mark.skipped_bytes) ||
      !base::take_varint(bytes, mark.counts.results) ||
      !base::take_varint(bytes, mark.counts.skipped)) {
    return false;
  }
  mark.has_ended = has_ended != 0;
  std::uint64_t number = 0;
  for (std::uint32_t i = 0; i < view.count; ++i) {
    std::uint64_t step = 0;
    if (!base::take_varint(bytes, step) || step >= documents - number) return false;
    number += step;
    if (done.contains(number)) return false;
    done.add(number);
  }
  return bytes.empty() && !before.has_ended && mark.result_bytes >= before.result_bytes &&
         mark.skipped_bytes >= before.skipped_bytes &&
         mark.counts.results + mark.counts.skipped == done.size();
}

}  // namespace meguri::scan
