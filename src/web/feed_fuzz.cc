// Reads any bytes as a feed, and as XML that must come out balanced. Limits must hold.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "web/ascii.h"
#include "web/feed.h"

namespace {

using namespace meguri::web;

// Writes what it reads as XML again.
class Copy final : public XmlHandler {
 public:
  bool on_start(const XmlElement& element) override {
    CHECK(++depth_ <= kXmlDepthMax);
    CHECK(!element.name().local.contains(':'));
    out += "<e>";
    return true;
  }
  bool on_text(std::string_view text) override {
    CHECK(depth_ > 0);
    for (const char c : text) {
      if (c == '<' || c == '&') {
        out += c == '<' ? "&lt;" : "&amp;";
      } else {
        out += c == '\r' ? std::string("&#13;") : std::string(1, c);
      }
    }
    return true;
  }
  bool on_end() override {
    CHECK(depth_-- > 0);
    out += "</e>";
    return true;
  }

  std::string out;

 private:
  std::size_t depth_ = 0;
};

void check_links(const Feed& feed, const std::vector<FeedLink>& links) {
  CHECK(links.size() <= kFeedLinksMax);
  for (const FeedLink& link : links) {
    CHECK(!link.href.empty() && link.href.size() <= kFeedUrlBytesMax);
    CHECK(trim(link.href) == link.href && !link.rel.empty());
    CHECK(feed.bases_of(link).size() <= kXmlDepthMax);
  }
}

void check_feed(std::string_view bytes) {
  const Feed feed = parse_feed(bytes);
  CHECK(feed.entries.size() <= kFeedEntriesMax && feed.bases.size() <= kFeedBasesMax);
  CHECK(feed.entries.empty() || feed.kind == DocumentKind::kRss ||
        feed.kind == DocumentKind::kAtom);
  check_links(feed, feed.links);
  for (const FeedEntry& entry : feed.entries) {
    check_links(feed, entry.links);
    CHECK(entry.id.size() <= kFeedUrlBytesMax && entry.title.size() <= kFeedTitleBytesMax);
    CHECK(!entry.id_is_permalink || entry.page() != nullptr);
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_feed(bytes);
  static_cast<void>(document_kind(bytes));

  Copy once;
  const XmlEnd end = read_xml(bytes, &once).end;
  for (std::string_view rest = once.out; !rest.empty();) {
    const meguri::base::CodePoint point = meguri::base::first_code_point(rest);
    CHECK(point.valid);
    rest.remove_prefix(point.length);
  }
  if (end == XmlEnd::kComplete) {
    Copy twice;
    CHECK(read_xml_utf8(once.out, &twice).end == XmlEnd::kComplete);
    CHECK(twice.out == once.out);
  }
  return 0;
}
