#include "sim/http_reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"

namespace meguri::sim {

std::string_view reason_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 410: return "Gone";
    case 413: return "Content Too Large";
    case 417: return "Expectation Failed";
    case 421: return "Misdirected Request";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "";
  }
}

void HttpReply::prepare(Answer answer, const ReplyForm& form) {
  const bool has_body = !form.is_head && answer.status != 304;
  const bool is_chunked = answer.is_chunked && !answer.is_http10 && !form.to_http10;
  clear();
  status_ = answer.status;
  closes_ = answer.closes || answer.is_http10 || !form.keeps_alive;
  write_head(answer, form, is_chunked && answer.status != 304);
  add_text(0);
  if (!has_body) return;
  body_ = std::move(answer.body);
  frame_body(is_chunked);
}

void HttpReply::prepare_refusal(int status) {
  Answer answer;
  answer.status = status;
  answer.fields.push_back({"Content-Type", "text/plain"});
  answer.body = fmt::format("{} {}\n", status, reason_of(status));
  answer.closes = true;
  prepare(std::move(answer), {});
}

void HttpReply::write_head(const Answer& answer, const ReplyForm& form, bool is_chunked) {
  fmt::format_to(std::back_inserter(text_), "HTTP/1.{} {} {}\r\n", answer.is_http10 ? 0 : 1,
                 answer.status, reason_of(answer.status));
  for (const Field& field : answer.fields) {
    text_.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  if (is_chunked) {
    text_ += "Transfer-Encoding: chunked\r\n";
  } else if (!form.is_head && answer.status != 304) {
    // The answer to HEAD would have to be that of the body, which nobody made.
    fmt::format_to(std::back_inserter(text_), "Content-Length: {}\r\n", answer.body.size());
  }
  if (closes_) {
    text_ += "Connection: close\r\n";
  } else if (form.says_keep_alive) {
    text_ += "Connection: keep-alive\r\n";
  }
  text_ += "\r\n";
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

std::size_t HttpReply::gather(std::span<iovec> parts) const {
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
  at_ = 0;
  offset_ = 0;
  sent_bytes_ = 0;
}

}  // namespace meguri::sim
