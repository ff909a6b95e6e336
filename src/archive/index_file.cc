#include "archive/index_file.h"

#include "base/bytes.h"

namespace meguri::archive {

namespace {

constexpr std::uint8_t kSourceMask = 3;
constexpr std::uint8_t kComplete = 1U << 2U;

}  // namespace

std::string_view name_of(FileSource source) {
  switch (source) {
    case FileSource::kCrawl: return "crawl";
    case FileSource::kCopy: return "copy";
    case FileSource::kReference: return "reference";
  }
  return "reference";
}

std::string file_key_of(std::uint32_t number) {
  std::string key(1, kFileKeyPrefix);
  base::put_sorted(key, number);
  return key;
}

std::string key_of(const IndexFile& file) { return file_key_of(file.number); }

std::string value_of(const IndexFile& file) {
  std::string value;
  const auto source = static_cast<std::uint8_t>(file.source);
  const std::uint8_t complete = file.is_complete ? kComplete : 0;
  base::put_fixed(value, static_cast<std::uint8_t>(source | complete));
  base::put_short_text(value, file.path);
  base::put_varint(value, file.bytes);
  base::put_fixed(value, file.print);
  base::put_varint(value, file.indexed_to);
  base::put_varint(value, file.entries);
  base::put_varint(value, file.damages);
  return value;
}

std::optional<IndexFile> parse_index_file(std::string_view key, std::string_view value) {
  IndexFile file;
  if (!key.starts_with(kFileKeyPrefix)) return std::nullopt;
  key.remove_prefix(1);
  if (!base::take_sorted(key, file.number) || !key.empty()) return std::nullopt;
  std::uint8_t flags = 0;
  std::string_view path;
  const bool is_read =
      base::take_fixed(value, flags) && base::take_short_text(value, path) &&
      base::take_varint(value, file.bytes) && base::take_fixed(value, file.print) &&
      base::take_varint(value, file.indexed_to) && base::take_varint(value, file.entries) &&
      base::take_varint(value, file.damages);
  if (!is_read || !value.empty()) return std::nullopt;
  if ((flags & kSourceMask) > static_cast<std::uint8_t>(FileSource::kReference)) {
    return std::nullopt;
  }
  file.source = static_cast<FileSource>(flags & kSourceMask);
  file.is_complete = (flags & kComplete) != 0;
  file.path = path;
  return file;
}

}  // namespace meguri::archive
