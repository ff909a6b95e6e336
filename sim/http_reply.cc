#include "sim/http_reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"

namespace meguri::sim {

void HttpReply::prepare(Answer answer, const WireForm& form) {
  clear();
  status_ = answer.status;
  if (answer.script != nullptr) {
    script_ = std::move(answer.script);
    closes_ = true;
    is_pause_due_ = true;
    return;
  }
  closes_ = closes_wire(answer, form);
  append_wire_head(answer, form, &text_);
  add_text(0);
  if (!has_wire_body(answer, form)) return;
  const bool is_chunked = is_wire_chunked(answer, form);
  body_ = std::move(answer.body);
  frame_body(is_chunked);
}

void HttpReply::prepare_refusal(int status) {
  Answer answer;
  answer.status = status;
  answer.fields.push_back({"Content-Type", "text/plain"});
  answer.body = fmt::format("{} {}\n", status, reason_of(status));
  answer.closes = true;
  prepare(std::move(answer), {.keeps_alive = false});
}

void HttpReply::frame_body(bool is_chunked) {
  if (!is_chunked) {
    if (!body_.empty()) pieces_.push_back({true, 0, body_.size()});
    return;
  }
  for (std::size_t offset = 0; offset < body_.size(); offset += kChunkBytes) {
    const std::size_t size = std::min(kChunkBytes, body_.size() - offset);
    const std::size_t from = text_.size();
    fmt::format_to(std::back_inserter(text_), "{}{:x}\r\n", offset == 0 ? "" : "\r\n", size);
    add_text(from);
    pieces_.push_back({true, offset, size});
  }
  const std::size_t from = text_.size();
  text_ += body_.empty() ? "0\r\n\r\n" : "\r\n0\r\n\r\n";
  add_text(from);
}

void HttpReply::add_text(std::size_t from) {
  // The size line of the first chunk goes with the head.
  if (!pieces_.empty() && !pieces_.back().is_body) {
    pieces_.back().size += text_.size() - from;
  } else {
    pieces_.push_back({false, from, text_.size() - from});
  }
}

base::Duration HttpReply::take_pause() {
  if (script_ == nullptr || is_done()) return {};
  // A round without bytes is over with its pause.
  if (!is_pause_due_ && script_->steps[at_].bytes.empty()) end_round();
  if (is_done() || !is_pause_due_) return {};
  is_pause_due_ = false;
  return script_->steps[at_].pause;
}

void HttpReply::end_round() {
  offset_ = 0;
  is_pause_due_ = true;
  if (++round_ < script_->steps[at_].times) return;
  round_ = 0;
  ++at_;
}

std::size_t HttpReply::gather(std::span<iovec> parts) const {
  if (script_ != nullptr) {
    const std::string& bytes = script_->steps[at_].bytes;
    parts[0].iov_base = const_cast<char*>(bytes.data() + offset_);
    parts[0].iov_len = bytes.size() - offset_;
    return 1;
  }
  std::size_t count = 0;
  std::size_t skip = offset_;
  for (std::size_t i = at_; i < pieces_.size() && count < parts.size(); ++i) {
    const Piece& piece = pieces_[i];
    const std::string& bytes = piece.is_body ? body_ : text_;
    // iovec is also for reading, hence not const; writing does not change what it points to.
    parts[count].iov_base = const_cast<char*>(bytes.data() + piece.offset + skip);
    parts[count].iov_len = piece.size - skip;
    ++count;
    skip = 0;
  }
  return count;
}

void HttpReply::advance(std::size_t bytes) {
  sent_bytes_ += bytes;
  if (script_ != nullptr) {
    offset_ += bytes;
    CHECK(offset_ <= script_->steps[at_].bytes.size());
    if (offset_ == script_->steps[at_].bytes.size()) end_round();
    return;
  }
  while (bytes > 0) {
    CHECK(at_ < pieces_.size());
    const std::size_t left = pieces_[at_].size - offset_;
    if (bytes < left) {
      offset_ += bytes;
      return;
    }
    bytes -= left;
    offset_ = 0;
    ++at_;
  }
}

void HttpReply::clear() {
  text_.clear();
  body_ = std::string();
  pieces_.clear();
  script_.reset();
  is_pause_due_ = false;
  round_ = 0;
  at_ = 0;
  offset_ = 0;
  sent_bytes_ = 0;
}

}  // namespace meguri::sim
