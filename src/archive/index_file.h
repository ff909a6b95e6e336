// IndexFile: a file whose records are in the temporal index, as the index knows it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace meguri::archive {

enum class FileSource : std::uint8_t {
  kCrawl,      // written by a crawl of this archive
  kCopy,       // imported, and copied into the archive
  kReference,  // imported, and left where it is
};

std::string_view name_of(FileSource source);  // "crawl"

struct IndexFile {
  std::uint32_t number = 0;  // from 1 on; never given twice
  std::string path;          // within the archive's folder, or absolute
  FileSource source = FileSource::kCrawl;
  std::uint64_t bytes = 0;       // of the file; of one that grows, as far as it is indexed
  std::uint64_t print = 0;       // tells whether it is still the same file; 0: nobody asks
  std::uint64_t indexed_to = 0;  // all records that begin before are in the index
  bool is_complete = false;      // it is all there is of it
  std::uint64_t entries = 0;     // of its records
  std::uint64_t damages = 0;     // places where something is missing or broken

  friend bool operator==(const IndexFile&, const IndexFile&) = default;
};

inline constexpr char kFileKeyPrefix = 'f';

std::string key_of(const IndexFile& file);
std::string file_key_of(std::uint32_t number);
std::string value_of(const IndexFile& file);
std::optional<IndexFile> parse_index_file(std::string_view key, std::string_view value);

}  // namespace meguri::archive
