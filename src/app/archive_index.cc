#include "app/archive_index.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "archive/series_indexer.h"
#include "archive/warc_file.h"
#include "base/log.h"
#include "env/ordered_store.h"
#include "env/overlay_ordered_store.h"
#include "flow/checkpoint.h"

namespace meguri::app {

namespace {

using archive::TemporalIndex;
using archive::WarcPosition;
using base::ErrorCode;

constexpr std::string_view kFolder = "warc";
constexpr std::size_t kWriteBufferBytes = std::size_t{16} << 20U;
constexpr std::size_t kBlockCacheBytes = std::size_t{16} << 20U;

std::string index_dir_of(const std::string& archive) { return archive + "/index"; }

// What the last checkpoint of a crawl declares durable. Nullopt: there is none.
base::Result<std::optional<WarcPosition>> durable_end(env::FileSystem& files,
                                                      const std::string& archive) {
  ASSIGN_OR_RETURN(const auto checkpoint, flow::Checkpoint::load(files, archive + "/state"));
  const auto state = checkpoint.states.find("writer");
  if (state == checkpoint.states.end() || state->second.empty()) return std::nullopt;
  return WarcPosition::decode(std::string_view(state->second).substr(1));
}

}  // namespace

base::Status check_has_index(env::FileSystem& files, const std::string& archive) {
  ASSIGN_OR_RETURN(const bool exists, files.exists(index_dir_of(archive) + "/CURRENT"));
  if (exists) return {};
  ASSIGN_OR_RETURN(const bool has_files, files.exists(fmt::format("{}/{}", archive, kFolder)));
  if (has_files) {
    return base::fail(ErrorCode::kNotFound, "{} has no index; 'meguri repair {}' makes it", archive,
                      archive);
  }
  return base::fail(ErrorCode::kNotFound, "{} is no archive: it has no index", archive);
}

base::Result<std::unique_ptr<TemporalIndex>> open_archive_index(env::FileSystem& files,
                                                                const std::string& archive) {
  RETURN_IF_ERROR(check_has_index(files, archive));
  // First the index: what the checkpoint says later can only be more.
  ASSIGN_OR_RETURN(auto store, env::open_rocksdb_store(index_dir_of(archive), {.read_only = true}));
  ASSIGN_OR_RETURN(auto index, TemporalIndex::open(env::make_overlay_store(std::move(store))));
  ASSIGN_OR_RETURN(const auto end, durable_end(files, archive));
  if (!end) return index;
  archive::WarcSeries series;
  series.dir = fmt::format("{}/{}", archive, kFolder);
  if (const auto name = archive::WarcName::parse(end->file)) {
    series.prefix = name->prefix;
    series.instance = name->instance;
  }
  archive::SeriesIndexer indexer(*index, files, std::move(series), std::string(kFolder));
  RETURN_IF_ERROR(indexer.catch_up(*end));
  return index;
}

base::Result<std::unique_ptr<TemporalIndex>> open_index_for_writing(const std::string& archive) {
  // A crawl writes little and reads nothing.
  const env::StoreOptions options{.write_buffer_bytes = kWriteBufferBytes,
                                  .block_cache_bytes = kBlockCacheBytes};
  ASSIGN_OR_RETURN(auto store, env::open_rocksdb_store(index_dir_of(archive), options));
  return TemporalIndex::open(std::move(store));
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
