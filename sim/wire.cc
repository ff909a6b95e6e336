#include "sim/wire.h"

#include <fmt/format.h>

#include <iterator>

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

bool has_wire_body(const Answer& answer, const WireForm& form) {
  return !form.is_head && answer.status != 304;
}

bool is_wire_chunked(const Answer& answer, const WireForm& form) {
  return answer.is_chunked && !answer.is_http10 && !form.to_http10 && answer.status != 304;
}

bool closes_wire(const Answer& answer, const WireForm& form) {
  return answer.closes || answer.is_http10 || !form.keeps_alive;
}

void append_wire_head(const Answer& answer, const WireForm& form, std::string* out) {
  fmt::format_to(std::back_inserter(*out), "HTTP/1.{} {} {}\r\n", answer.is_http10 ? 0 : 1,
                 answer.status, reason_of(answer.status));
  for (const Field& field : answer.fields) {
    out->append(field.name).append(": ").append(field.value).append("\r\n");
  }
  if (is_wire_chunked(answer, form)) {
    out->append("Transfer-Encoding: chunked\r\n");
  } else if (has_wire_body(answer, form)) {
    fmt::format_to(std::back_inserter(*out), "Content-Length: {}\r\n", answer.body.size());
  }
  if (closes_wire(answer, form)) {
    out->append("Connection: close\r\n");
  } else if (form.says_keep_alive) {
    out->append("Connection: keep-alive\r\n");
  }
  out->append("\r\n");
}

}  // namespace meguri::sim
