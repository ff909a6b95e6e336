// LineFile: the lines of a text file one after the other, plain or gzip, so that files of any
// length are read in little memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "env/file_system.h"

namespace meguri::sim {

// Thread-compatible.
class LineFile {
 public:
  static constexpr std::size_t kLineBytesMax = 256U << 20U;

  // Whether the file is gzip is told by its first two bytes.
  static base::Result<LineFile> open(env::FileSystem& fs, const std::string& path);
  ~LineFile();
  LineFile(LineFile&& other) noexcept;
  LineFile& operator=(LineFile&& other) noexcept;

  // The next line without its end, "\n" or "\r\n"; nullopt at the end of the file. The view dies at
  // the next call. Errors name the line.
  base::Result<std::optional<std::string_view>> next();

  std::uint64_t line() const { return line_; }  // the number of the last one; the first is 1
  const std::string& path() const { return path_; }

  // "PATH, line 7: MESSAGE"
  std::unexpected<base::Error> fail(std::string_view message) const;

 private:
  struct Inflater;

  LineFile(std::unique_ptr<env::ReadableFile> file, std::string path);
  base::Status fill();  // appends to text_, or sets has_ended_
  base::Status inflate(std::string_view piece);

  std::unique_ptr<env::ReadableFile> file_;
  std::string path_;
  std::unique_ptr<Inflater> inflater_;  // null: a plain file
  std::uint64_t offset_ = 0;            // of what comes next from the file
  std::string piece_;
  std::string text_;
  std::size_t at_ = 0;  // where the next line begins in text_
  std::uint64_t line_ = 0;
  bool has_ended_ = false;
};

}  // namespace meguri::sim
