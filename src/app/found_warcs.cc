#include "app/found_warcs.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "web/ascii.h"

namespace meguri::app {

namespace {

using base::ErrorCode;

constexpr int kFolderDepthMax = 16;

bool is_warc_name(std::string_view name) {
  const auto ends_with = [name](std::string_view end) {
    return name.size() > end.size() &&
           web::equals_ignoring_case(name.substr(name.size() - end.size()), end);
  };
  return ends_with(".warc") || ends_with(".warc.gz") || ends_with(".warc.zst") ||
         ends_with(".arc") || ends_with(".arc.gz") || ends_with(".arc.zst");
}

// Files that are found by their names, in a folder and all below it. False: it is no folder.
base::Result<bool> find_below(env::FileSystem& files, const std::string& folder, int depth,
                              std::vector<FoundWarc>& found) {
  const auto names = files.list(folder);
  if (!names || depth > kFolderDepthMax) return false;
  for (const std::string& name : *names) {
    const std::string path = folder + "/" + name;
    ASSIGN_OR_RETURN(const bool is_folder, find_below(files, path, depth + 1, found));
    if (is_folder || !is_warc_name(name)) continue;
    ASSIGN_OR_RETURN(const std::uint64_t bytes, files.size(path));
    found.push_back({.path = path, .bytes = bytes});
  }
  return true;
}

base::Status find_at(env::FileSystem& files, std::string path, std::vector<FoundWarc>& found) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  ASSIGN_OR_RETURN(const bool exists, files.exists(path));
  if (!exists) return base::fail(ErrorCode::kNotFound, "{}: there is no such file or folder", path);
  const std::size_t before = found.size();
  ASSIGN_OR_RETURN(const bool is_folder, find_below(files, path, 0, found));
  if (!is_folder) {
    ASSIGN_OR_RETURN(const std::uint64_t bytes, files.size(path));
    found.push_back({.path = path, .bytes = bytes, .is_named = true});
  } else if (found.size() == before) {
    return base::fail(ErrorCode::kInvalid,
                      "{}: there are no WARC files in it (.warc, .arc, and these with .gz or .zst)",
                      path);
  }
  return {};
}

}  // namespace

base::Result<std::vector<FoundWarc>> find_warcs(env::FileSystem& files,
                                                const std::vector<std::string>& paths) {
  std::vector<FoundWarc> found;
  for (const std::string& path : paths) RETURN_IF_ERROR(find_at(files, path, found));
  std::ranges::sort(found, [](const FoundWarc& a, const FoundWarc& b) {
    return a.path != b.path ? a.path < b.path : a.is_named && !b.is_named;
  });
  const auto same = std::ranges::unique(found, {}, &FoundWarc::path);
  found.erase(same.begin(), same.end());
  return found;
}

}  // namespace meguri::app
