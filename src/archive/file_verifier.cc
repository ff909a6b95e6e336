#include "archive/file_verifier.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "archive/importer.h"
#include "archive/member_head.h"
#include "archive/warc_reader.h"
#include "base/bytes.h"
#include "base/hash.h"

namespace meguri::archive {

namespace {

constexpr std::string_view kGzipMagic = "\x1f\x8b";

}  // namespace

void EntrySum::add(std::string_view key, std::string_view value) {
  ++count;
  sum += base::mix64(base::hash64(value, base::hash64(key)));
}

base::Result<FileVerifier::Finding> FileVerifier::verify(const env::ReadableFile& bytes,
                                                         const IndexFile& file) {
  Finding finding;
  records_ = 0;
  RETURN_IF_ERROR(check_bytes(bytes, file));
  IndexFile row;  // with nothing indexed, so that reading begins at the beginning
  row.number = file.number;
  row.path = file.path;
  const auto sum = [&](IndexBatch& batch) -> base::Status {
    batch.for_each_entry(
        [&](std::string_view key, std::string_view value) { finding.entries.add(key, value); });
    return {};
  };
  const bool is_ours = file.source == FileSource::kCrawl;
  const FileIndexer::Eyes eyes{
      .read = [&](WarcReader& reader) -> base::Result<std::optional<IndexEntry>> {
        ASSIGN_OR_RETURN(auto entry, examine_record(reader));
        RETURN_IF_ERROR(reader.finish());
        if (is_ours) RETURN_IF_ERROR(check_member(bytes, reader.record()));
        return entry;
      },
      .end = [&](const WarcRecord& rest) { return check_faults(rest); }};
  const auto indexed = indexer_.index(bytes, file.indexed_to, row, sum, eyes);
  if (!indexed && indexed.error().code() == base::ErrorCode::kInvalid) {
    RETURN_IF_ERROR(tell_({.what = indexed.error().message()}));
  } else if (!indexed) {
    return std::unexpected(indexed.error());
  }
  finding.records = records_;
  return finding;
}

// Whether it is still the file that was indexed.
base::Status FileVerifier::check_bytes(const env::ReadableFile& bytes, const IndexFile& file) {
  ASSIGN_OR_RETURN(const std::uint64_t size, bytes.size());
  if (size < file.bytes) {
    return tell_(
        {.offset = size,
         .what = fmt::format("the file ends here; the index knows {} bytes of it", file.bytes)});
  }
  if (file.print == 0) return {};
  ASSIGN_OR_RETURN(const std::uint64_t print, file_print(bytes));
  if (size == file.bytes && print == file.print) return {};
  return tell_({.what = "it is not the file that was imported; 'meguri import' takes it as it is "
                        "now, or put the old one back"});
}

// What is in the head of a gzip member is not covered by its checksum.
base::Status FileVerifier::check_member(const env::ReadableFile& bytes, const WarcRecord& record) {
  const bool has_own_member = record.length >= kGzipMemberHead.size() + kGzipTailBytes &&
                              record.length <= std::numeric_limits<std::uint32_t>::max();
  if (!record.faults.is_whole() || !has_own_member) return {};
  std::string head;
  RETURN_IF_ERROR(bytes.read_at(record.offset, kToldHeadBytes, &head));
  if (!head.starts_with(kGzipMagic)) return {};
  MemberFacts facts{.stored = static_cast<std::uint32_t>(record.length),
                    .is_request = record.type() == "request"};
  std::string tail;
  const std::uint64_t end = record.offset + record.length;
  RETURN_IF_ERROR(bytes.read_at(end - sizeof facts.decoded, sizeof facts.decoded, &tail));
  std::string_view rest = tail;
  if (base::take_fixed(rest, facts.decoded) && has_own_head(head, facts)) return {};
  return tell_({.offset = record.offset, .what = "the head of its gzip member is wrong"});
}

base::Result<std::optional<IndexEntry>> FileVerifier::examine_record(WarcReader& reader) {
  ++records_;
  ASSIGN_OR_RETURN(Examination found, examine(reader, /*makes_entry=*/true));
  const WarcRecord& record = reader.record();
  RETURN_IF_ERROR(check_faults(record));
  // What is not whole has another digest; that was told.
  if (record.faults.without(WarcFault::kSkipped).is_whole()) {
    RETURN_IF_ERROR(check_digest(record, found.block, "WARC-Block-Digest"));
    RETURN_IF_ERROR(check_digest(record, found.payload, "WARC-Payload-Digest"));
  }
  RETURN_IF_ERROR(progress_(record.offset));
  return std::move(found.entry);
}

base::Status FileVerifier::check_faults(const WarcRecord& record) {
  for (std::size_t i = 0; i < kWarcFaultCount; ++i) {
    const auto fault = static_cast<WarcFault>(i);
    WarcFaults alone;
    alone.add(fault);
    if (!record.faults.has(fault) || alone.is_whole()) continue;
    RETURN_IF_ERROR(tell_({.offset = record.offset, .what = std::string(sentence_of(fault))}));
  }
  return {};
}

// A record that was cut when it was made names the digest of the whole.
base::Status FileVerifier::check_digest(const WarcRecord& record, const DigestFinding& found,
                                        std::string_view name) {
  const bool is_wrong = found.verdict == DigestVerdict::kWrong;
  if (!is_wrong || record.fields.has("WARC-Truncated")) return {};
  return tell_(
      {.offset = record.offset,
       .what = fmt::format("its {} is not that of its bytes, which is {}", name, found.computed)});
}

}  // namespace meguri::archive
