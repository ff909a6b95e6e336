#include "app/added_seeds.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <unordered_set>

#include "app/crawl_config.h"

namespace meguri::app {

namespace {

std::string path_of(const std::string& archive) { return archive + "/seeds.txt"; }

// Empty if there is no file.
base::Result<std::string> read_text(env::FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(const bool exists, files.exists(path));
  if (!exists) return std::string();
  return env::read_file(files, path);
}

std::size_t whole_lines(std::string_view text) {
  const std::size_t last = text.rfind('\n');
  return last == std::string_view::npos ? 0 : last + 1;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  text = text.substr(0, whole_lines(text));
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);  // people edit it too
    if (!line.empty()) lines.emplace_back(line);
    text.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace

base::Result<std::vector<std::string>> read_added_seeds(env::FileSystem& files,
                                                        const std::string& archive) {
  const std::string path = path_of(archive);
  ASSIGN_OR_RETURN(const std::string text, read_text(files, path));
  return read_seeds(std::string_view(text).substr(0, whole_lines(text)), path);
}

base::Result<AddedSeeds> append_added_seeds(env::FileSystem& files, const std::string& archive,
                                            const std::vector<std::string>& urls) {
  const std::string path = path_of(archive);
  ASSIGN_OR_RETURN(const std::string text, read_text(files, path));
  const std::vector<std::string> before = lines_of(text);
  std::unordered_set<std::string> known(before.begin(), before.end());
  AddedSeeds added;
  std::string lines;
  for (const std::string& url : urls) {
    if (!known.insert(url).second) {
      ++added.known;
      continue;
    }
    ++added.fresh;
    lines += url + "\n";
  }
  if (lines.empty()) return added;
  // A line that was torn by a crash must not become the beginning of another.
  if (whole_lines(text) < text.size()) RETURN_IF_ERROR(files.truncate(path, whole_lines(text)));
  ASSIGN_OR_RETURN(const auto file, files.open_append(path));
  RETURN_IF_ERROR(file->append(lines));
  RETURN_IF_ERROR(file->sync());
  if (text.empty()) RETURN_IF_ERROR(files.sync_dir(archive));
  return added;
}

}  // namespace meguri::app
