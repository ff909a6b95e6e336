#include "sim/wire.h"

#include <fmt/format.h>

#include <iterator>

namespace meguri::sim {

std::string_view wire_reason(int status) {
  switch (status) {
    case 200: return "OK";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 410: return "Gone";
    case 421: return "Misdirected Request";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    default: return "";
  }
}

std::string wire_head(const Answer& answer, const WireForm& form) {
  std::string head = fmt::format("HTTP/1.{} {} {}\r\n", answer.is_http10 ? 0 : 1, answer.status,
                                 wire_reason(answer.status));
  for (const Field& field : answer.fields) {
    head.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  if (answer.is_chunked && !answer.is_http10 && answer.status != 304) {
    head += "Transfer-Encoding: chunked\r\n";
  } else if (has_wire_body(answer, form)) {
    fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n", answer.body.size());
  }
  if (answer.closes || answer.is_http10 || !form.keeps_alive) head += "Connection: close\r\n";
  head += "\r\n";
  return head;
}

}  // namespace meguri::sim
