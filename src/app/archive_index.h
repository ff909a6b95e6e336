// The temporal index of an archive, for commands that read or fill it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/found_warcs.h"
#include "archive/index_removal.h"
#include "archive/temporal_index.h"
#include "archive/warc_file.h"
#include "base/result.h"
#include "env/file_system.h"

namespace meguri::app {

// Reads what was durable when it was opened, whether a crawl runs on the archive or not. kNotFound:
// there is no archive there, or nothing is in it.
base::Result<std::unique_ptr<archive::TemporalIndex>> open_archive_index(
    env::FileSystem& files, const std::string& archive);

// kNotFound: there is no index, with what to do about it.
base::Status check_has_index(env::FileSystem& files, const std::string& archive);
// The same in its parts, for whoever wants to know which of them fails. First the index as it is on
// disk, to which changes are made in memory alone; what the checkpoint says later can only be more.
base::Result<std::unique_ptr<archive::TemporalIndex>> open_stored_index(env::FileSystem& files,
                                                                        const std::string& archive);
// What the last checkpoint of a crawl declares durable. Nullopt: there is none.
base::Result<std::optional<archive::WarcPosition>> durable_end(env::FileSystem& files,
                                                               const std::string& archive);
// Brings the index up to there.
base::Status catch_up_index(archive::TemporalIndex& index, env::FileSystem& files,
                            const std::string& archive, const archive::WarcPosition& end,
                            const archive::Look& look = {});

// For whoever holds the archive's lock; made if there is none.
base::Result<std::unique_ptr<archive::TemporalIndex>> open_index_for_writing(
    const std::string& archive);

// The files that were imported, all of them, and are there now; a warning tells of the others.
base::Result<std::vector<FoundWarc>> imported_files(const archive::TemporalIndex& index,
                                                    env::FileSystem& files,
                                                    const std::string& archive);

// Where a file of the index is, of an archive in this folder.
std::string path_of(const archive::IndexFile& file, const std::string& archive);

}  // namespace meguri::app
