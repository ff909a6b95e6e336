#include "sim/line_file.h"

#include <zlib.h>

#include <utility>

#include "base/check.h"

namespace meguri::sim {
namespace {

constexpr std::size_t kPieceBytes = 1U << 18U;
constexpr int kGzipWindow = 15 + 16;  // the largest window, and gzip's own head

}  // namespace

// zlib's state must stay where it is.
struct LineFile::Inflater {
  Inflater() { CHECK(inflateInit2(&stream, kGzipWindow) == Z_OK); }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream stream{};
  bool is_within_member = false;
};

LineFile::LineFile(std::unique_ptr<env::ReadableFile> file, std::string path)
    : file_(std::move(file)), path_(std::move(path)) {}
LineFile::~LineFile() = default;
LineFile::LineFile(LineFile&& other) noexcept = default;
LineFile& LineFile::operator=(LineFile&& other) noexcept = default;

base::Result<LineFile> LineFile::open(env::FileSystem& fs, const std::string& path) {
  ASSIGN_OR_RETURN(auto file, fs.open_read(path));
  LineFile lines(std::move(file), path);
  RETURN_IF_ERROR(lines.file_->read_at(0, 2, &lines.piece_));
  if (lines.piece_ == "\x1f\x8b") lines.inflater_ = std::make_unique<Inflater>();
  return lines;
}

std::unexpected<base::Error> LineFile::fail(std::string_view message) const {
  return base::fail(base::ErrorCode::kCorrupt, "{}, line {}: {}", path_, line_, message);
}

base::Result<std::optional<std::string_view>> LineFile::next() {
  std::size_t looked = at_;
  while (true) {
    const std::size_t end = text_.find('\n', looked);
    if (end == std::string::npos && !has_ended_) {
      if (text_.size() - at_ > kLineBytesMax) {
        ++line_;
        return fail("the line is too long");
      }
      text_.erase(0, at_);
      at_ = 0;
      looked = text_.size();
      RETURN_IF_ERROR(fill());
      continue;
    }
    if (end == std::string::npos && at_ == text_.size()) return std::nullopt;
    std::string_view line = std::string_view(text_).substr(at_, end - at_);
    at_ = end == std::string::npos ? text_.size() : end + 1;
    ++line_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }
}

base::Status LineFile::fill() {
  RETURN_IF_ERROR(file_->read_at(offset_, kPieceBytes, &piece_));
  offset_ += piece_.size();
  has_ended_ = piece_.empty();
  if (inflater_ == nullptr) {
    text_.append(piece_);
    return {};
  }
  if (!has_ended_) return inflate(piece_);
  if (!inflater_->is_within_member) return {};
  ++line_;
  return fail("the gzip file ends before its text");
}

base::Status LineFile::inflate(std::string_view piece) {
  z_stream& stream = inflater_->stream;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
  stream.avail_in = static_cast<uInt>(piece.size());
  bool is_full = false;  // zlib may have more than it had room for
  while (stream.avail_in > 0 || is_full) {
    const std::size_t before = text_.size();
    text_.resize(before + kPieceBytes);
    stream.next_out = reinterpret_cast<Bytef*>(text_.data() + before);
    stream.avail_out = static_cast<uInt>(kPieceBytes);
    const int result = ::inflate(&stream, Z_NO_FLUSH);
    text_.resize(text_.size() - stream.avail_out);
    is_full = stream.avail_out == 0;
    inflater_->is_within_member = result != Z_STREAM_END;
    if (result == Z_STREAM_END) {
      // Files may be put behind each other.
      is_full = false;
      CHECK(inflateReset(&stream) == Z_OK);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      ++line_;
      return fail("the gzip file is damaged");
    }
  }
  return {};
}

}  // namespace meguri::sim
