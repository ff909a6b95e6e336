#include "scan/result_cutter.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text.h"

namespace meguri::scan {

namespace {

using base::ErrorCode;

constexpr std::size_t kHeadBytesMax = 42;  // two numbers of 20 digits, a blank and a line end
constexpr std::size_t kShownBytesMax = 40;

// A number off the front of `text`, in digits alone.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

base::Status ResultCutter::append(std::string_view bytes) {
  if (bytes.size() > kResultBytesMax - bytes_.size()) {
    return base::fail(ErrorCode::kFailed, "it wrote more than {} bytes for one document",
                      kResultBytesMax);
  }
  return bytes_.append(bytes);
}

base::Result<std::optional<ResultCutter::Result>> FramedResults::next(std::string_view& bytes) {
  if (!number_) {
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    head_ += line.substr(0, kHeadBytesMax);
    const bool is_whole = line.size() < bytes.size();
    if (!is_whole && head_.size() < kHeadBytesMax) {
      bytes = {};
      return std::nullopt;
    }
    RETURN_IF_ERROR(parse_head());
    bytes.remove_prefix(line.size() + 1);
  }
  const std::string_view piece =
      bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size())));
  RETURN_IF_ERROR(append(piece));
  bytes.remove_prefix(piece.size());
  left_ -= piece.size();
  if (left_ > 0) return std::nullopt;
  return Result{.number = std::exchange(number_, std::nullopt), .bytes = bytes_.finish()};
}

// Of a whole line, or of more than that can be.
base::Status FramedResults::parse_head() {
  std::string_view rest = head_;
  const auto number = take_number(rest);
  const bool has_blank = rest.starts_with(' ');
  if (has_blank) rest.remove_prefix(1);
  const auto length = take_number(rest);
  if (head_.size() >= kHeadBytesMax || !number || !has_blank || !length || !rest.empty()) {
    return base::fail(ErrorCode::kFailed, "it wrote {} where 'NUMBER LENGTH' was expected",
                      base::quoted(head_, kShownBytesMax));
  }
  number_ = number;
  left_ = *length;
  head_.clear();
  return {};
}

base::Result<std::optional<ResultCutter::Result>> FramedResults::finish() {
  if (!number_ && head_.empty()) return std::nullopt;
  return base::fail(ErrorCode::kFailed, "it closed its output within a result");
}

base::Result<std::optional<ResultCutter::Result>> LineResults::next(std::string_view& bytes) {
  const std::size_t line_end = bytes.find('\n');
  const bool is_whole = line_end != std::string_view::npos;
  const std::string_view piece = is_whole ? bytes.substr(0, line_end + 1) : bytes;
  RETURN_IF_ERROR(append(piece));
  bytes.remove_prefix(piece.size());
  if (!is_whole) return std::nullopt;
  return Result{.bytes = bytes_.finish()};
}

base::Result<std::optional<ResultCutter::Result>> LineResults::finish() {
  if (bytes_.size() == 0) return std::nullopt;
  RETURN_IF_ERROR(append("\n"));
  return Result{.bytes = bytes_.finish()};
}

}  // namespace meguri::scan
