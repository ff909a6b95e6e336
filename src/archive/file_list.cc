#include "archive/file_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

namespace meguri::archive {

namespace {

constexpr std::string_view kRemoved = "removed";
constexpr std::array kSources = {FileSource::kCrawl, FileSource::kCopy, FileSource::kReference};

std::string path_in(const std::string& archive) {
  return fmt::format("{}/{}", archive, kFileListFile);
}

// What makes up the line of a file.
IndexFile listed_part(const IndexFile& file) {
  IndexFile part;
  part.number = file.number;
  part.path = file.path;
  part.source = file.source;
  if (file.source != FileSource::kCrawl) {
    part.bytes = file.bytes;
    part.print = file.print;
  }
  return part;
}

// Names may hold anything but '\0'.
std::string escaped(std::string_view path) {
  std::string text;
  for (const char c : path) {
    if (c == '\n') {
      text += "\\n";
    } else if (c == '\\') {
      text += "\\\\";
    } else {
      text += c;
    }
  }
  return text;
}

std::string unescaped(std::string_view text) {
  std::string path;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '\\' && i + 1 < text.size();
    if (is_escape) ++i;
    path += is_escape && text[i] == 'n' ? '\n' : text[i];
  }
  return path;
}

std::string line_of(const IndexFile& file) {
  return fmt::format("{} {} {} {:016x} {}\n", file.number, name_of(file.source), file.bytes,
                     file.print, escaped(file.path));
}

std::string_view take_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

template <typename Number>
bool read_number(std::string_view word, int base, Number& number) {
  const auto read = std::from_chars(word.data(), word.data() + word.size(), number, base);
  return read.ec == std::errc() && read.ptr == word.data() + word.size();
}

std::optional<IndexFile> parse_rest(std::uint32_t number, std::string_view source,
                                    std::string_view rest) {
  IndexFile file;
  file.number = number;
  const auto* const found = std::ranges::find(
      kSources, source, [](FileSource each) -> std::string_view { return name_of(each); });
  if (found == kSources.end()) return std::nullopt;
  file.source = *found;
  const std::string_view bytes = take_word(rest);
  const std::string_view print = take_word(rest);
  if (!read_number(bytes, 10, file.bytes) || !read_number(print, 16, file.print)) {
    return std::nullopt;
  }
  file.path = unescaped(rest);
  return file.path.empty() ? std::nullopt : std::optional(file);
}

void read_line(std::string_view line, ListedFiles& listed) {
  std::uint32_t number = 0;
  const bool is_number = read_number(take_word(line), 10, number) && number > 0 &&
                         number < std::numeric_limits<std::uint32_t>::max();
  if (!is_number) return;
  const std::string_view word = take_word(line);
  if (word == kRemoved) {
    listed.files.erase(number);
  } else if (auto file = parse_rest(number, word, line)) {
    listed.files[number] = *std::move(file);
  } else {
    return;
  }
  listed.next_number = std::max(listed.next_number, number + 1);
}

}  // namespace

ListedFiles ListedFiles::parse(std::string_view text) {
  ListedFiles listed;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    read_line(text.substr(0, end), listed);
    text.remove_prefix(end + 1);
  }
  return listed;
}

base::Result<ListedFiles> ListedFiles::load(env::FileSystem& files, const std::string& archive) {
  ASSIGN_OR_RETURN(const bool exists, files.exists(path_in(archive)));
  if (!exists) return ListedFiles();
  ASSIGN_OR_RETURN(const std::string text, env::read_file(files, path_in(archive)));
  return parse(text);
}

base::Result<std::unique_ptr<FileList>> FileList::open(env::FileSystem& files,
                                                       const std::string& archive) {
  const std::string path = path_in(archive);
  ASSIGN_OR_RETURN(const bool exists, files.exists(path));
  std::string text;
  if (exists) {
    ASSIGN_OR_RETURN(text, env::read_file(files, path));
  }
  // A line that a crash has torn would spoil the next one.
  const std::size_t whole = text.rfind('\n') + 1;  // npos + 1 is none
  if (whole < text.size()) RETURN_IF_ERROR(files.truncate(path, whole));
  ASSIGN_OR_RETURN(auto file, files.open_append(path));
  if (!exists) RETURN_IF_ERROR(files.sync_dir(archive));
  return std::unique_ptr<FileList>(new FileList(std::move(file), ListedFiles::parse(text)));
}

base::Status FileList::append(const std::string& line) {
  is_dirty_ = true;
  return file_->append(line);
}

base::Status FileList::set(const IndexFile& file) {
  IndexFile part = listed_part(file);
  const auto known = listed_.files.find(part.number);
  if (known != listed_.files.end() && known->second == part) return {};
  RETURN_IF_ERROR(append(line_of(part)));
  listed_.files[part.number] = std::move(part);
  return {};
}

base::Status FileList::remove(std::uint32_t number) {
  if (listed_.files.erase(number) == 0) return {};
  return append(fmt::format("{} {}\n", number, kRemoved));
}

base::Status FileList::sync() {
  if (!is_dirty_) return {};
  RETURN_IF_ERROR(file_->sync());
  is_dirty_ = false;
  return {};
}

}  // namespace meguri::archive
