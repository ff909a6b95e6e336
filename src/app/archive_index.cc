#include "app/archive_index.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "archive/file_list.h"
#include "archive/index_swap.h"
#include "archive/removals.h"
#include "archive/series_indexer.h"
#include "archive/warc_name.h"
#include "base/log.h"
#include "env/ordered_store.h"
#include "env/overlay_ordered_store.h"
#include "env/posix_file_system.h"
#include "flow/checkpoint.h"

namespace meguri::app {

namespace {

using archive::TemporalIndex;
using archive::WarcPosition;
using base::ErrorCode;

constexpr std::string_view kFolder = "warc";
constexpr std::size_t kWriteBufferBytes = std::size_t{16} << 20U;
constexpr std::size_t kBlockCacheBytes = std::size_t{16} << 20U;

// What RocksDB says of a damaged file helps nobody alone.
base::Error with_remedy(const base::Error& error, const std::string& archive) {
  const bool is_damage = error.code() == ErrorCode::kCorrupt ||
                         error.code() == ErrorCode::kNotFound ||
                         error.code() == ErrorCode::kUnsupported;
  if (!is_damage || error.message().contains("meguri repair")) return error;
  return {error.code(),
          fmt::format("the index of {} cannot be read, and 'meguri repair {}' makes it anew: {}",
                      archive, archive, error.message())};
}

}  // namespace

base::Result<std::optional<WarcPosition>> durable_end(env::FileSystem& files,
                                                      const std::string& archive) {
  ASSIGN_OR_RETURN(const auto checkpoint, flow::Checkpoint::load(files, archive + "/state"));
  const auto state = checkpoint.states.find("writer");
  if (state == checkpoint.states.end() || state->second.empty()) return std::nullopt;
  return WarcPosition::decode(std::string_view(state->second).substr(1));
}

base::Status check_has_index(env::FileSystem& files, const std::string& archive) {
  ASSIGN_OR_RETURN(const std::string dir, archive::find_index(files, archive));
  ASSIGN_OR_RETURN(const bool exists, files.exists(dir + "/CURRENT"));
  if (exists) return {};
  ASSIGN_OR_RETURN(const bool has_files, files.exists(fmt::format("{}/{}", archive, kFolder)));
  if (has_files) {
    return base::fail(ErrorCode::kNotFound, "{} has no index; 'meguri repair {}' makes it", archive,
                      archive);
  }
  return base::fail(ErrorCode::kNotFound, "{} is no archive: it has no index", archive);
}

base::Result<std::unique_ptr<TemporalIndex>> open_stored_index(env::FileSystem& files,
                                                               const std::string& archive) {
  RETURN_IF_ERROR(check_has_index(files, archive));
  ASSIGN_OR_RETURN(const std::string dir, archive::find_index(files, archive));
  ASSIGN_OR_RETURN(auto removals, archive::Removals::load(files, archive));
  auto store = env::open_rocksdb_store(dir, {.read_only = true});
  if (!store) return std::unexpected(with_remedy(store.error(), archive));
  auto index = TemporalIndex::open(env::make_overlay_store(*std::move(store)), std::move(removals));
  if (!index) return std::unexpected(with_remedy(index.error(), archive));
  return index;
}

base::Status catch_up_index(TemporalIndex& index, env::FileSystem& files,
                            const std::string& archive, const WarcPosition& end,
                            const archive::Look& look) {
  archive::WarcSeries series;
  series.dir = fmt::format("{}/{}", archive, kFolder);
  if (const auto name = archive::WarcName::parse(end.file)) {
    series.prefix = name->prefix;
    series.instance = name->instance;
  }
  archive::SeriesIndexer indexer(index, files, std::move(series), std::string(kFolder));
  return indexer.catch_up(end, look);
}

base::Result<std::unique_ptr<TemporalIndex>> open_archive_index(env::FileSystem& files,
                                                                const std::string& archive) {
  ASSIGN_OR_RETURN(auto index, open_stored_index(files, archive));
  ASSIGN_OR_RETURN(const auto end, durable_end(files, archive));
  if (end) RETURN_IF_ERROR(catch_up_index(*index, files, archive, *end));
  return index;
}

base::Result<std::unique_ptr<TemporalIndex>> open_index_for_writing(const std::string& archive) {
  // A crawl writes little and reads nothing.
  const env::StoreOptions options{.write_buffer_bytes = kWriteBufferBytes,
                                  .block_cache_bytes = kBlockCacheBytes};
  env::PosixFileSystem files;
  RETURN_IF_ERROR(archive::settle_index(files, archive, env::remove_rocksdb_store));
  ASSIGN_OR_RETURN(auto removals, archive::Removals::load(files, archive));
  ASSIGN_OR_RETURN(auto list, archive::FileList::open(files, archive));
  auto store = env::open_rocksdb_store(archive::IndexFolders(archive).current, options);
  if (!store) return std::unexpected(with_remedy(store.error(), archive));
  auto index = TemporalIndex::open(*std::move(store), std::move(removals), std::move(list));
  if (!index) return std::unexpected(with_remedy(index.error(), archive));
  return index;
}

base::Result<std::vector<FoundWarc>> imported_files(const TemporalIndex& index,
                                                    env::FileSystem& files,
                                                    const std::string& archive) {
  std::vector<FoundWarc> found;
  for (const auto& [number, file] : index.files()) {
    if (file.source == archive::FileSource::kCrawl || !file.is_complete) continue;
    FoundWarc warc{.path = path_of(file, archive), .bytes = file.bytes};
    ASSIGN_OR_RETURN(const bool exists, files.exists(warc.path));
    if (exists) {
      found.push_back(std::move(warc));
    } else {
      base::log_warn("an imported file is gone", {{"file", warc.path}});
    }
  }
  return found;
}

std::string path_of(const archive::IndexFile& file, const std::string& archive) {
  return file.path.starts_with('/') ? file.path : archive + "/" + file.path;
}

}  // namespace meguri::app
