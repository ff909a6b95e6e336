#include "web/http_framing.h"

#include <algorithm>

#include "web/ascii.h"
#include "web/http_text.h"

namespace meguri::web {

namespace {

// The codings in the order they were applied; "identity", which HTTP/1.1 once had, means none.
std::vector<std::string> transfer_codings_of(const FieldList& fields) {
  std::vector<std::string> codings;
  for (const std::string_view element : fields.elements("Transfer-Encoding")) {
    const std::string_view name = trimmed(element.substr(0, element.find(';')));
    if (!equals_ignoring_case(name, "identity")) codings.push_back(lower_copy(name));
  }
  return codings;
}

void frame_by_codings(const HttpHead& head, std::vector<std::string> codings,
                      BodyFraming* framing) {
  const bool is_request = head.kind == HeadKind::kRequest;
  const auto chunked_count = std::ranges::count(codings, "chunked");
  const bool is_chunked = codings.back() == "chunked";
  if (chunked_count > 1 || (chunked_count == 1 && !is_chunked)) framing->odd_transfer_coding = true;
  if (head.version < HttpVersion{1, 1}) {
    framing->odd_transfer_coding = true;
    framing->is_faulty = true;
  }
  if (is_chunked) {
    framing->end = BodyEnd::kChunked;
  } else {
    framing->end = is_request ? BodyEnd::kNone : BodyEnd::kClose;
    if (is_request) framing->is_faulty = true;
  }
  if (framing->odd_transfer_coding) framing->is_faulty = true;
  std::erase(codings, "chunked");
  framing->codings = std::move(codings);
}

BodyFraming framing_of(const HttpHead& head) {
  const bool is_request = head.kind == HeadKind::kRequest;
  BodyFraming framing;
  framing.end = is_request ? BodyEnd::kNone : BodyEnd::kClose;
  const ContentLength length = content_length_of(head.fields);
  auto codings = transfer_codings_of(head.fields);
  if (!codings.empty() && head.version.major >= 2) {
    framing.odd_transfer_coding = true;
    codings.clear();
  }
  if (!codings.empty()) {
    frame_by_codings(head, std::move(codings), &framing);
    framing.length_overridden = length.state != ContentLength::State::kAbsent;
    if (framing.length_overridden) framing.is_faulty = true;
  } else if (length.state == ContentLength::State::kValid) {
    framing.end = BodyEnd::kLength;
    framing.length = length.bytes;
  } else if (length.state != ContentLength::State::kAbsent) {
    framing.bad_length = true;
    framing.is_faulty = true;
  }
  return framing;
}

bool has_no_body(int status, std::string_view method) {
  if (equals_ignoring_case(method, "HEAD")) return true;
  if (status / 100 == 1 || status == 204 || status == 304) return true;
  return equals_ignoring_case(method, "CONNECT") && status / 100 == 2;
}

}  // namespace

ContentLength content_length_of(const FieldList& fields) {
  using State = ContentLength::State;
  ContentLength length;
  for (const std::string_view value : fields.all("Content-Length")) {
    std::string_view rest = value;
    for (bool is_last = false; !is_last;) {
      const std::size_t comma = rest.find(',');
      is_last = comma == std::string_view::npos;
      const auto bytes = parse_decimal(trimmed(rest.substr(0, comma)));
      if (!is_last) rest.remove_prefix(comma + 1);
      if (!bytes) return {State::kInvalid, 0};
      if (length.state == State::kValid && length.bytes != *bytes) return {State::kDiffering, 0};
      length = {State::kValid, *bytes};
    }
  }
  return length;
}

BodyFraming response_framing(const HttpHead& head, std::string_view request_method) {
  if (has_no_body(head.status, request_method)) {
    BodyFraming framing;
    framing.length_overridden = !equals_ignoring_case(request_method, "HEAD") &&
                                head.status != 304 && head.fields.has("Content-Length");
    return framing;
  }
  return framing_of(head);
}

BodyFraming request_framing(const HttpHead& head) { return framing_of(head); }

}  // namespace meguri::web
