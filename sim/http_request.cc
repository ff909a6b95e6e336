#include "sim/http_request.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "web/ascii.h"
#include "web/http_text.h"

namespace meguri::sim {
namespace {

using web::HeadQuirk;

// What a careful client never sends. Odd versions have a status of their own.
constexpr std::array kFaults = {
    HeadQuirk::kLowerCaseName,    HeadQuirk::kIcy,
    HeadQuirk::kOddSpacing,       HeadQuirk::kNoVersion,
    HeadQuirk::kSpaceInTarget,    HeadQuirk::kBareLf,
    HeadQuirk::kBareCr,           HeadQuirk::kNul,
    HeadQuirk::kControl,          HeadQuirk::kFolded,
    HeadQuirk::kSpaceBeforeFirst, HeadQuirk::kSpaceBeforeColon,
    HeadQuirk::kNoColon,          HeadQuirk::kBadName,
};

// Host and port of "www.a.test:8080"; false if it is no host.
bool read_authority(std::string_view authority, Origin* origin) {
  constexpr std::size_t kPortDigitsMax = 5;
  if (const std::size_t colon = authority.rfind(':'); colon != std::string_view::npos) {
    const std::string_view port = authority.substr(colon + 1);
    if (port.size() > kPortDigitsMax || !std::ranges::all_of(port, web::is_digit)) return false;
    if (!port.empty()) origin->port = authority.substr(colon);
    authority = authority.substr(0, colon);
  }
  const bool is_name = std::ranges::all_of(authority, [](char c) {
    return web::is_digit(c) || web::is_alpha(c) || c == '-' || c == '.' || c == '_';
  });
  if (!is_name || authority.empty()) return false;
  origin->host = authority;
  return true;
}

// Takes scheme and authority from an absolute-form target (RFC 9112, 3.2.2). Nullopt: it is none.
std::optional<std::string_view> take_authority(std::string_view* target) {
  for (const std::string_view front : {"http://", "https://"}) {
    if (!web::starts_with_ignoring_case(*target, front)) continue;
    const std::size_t end = std::min(target->find_first_of("/?#", front.size()), target->size());
    const std::string_view authority = target->substr(front.size(), end - front.size());
    target->remove_prefix(end);
    if (target->empty()) *target = "/";
    return authority;
  }
  return std::nullopt;
}

bool accepts(const web::FieldList& fields, std::string_view wanted) {
  for (const std::string_view element : fields.elements("Accept-Encoding")) {
    const std::string_view coding = web::trimmed(element.substr(0, element.find(';')));
    if (!web::equals_ignoring_case(coding, wanted)) continue;
    const std::size_t q = element.find("q=");
    // "q=0", "q=0.0": a weight without any digit but zeros.
    return q == std::string_view::npos ||
           element.find_first_of("123456789", q) != std::string_view::npos;
  }
  return false;
}

bool has_element(const web::FieldList& fields, std::string_view name, std::string_view wanted) {
  return std::ranges::any_of(fields.elements(name), [wanted](std::string_view element) {
    return web::equals_ignoring_case(element, wanted);
  });
}

// Host and target, from whichever form they came in.
bool read_place(const web::HttpHead& head, Request* request) {
  request->target = head.target;
  const auto hosts = head.fields.all("Host");
  auto authority = take_authority(&request->target);
  if (hosts.size() > 1 || (hosts.empty() && !authority)) return false;
  if (!read_authority(authority ? *authority : hosts.front(), &request->origin)) return false;
  return request->target.starts_with('/') || request->target == "*";
}

void read_body(const web::HttpHead& head, std::uint64_t body_bytes_max, AskedFor* asked) {
  const web::BodyFraming framing = web::request_framing(head);
  asked->body = framing.end;
  asked->body_bytes = framing.length;
  if (framing.is_faulty || framing.bad_length || framing.odd_transfer_coding) {
    asked->refusal = 400;
  } else if (!framing.codings.empty()) {
    asked->refusal = 501;
  } else if (framing.end == web::BodyEnd::kLength && framing.length > body_bytes_max) {
    asked->refusal = 413;
  } else if (framing.end != web::BodyEnd::kNone && head.fields.has("Expect")) {
    asked->refusal = 417;  // and so the body is never sent
  }
}

}  // namespace

AskedFor read_request(const web::HttpHead& head, std::string_view scheme,
                      std::uint64_t body_bytes_max) {
  AskedFor asked;
  asked.request.method = head.method;
  asked.request.origin.scheme = scheme;
  asked.request.if_none_match = head.fields.get("If-None-Match");
  asked.request.if_modified_since = head.fields.get("If-Modified-Since");
  asked.request.accepts_gzip = accepts(head.fields, "gzip");
  asked.request.accepts_brotli = accepts(head.fields, "br");
  asked.is_http10 = head.version < web::HttpVersion{1, 1};
  asked.keeps_alive = asked.is_http10 ? has_element(head.fields, "Connection", "keep-alive")
                                      : !has_element(head.fields, "Connection", "close");
  const bool is_odd =
      std::ranges::any_of(kFaults, [&](HeadQuirk quirk) { return head.quirks.has(quirk); });
  if (!read_place(head, &asked.request) || is_odd) {
    asked.refusal = 400;
  } else if (head.version.major != 1) {
    asked.refusal = 505;
  } else {
    read_body(head, body_bytes_max, &asked);
  }
  return asked;
}

}  // namespace meguri::sim
