#include "app/repair_sources.h"

#include "app/archive_index.h"
#include "app/found_warcs.h"

namespace meguri::app {

base::Result<std::vector<std::string>> warcs_of_archive(env::FileSystem& files,
                                                        const std::string& archive) {
  std::vector<std::string> paths;
  const std::string folder = archive + "/warc";
  ASSIGN_OR_RETURN(const bool exists, files.exists(folder));
  if (!exists) return paths;
  const auto found = find_warcs(files, {folder});
  // A folder without any is no mistake here.
  if (!found && found.error().code() == base::ErrorCode::kInvalid) return paths;
  if (!found) return std::unexpected(found.error());
  for (const FoundWarc& file : *found) paths.push_back(file.path.substr(archive.size() + 1));
  return paths;
}

base::Result<archive::RepairSources> repair_sources(env::FileSystem& files,
                                                    const std::string& archive) {
  archive::RepairSources sources;
  ASSIGN_OR_RETURN(sources.listed, archive::ListedFiles::load(files, archive));
  ASSIGN_OR_RETURN(sources.found, warcs_of_archive(files, archive));
  ASSIGN_OR_RETURN(sources.end, durable_end(files, archive));
  return sources;
}

}  // namespace meguri::app
