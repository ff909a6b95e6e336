#include "scan/frames.h"

#include <utility>

#include "base/bytes.h"
#include "base/check.h"

namespace meguri::scan {

namespace {

using base::Instant;

constexpr auto kLastType = FrameType::kCannotStart;
constexpr std::size_t kReasonBytesMax = 4096;

void put_instant(std::string& out, Instant time) {
  base::put_fixed(out, static_cast<std::uint64_t>(time.ms()));
}

bool take_instant(std::string_view& bytes, Instant& time) {
  std::uint64_t ms = 0;
  if (!base::take_fixed(bytes, ms)) return false;
  time = Instant::from_ms(static_cast<std::int64_t>(ms));
  return true;
}

bool take_string(std::string_view& bytes, std::string& text) {
  std::string_view read;
  if (!base::take_short_text(bytes, read)) return false;
  text = read;
  return true;
}

// A frame of two numbers.
void put_numbers(std::string& out, FrameType type, std::uint64_t first, std::uint64_t second) {
  std::string payload;
  base::put_varint(payload, first);
  base::put_varint(payload, second);
  put_frame(out, type, payload);
}

bool take_numbers(std::string_view payload, std::uint64_t& first, std::uint64_t& second) {
  return base::take_varint(payload, first) && base::take_varint(payload, second) && payload.empty();
}

}  // namespace

void put_frame(std::string& out, FrameType type, std::string_view payload) {
  put_frame_head(out, type, payload.size());
  out += payload;
}

void put_frame_head(std::string& out, FrameType type, std::size_t payload_bytes) {
  CHECK(payload_bytes <= kFrameBytesMax, "a frame of {} bytes", payload_bytes);
  base::put_fixed(out, static_cast<std::uint32_t>(payload_bytes));
  out += static_cast<char>(type);
}

void put_document_head(std::string& out, const DocumentHead& head) {
  const DocumentFacts& facts = head.facts;
  std::string payload;
  base::put_varint(payload, facts.number);
  base::put_varint(payload, head.bytes);
  put_instant(payload, facts.time);
  put_instant(payload, facts.valid.begin);
  put_instant(payload, facts.valid.end);
  base::put_short_text(payload, facts.language);
  base::put_short_text(payload, facts.url);
  put_frame(out, FrameType::kDocument, payload);
}

void put_result_head(std::string& out, const ResultHead& head) {
  put_numbers(out, FrameType::kResult, head.number, head.bytes);
}

void put_lost(std::string& out, const LostHead& lost) {
  std::string payload;
  base::put_varint(payload, lost.number);
  base::put_short_text(payload, std::string_view(lost.reason).substr(0, kReasonBytesMax));
  put_frame(out, FrameType::kLost, payload);
}

void put_usage(std::string& out, const WorkerUsage& usage) {
  put_numbers(out, FrameType::kUsage, usage.idle_ns, usage.cpu_ns);
}

void put_bytes(std::string& out, std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kFrameBytesMax);
    put_frame(out, FrameType::kBytes, piece);
    bytes.remove_prefix(piece.size());
  }
}

std::optional<DocumentHead> parse_document_head(std::string_view payload) {
  DocumentHead head;
  DocumentFacts& facts = head.facts;
  const bool is_whole =
      base::take_varint(payload, facts.number) && base::take_varint(payload, head.bytes) &&
      take_instant(payload, facts.time) && take_instant(payload, facts.valid.begin) &&
      take_instant(payload, facts.valid.end) && take_string(payload, facts.language) &&
      take_string(payload, facts.url) && payload.empty();
  if (!is_whole) return std::nullopt;
  return head;
}

std::optional<ResultHead> parse_result_head(std::string_view payload) {
  ResultHead head;
  if (!take_numbers(payload, head.number, head.bytes)) return std::nullopt;
  return head;
}

std::optional<LostHead> parse_lost(std::string_view payload) {
  LostHead lost;
  const bool is_whole = base::take_varint(payload, lost.number) &&
                        take_string(payload, lost.reason) && payload.empty();
  if (!is_whole) return std::nullopt;
  return lost;
}

std::optional<WorkerUsage> parse_usage(std::string_view payload) {
  WorkerUsage usage;
  if (!take_numbers(payload, usage.idle_ns, usage.cpu_ns)) return std::nullopt;
  return usage;
}

void FrameReader::feed(std::string_view bytes) {
  bytes_.erase(0, std::exchange(used_, 0));  // what is left is less than a frame, mostly
  bytes_ += bytes;
}

base::Result<std::optional<Frame>> FrameReader::next() {
  std::string_view rest = std::string_view(bytes_).substr(used_);
  std::uint32_t size = 0;
  if (rest.size() < kFrameHeadBytes || !base::take_fixed(rest, size)) return std::nullopt;
  const auto type = static_cast<FrameType>(static_cast<unsigned char>(rest.front()));
  if (size > kFrameBytesMax || type < FrameType::kSettings || type > kLastType) {
    return base::fail(base::ErrorCode::kCorrupt, "there is a frame of {} bytes and type {}", size,
                      static_cast<int>(type));
  }
  rest.remove_prefix(1);
  if (rest.size() < size) return std::nullopt;
  used_ += kFrameHeadBytes + size;
  return Frame{.type = type, .payload = rest.substr(0, size)};
}

}  // namespace meguri::scan
