#include "fetch/http_client.h"

#include <fmt/format.h>

#include <algorithm>

#include "web/ascii.h"
#include "web/content_type.h"

namespace meguri::fetch {
namespace {

void append_cleaned(std::string_view text, std::string* out) {
  for (const char c : text) out->push_back(c == '\r' || c == '\n' || c == '\0' ? ' ' : c);
}

void append_line(std::string_view name, std::string_view value, std::string* out) {
  append_cleaned(name, out);
  out->push_back(':');
  const std::string_view trimmed = web::trim(value);
  if (!trimmed.empty()) out->push_back(' ');
  append_cleaned(trimmed, out);
  out->append("\r\n");
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte != 0x7f;
  });
}

bool is_token_char(char c) {
  return web::is_alnum(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

}  // namespace

std::string_view name_of(Method method) { return method == Method::kHead ? "HEAD" : "GET"; }

std::string_view name_of(FetchOutcome outcome) {
  switch (outcome) {
    case FetchOutcome::kAnswered: return "answered";
    case FetchOutcome::kForbiddenAddress: return "forbidden_address";
    case FetchOutcome::kConnectRefused: return "connect_refused";
    case FetchOutcome::kUnreachable: return "unreachable";
    case FetchOutcome::kConnectTimeout: return "connect_timeout";
    case FetchOutcome::kTlsTimeout: return "tls_timeout";
    case FetchOutcome::kHeadTimeout: return "head_timeout";
    case FetchOutcome::kReset: return "reset";
    case FetchOutcome::kTlsFailure: return "tls_failure";
    case FetchOutcome::kCertificate: return "certificate";
    case FetchOutcome::kBadResponse: return "bad_response";
    case FetchOutcome::kHeadTooLarge: return "head_too_large";
    case FetchOutcome::kTooManyLines: return "too_many_lines";
    case FetchOutcome::kBadRequest: return "bad_request";
    case FetchOutcome::kProxyFailure: return "proxy_failure";
    case FetchOutcome::kCancelled: return "cancelled";
    case FetchOutcome::kLocalFailure: return "local_failure";
  }
  return "unknown";
}

std::string_view name_of(Truncation truncation) {
  switch (truncation) {
    case Truncation::kNone: return "";
    case Truncation::kLength: return "length";
    case Truncation::kTime: return "time";
    case Truncation::kDisconnect: return "disconnect";
    case Truncation::kUnspecified: return "unspecified";
  }
  return "unknown";
}

std::string_view name_of(HttpProtocol protocol) {
  switch (protocol) {
    case HttpProtocol::kUnknown: return "";
    case HttpProtocol::kHttp10: return "http/1.0";
    case HttpProtocol::kHttp11: return "http/1.1";
    case HttpProtocol::kHttp2: return "h2";
  }
  return "unknown";
}

std::string host_field_of(const FetchRequest& request) {
  const int own_port = request.is_https ? 443 : 80;
  return request.port == own_port ? request.host : fmt::format("{}:{}", request.host, request.port);
}

namespace {

std::string head_of(const FetchRequest& request, bool hides_secrets) {
  std::string head;
  head.reserve(128 + request.host.size() + request.target.size() + request.user_agent.size() +
               64 * request.fields.size());
  head.append(name_of(request.method)).append(" ").append(request.target).append(" HTTP/1.1\r\n");
  append_line("Host", host_field_of(request), &head);
  if (!request.user_agent.empty()) append_line("User-Agent", request.user_agent, &head);
  for (const RequestField& field : request.fields) {
    append_line(field.name, field.is_secret && hides_secrets ? "(hidden)" : field.value, &head);
  }
  head.append("\r\n");
  return head;
}

}  // namespace

std::string request_head_of(const FetchRequest& request) { return head_of(request, false); }

std::string kept_head_of(const FetchRequest& request) { return head_of(request, true); }

std::string_view fault_of(const FetchRequest& request) {
  if (request.host.empty() || !is_printable(request.host)) return "the host cannot be asked for";
  if (request.host.find_first_of("/?#@\\") != std::string::npos) return "the host is no host";
  if (!request.target.starts_with('/') && request.target != "*") return "the target has no path";
  if (!is_printable(request.target)) return "the target holds white space or controls";
  for (const RequestField& field : request.fields) {
    if (field.name.empty() || !std::ranges::all_of(field.name, is_token_char)) {
      return "a field has a name that is none";
    }
  }
  return {};
}

bool is_html_content_type(std::string_view line) {
  constexpr std::string_view kName = "content-type:";
  if (!web::starts_with_ignoring_case(line, kName)) return false;
  const auto type = web::parse_content_type(web::trim(line.substr(kName.size())));
  return type && (type->essence() == "text/html" || type->essence() == "application/xhtml+xml");
}

}  // namespace meguri::fetch
