// Hosts that misbehave on the wire: too slow, without end, not HTTP, or gone in between.
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "sim/hostile.h"
#include "sim/wire_script.h"
#include "sim/world.h"

namespace meguri::sim {
namespace {

using base::Duration;
using base::Instant;

constexpr std::size_t kBlockBytes = 16'384;
constexpr std::string_view kStatusLine = "HTTP/1.1 200 OK\r\n";
constexpr std::string_view kHtmlHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n";
constexpr std::string_view kChunkedHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n";
// What is sent before a reset has arrived by then.
constexpr Duration kBeforeReset = Duration::seconds(5);

std::string repeated(std::string_view text, std::size_t bytes) {
  std::string out;
  while (out.size() < bytes) out.append(text);
  return out;
}

void play(std::vector<WireStep> steps, Answer* answer, bool resets = false) {
  answer->script = std::make_shared<const WireScript>(WireScript{std::move(steps), resets});
}

WireStep bytes(std::string_view text) { return {.bytes = std::string(text)}; }

// --- Too slow.

void slow_head(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  play({bytes(kStatusLine),
        {.bytes = "X-Slow: yes\r\n", .times = kForEver, .pause = Duration::seconds(5)}},
       answer);
}

void slow_body(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  play({bytes(kHtmlHead),
        bytes("<p>slow"),
        {.bytes = "z", .times = kForEver, .pause = Duration::seconds(1)}},
       answer);
}

void steady_body(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  play({bytes(kHtmlHead),
        {.bytes = std::string(2048, 'y'), .times = kForEver, .pause = Duration::seconds(1)}},
       answer);
}

void silence(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  play({{.times = kForEver, .pause = Duration::minutes(10)}}, answer);
}

// --- Without end.

void endless_html(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  play({bytes(kHtmlHead),
        bytes("<a href=/first>first</a>\n"),
        {.bytes = repeated("<p>and on, and on</p>\n", kBlockBytes), .times = kForEver}},
       answer);
}

void endless_file(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  play({bytes("HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
              "Transfer-Encoding: chunked\r\n\r\n"),
        {.bytes = "4000\r\n" + std::string(kBlockBytes, '\x7f') + "\r\n", .times = kForEver}},
       answer);
}

void header_flood(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  play({bytes(kStatusLine),
        {.bytes = repeated("X-Flood: rising\r\n", kBlockBytes), .times = kForEver}},
       answer);
}

void long_header(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  play({bytes(kStatusLine),
        bytes("X-Long: "),
        {.bytes = std::string(kBlockBytes, 'a'), .times = kForEver}},
       answer);
}

void large_head(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  play({bytes(kStatusLine),
        {.bytes = "X-Large: " + std::string(8'000, 'a') + "\r\n", .times = 100},
        bytes("\r\nnever read")},
       answer);
}

void endless_interim(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  play({{.bytes = repeated("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n", kBlockBytes),
         .times = kForEver}},
       answer);
}

// --- Bad lengths.

void chunk_script(std::string_view bad, Answer* answer) {
  play({bytes(kChunkedHead), bytes("6\r\n<p>one\r\n"), bytes(bad)}, answer);
}

void chunk_negative(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  chunk_script("-6\r\n<p>two\r\n0\r\n\r\n", answer);
}

void chunk_overflow(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  chunk_script("fffffffffffffffff6\r\n<p>two\r\n0\r\n\r\n", answer);
}

void chunk_not_hex(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  chunk_script("six\r\n<p>two\r\n0\r\n\r\n", answer);
}

void chunk_missing(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  chunk_script("\r\n<p>two\r\n0\r\n\r\n", answer);
}

void chunk_overrun(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  chunk_script("6\r\n<p>two and more than was said\r\n0\r\n\r\n", answer);
}

void bad_length(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  play({bytes("HTTP/1.1 200 OK\r\nContent-Length: -18446744073709551616\r\n\r\n<p>what?")}, answer);
}

void short_body(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  play(
      {bytes("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n<p>short")},
      answer);
}

// --- Resets.

void refuse(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  answer->status = 404;  // whoever comes by the other door
}

void reset_after_request(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  play({}, answer, true);
}

void reset_in_head(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  play({bytes(kStatusLine), bytes("Content-Type: text/"), {.pause = kBeforeReset}}, answer, true);
}

void reset_in_body(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  play({bytes("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n<p>half"),
        {.pause = kBeforeReset}},
       answer, true);
}

// --- Not HTTP.

void not_http(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  play({bytes("220 mail.hostile.test ESMTP ready\r\n500 what is GET?\r\n")}, answer);
}

void control_head(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  using namespace std::string_view_literals;
  play({bytes("HTTP/1.1 200 OK\r\nX-Bell: \a\b\x1b[31m\x7f\r\nX-Nul: a\0b\r\n"
              "Content-Type: text/html\r\nContent-Length: 6\r\n\r\n<p>nul"sv)},
       answer);
}

constexpr auto kHabits = std::to_array<HostileHabit>({
    {"slow-head", "sends a line of its head every five seconds, and never the last", slow_head},
    {"slow-body", "sends a byte of its page each second, for ever", slow_body},
    {"steady-body", "sends two kilobytes of its page each second, for ever", steady_body},
    {"silent", "takes requests and never answers", silence},
    {"silent-handshake", "takes connections of TLS and says nothing", refuse, false,
     HostileDoor::kIgnoresHandshake},
    {"endless-html", "sends a page that has no end, as fast as it is taken", endless_html},
    {"endless-file", "sends a file in chunks without a last one", endless_file},
    {"header-flood", "sends lines of a head without end", header_flood},
    {"long-header", "sends one line of a head without end", long_header},
    {"large-head", "sends a head of 800 KB in a hundred lines", large_head},
    {"endless-interim", "sends 103 Early Hints without end, and no answer", endless_interim},
    {"chunk-negative", "says that a chunk has -6 bytes", chunk_negative},
    {"chunk-overflow", "says that a chunk has more bytes than 64 bits can count", chunk_overflow},
    {"chunk-not-hex", "says that a chunk has 'six' bytes", chunk_not_hex},
    {"chunk-missing", "does not say how many bytes a chunk has", chunk_missing},
    {"chunk-overrun", "sends more bytes in a chunk than it said", chunk_overrun},
    {"bad-length", "says that its body has less than no bytes", bad_length},
    {"short-body", "closes the connection before its body is whole", short_body},
    {"deaf", "never answers when it is connected to", refuse, false, HostileDoor::kDeaf},
    {"reset-on-connect", "resets every connection at once", refuse, false, HostileDoor::kResets},
    {"reset-in-handshake", "resets connections of TLS at the first message", refuse, false,
     HostileDoor::kResetsHandshake},
    {"reset-after-request", "resets the connection when it has the request", reset_after_request},
    {"reset-in-head", "resets the connection within its head", reset_in_head},
    {"reset-in-body", "resets the connection within its body", reset_in_body},
    {"expired-certificate", "has a certificate that ended years ago", refuse, false,
     HostileDoor::kOpen, CertificateFault::kExpired},
    {"wrong-certificate-name", "has a certificate for another name", refuse, false,
     HostileDoor::kOpen, CertificateFault::kWrongName},
    {"self-signed-certificate", "has a certificate that nobody vouches for", refuse, false,
     HostileDoor::kOpen, CertificateFault::kSelfSigned},
    {"not-http", "speaks as a mail server does", not_http},
    {"control-head", "sends NUL and control bytes in its head", control_head},
});

}  // namespace

std::span<const HostileHabit> hostile_wire_habits() { return kHabits; }

}  // namespace meguri::sim
