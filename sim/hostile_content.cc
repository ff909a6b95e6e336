// Hosts whose answers are HTTP, and poison: bombs, floods of links, nesting, lies about what they
// are.
#include <fmt/format.h>

#include <array>
#include <iterator>
#include <string>

#include "sim/hostile.h"
#include "sim/packing.h"
#include "sim/world.h"
#include "web/charset.h"

namespace meguri::sim {
namespace {

using base::Instant;
using namespace std::string_view_literals;

constexpr std::size_t kBombBytes = 10'000'000;  // of one piece, which packs to 10 KB or less
constexpr int kBombPieces = 20;
constexpr int kLinks = 100'000;
constexpr int kSitemapUrls = 60'000;
constexpr int kNesting = 40'000;
constexpr std::string_view kFront = "<html><a href=/before>before</a>\n";

void set_body(std::string_view type, std::string body, Answer* answer) {
  if (!type.empty()) answer->fields.push_back({"Content-Type", std::string(type)});
  answer->body = std::move(body);
}

void set_html(std::string body, Answer* answer) { set_body("text/html", std::move(body), answer); }

void set_packed(std::string_view coding, std::string body, Answer* answer) {
  answer->fields.push_back({"Content-Encoding", std::string(coding)});
  set_html(std::move(body), answer);
}

bool is_home(const Request& request) { return request.target == "/"; }

// A page without links, for all that the first one links to.
bool set_leaf(const Request& request, Answer* answer) {
  if (is_home(request)) return false;
  set_html(fmt::format("<p>{} bytes of target", request.target.size()), answer);
  return true;
}

// --- Bombs. Members of gzip may follow each other, so that one piece is enough.

std::string gzip_bomb_bytes() {
  static const std::string piece = gzip_of(std::string(kBombBytes, ' '));
  std::string bomb = gzip_of(kFront);
  for (int i = 0; i < kBombPieces; ++i) bomb += piece;
  return bomb;
}

void gzip_bomb(const Request& request, Instant /*now*/, Answer* answer) {
  if (!set_leaf(request, answer)) set_packed("gzip", gzip_bomb_bytes(), answer);
}

void brotli_bomb(const Request& request, Instant /*now*/, Answer* answer) {
  static const std::string bomb = brotli_of(std::string(kFront) + std::string(5 * kBombBytes, ' '));
  if (!set_leaf(request, answer)) set_packed("br", bomb, answer);
}

void nested_bomb(const Request& request, Instant /*now*/, Answer* answer) {
  if (!set_leaf(request, answer)) set_packed("gzip, gzip", gzip_of(gzip_bomb_bytes()), answer);
}

void many_codings(const Request& request, Instant /*now*/, Answer* answer) {
  std::string body(kFront);
  for (int i = 0; i < 5; ++i) body = gzip_of(body);
  if (!set_leaf(request, answer)) set_packed("gzip, gzip, gzip, gzip, gzip", body, answer);
}

void false_coding(const Request& request, Instant /*now*/, Answer* answer) {
  if (!set_leaf(request, answer)) set_packed("gzip", std::string(kFront), answer);
}

void gzip_file(const Request& request, Instant /*now*/, Answer* answer) {
  if (request.target == "/robots.txt") {
    set_body("text/plain",
             fmt::format("User-agent: *\nSitemap: {}/sitemap.xml.gz\n", request.origin.text()),
             answer);
  } else if (request.target == "/sitemap.xml.gz") {
    std::string body =
        gzip_of("<urlset><url><loc>" + request.origin.text() + "/before</loc></url>");
    static const std::string piece = gzip_of(std::string(kBombBytes, ' '));
    for (int i = 0; i < kBombPieces; ++i) body += piece;
    set_body("application/gzip", std::move(body), answer);
  } else {
    set_html("<p>a page", answer);
  }
}

// --- Too much of it.

void many_links(const Request& request, Instant /*now*/, Answer* answer) {
  if (set_leaf(request, answer)) return;
  std::string body = "<html>\n";
  for (int i = 0; i < kLinks; ++i) {
    fmt::format_to(std::back_inserter(body), "<a href=/{}>{}</a>\n", i, i);
  }
  set_html(std::move(body), answer);
}

void deep_nesting(const Request& request, Instant /*now*/, Answer* answer) {
  if (set_leaf(request, answer)) return;
  std::string body(kFront);
  for (int i = 0; i < kNesting; ++i) body += "<div><svg>";
  body += "<a href=/after>after</a>";
  set_html(std::move(body), answer);
}

void long_links(const Request& request, Instant /*now*/, Answer* answer) {
  if (set_leaf(request, answer)) return;
  std::string body(kFront);
  for (const std::size_t size : {3'000U, 5'000U, 100'000U, 500'000U}) {
    body += fmt::format("<a href=/long?{}>{}</a>\n", std::string(size, 'q'), size);
  }
  set_html(std::move(body), answer);
}

void entity_sitemap(const Request& request, Instant /*now*/, Answer* answer) {
  const std::string origin = request.origin.text();
  if (request.target == "/robots.txt") {
    return set_body("text/plain",
                    fmt::format("User-agent: *\nDisallow:\nSitemap: {}/sitemap.xml\n", origin),
                    answer);
  }
  if (request.target != "/sitemap.xml") return set_html("<p>a page", answer);
  std::string xml =
      "<?xml version=\"1.0\"?>\n<!DOCTYPE urlset [\n"
      "<!ENTITY file SYSTEM \"file:///etc/passwd\">\n"
      "<!ENTITY net SYSTEM \"http://10.0.0.1/secret\">\n<!ENTITY e0 \"/laugh\">\n";
  for (int i = 1; i < 20; ++i) {
    fmt::format_to(std::back_inserter(xml), "<!ENTITY e{} \"", i);
    for (int j = 0; j < 10; ++j) fmt::format_to(std::back_inserter(xml), "&e{};", i - 1);
    xml += "\">\n";
  }
  xml += fmt::format(
      "]>\n<urlset><url><loc>{0}/before</loc></url>\n<url><loc>{0}&e19;</loc></url>\n"
      "<url><loc>{0}/&file;</loc></url>\n<url><loc>{0}/after</loc></url></urlset>\n",
      origin);
  set_body("application/xml", std::move(xml), answer);
}

void huge_sitemap(const Request& request, Instant /*now*/, Answer* answer) {
  const std::string origin = request.origin.text();
  if (request.target == "/robots.txt") {
    return set_body("text/plain",
                    fmt::format("User-agent: *\nDisallow:\nSitemap: {}/sitemap.xml\n", origin),
                    answer);
  }
  if (request.target != "/sitemap.xml") return set_html("<p>a page", answer);
  std::string xml = "<urlset>\n";
  for (int i = 0; i < kSitemapUrls; ++i) {
    fmt::format_to(std::back_inserter(xml), "<url><loc>{}/{}</loc></url>\n", origin, i);
  }
  set_body("application/xml", xml + "</urlset>\n", answer);
}

// --- Not what it says.

void control_body(const Request& request, Instant /*now*/, Answer* answer) {
  if (set_leaf(request, answer)) return;
  set_html(std::string("<html>\0\x01\x02\x1b[2J\n<a href=\"/nul\0nul\">1</a>"
                       "<a href=\"/bell\a\x7f\">2</a><a href=\"/line\r\nX-Injected: yes\">3</a>"
                       "<a href=\"/tab\ttab\">4</a><a href=/plain>5</a>"
                       "<a href=\"http://evil.hostile.test\0.example.org/\">6</a>"sv),
           answer);
}

void wrong_type(const Request& request, Instant /*now*/, Answer* answer) {
  if (is_home(request)) {
    return set_html(
        "<a href=/page.png>1</a><a href=/picture.html>2</a><a href=/untyped>3</a>"
        "<a href=/garbled>4</a><a href=/as-text>5</a>",
        answer);
  }
  if (request.target == "/page.png") return set_body("image/png", std::string(kFront), answer);
  if (request.target == "/picture.html") {
    return set_html(std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR<a href=/in-a-picture>"sv), answer);
  }
  if (request.target == "/untyped") return set_body("", std::string(kFront), answer);
  if (request.target == "/garbled") {
    return set_body(";;//\xff, text/plain; charset", std::string(kFront), answer);
  }
  set_body("text/plain", "plain words\n", answer);
}

void wrong_charset(const Request& request, Instant /*now*/, Answer* answer) {
  // Shift_JIS for "日本", a byte that is none in any charset, and one half of a character.
  constexpr std::string_view kText =
      "<p>\x93\xfa\x96\x7b \xff\xfe\x80 <a href=/after>\x93</a>\x93"sv;
  const std::string body = "<html><a href=/before>before</a>\n" + std::string(kText);
  if (is_home(request)) {
    return set_body("text/html; charset=utf-8",
                    "<a href=/unknown>1</a><a href=/utf-16>2</a>" + body, answer);
  }
  if (request.target == "/unknown") {
    return set_body("text/html; charset=x-no-such-charset", body, answer);
  }
  if (request.target == "/utf-16") return set_body("text/html; charset=utf-16", body, answer);
  set_html("<p>a page", answer);
}

constexpr auto kHabits = std::to_array<HostileHabit>({
    {"gzip-bomb", "sends 200 KB of gzip that hold 200 MB", gzip_bomb},
    {"brotli-bomb", "sends 100 bytes of Brotli that hold 50 MB", brotli_bomb},
    {"nested-bomb", "sends gzip within gzip that holds 200 MB", nested_bomb},
    {"many-codings", "sends gzip five times over", many_codings},
    {"false-coding", "says gzip of what is none", false_coding},
    {"gzip-file", "has a sitemap in a file of gzip that holds 200 MB", gzip_file, true},
    {"many-links", "has 100,000 links on its page", many_links},
    {"deep-nesting", "opens 80,000 elements and closes none", deep_nesting},
    {"long-links", "has links of up to half a million characters", long_links},
    {"entity-sitemap", "has a sitemap of entities that grow to 10^19 words and name files",
     entity_sitemap, true},
    {"huge-sitemap", "has a sitemap of 60,000 addresses", huge_sitemap, true},
    {"control-body", "has NUL and control bytes in its page and its links", control_body},
    {"wrong-type", "says HTML of pictures, picture of HTML, and nonsense", wrong_type},
    {"wrong-charset", "names charsets that its pages are not in, or that nobody knows",
     wrong_charset},
});

}  // namespace

std::span<const HostileHabit> hostile_content_habits() { return kHabits; }

}  // namespace meguri::sim
