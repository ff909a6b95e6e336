// Hosts that lead astray: by their names, their robots.txt, redirects without end, and traps.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "base/hash.h"
#include "sim/hostile.h"
#include "sim/wire_script.h"
#include "sim/world.h"

namespace meguri::sim {
namespace {

using base::Instant;

constexpr Address kPrivate = 0x0a000001;   // 10.0.0.1
constexpr Address kMetadata = 0xa9fea9fe;  // 169.254.169.254, where clouds keep secrets
constexpr std::size_t kRobotsBytes = 20'000'000;
constexpr std::uint64_t kChainHops = 1'000;
constexpr std::uint64_t kRobotsHops = 5;

void set_html(std::string body, Answer* answer) {
  answer->fields.push_back({"Content-Type", "text/html"});
  answer->body = std::move(body);
}

void set_robots(std::string body, Answer* answer) {
  answer->fields.push_back({"Content-Type", "text/plain"});
  answer->body = std::move(body);
}

void set_redirect(int status, std::string location, Answer* answer) {
  answer->status = status;
  answer->fields.push_back({"Location", std::move(location)});
  set_html("<p>elsewhere", answer);
}

bool is_robots(const Request& request) { return request.target == "/robots.txt"; }

// The number behind `front`; nullopt: it is not so written.
std::optional<std::uint64_t> number_behind(std::string_view text, std::string_view front) {
  if (!text.starts_with(front)) return std::nullopt;
  text.remove_prefix(front.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The same for the same text, and not to be guessed.
std::string token_of(std::string_view text) {
  return fmt::format("{:016x}{:016x}", base::hash64(text), base::hash64(std::string(text) + "!"));
}

// --- Names.

std::vector<Address> private_addresses(Address /*own*/, std::uint64_t /*count*/) {
  return {kPrivate, 0xc0a80001, 0xac100001};
}
std::vector<Address> metadata_addresses(Address /*own*/, std::uint64_t /*count*/) {
  return {kMetadata};
}
std::vector<Address> changing_addresses(Address own, std::uint64_t count) {
  return {count % 2 == 0 ? own : kPrivate};
}
std::vector<Address> mixed_addresses(Address own, std::uint64_t /*count*/) {
  return {kPrivate, own, kMetadata};
}

void plain_page(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  set_html("<p>a page", answer);
}

// Enough pages that its name is looked up again before all are visited.
void rebinding_pages(const Request& request, Instant /*now*/, Answer* answer) {
  std::string body = "<html>\n";
  for (int i = 0; request.target == "/" && i < 40; ++i) {
    fmt::format_to(std::back_inserter(body), "<a href=/{}>{}</a>\n", i, i);
  }
  set_html(std::move(body), answer);
}

void redirect_inside(const Request& request, Instant /*now*/, Answer* answer) {
  if (request.target == "/") {
    return set_html(
        "<a href=/1>1</a><a href=/2>2</a><a href=/3>3</a>"
        "<a href=http://192.168.0.1/admin>4</a><img src='http://[::ffff:10.0.0.1]/5'>"
        "<a href='http://0x0a000001/6'>6</a>",
        answer);
  }
  const std::string port(request.origin.port);
  if (request.target == "/1") return set_redirect(302, "http://10.0.0.1" + port + "/", answer);
  if (request.target == "/2") {
    return set_redirect(307, "http://169.254.169.254/latest/meta-data/", answer);
  }
  set_redirect(301, "http://[fe80::1]" + port + "/", answer);
}

// --- robots.txt.

void robots_huge(const Request& request, Instant /*now*/, Answer* answer) {
  if (request.target == "/") {
    return set_html("<a href=/early/1>1</a><a href=/late/1>2</a><a href=/open>3</a>", answer);
  }
  if (!is_robots(request)) return set_html("<p>a page", answer);
  static const std::string text = [] {
    std::string made = "User-agent: *\nDisallow: /early/\n";
    while (made.size() < kRobotsBytes) made += "# the same remark again and again and again\n";
    return made + "User-agent: *\nDisallow: /late/\n";
  }();
  set_robots(text, answer);
}

void robots_delay(const Request& request, Instant /*now*/, Answer* answer) {
  if (is_robots(request)) return set_robots("User-agent: *\nCrawl-delay: 86400\n", answer);
  set_html("<a href=/1>1</a>", answer);
}

void robots_error(const Request& request, Instant /*now*/, Answer* answer) {
  set_html("<a href=/1>1</a>", answer);
  if (is_robots(request)) answer->status = 500;
}

void robots_redirects(const Request& request, Instant /*now*/, Answer* answer) {
  if (is_robots(request)) return set_redirect(301, "/rules/1", answer);
  if (const auto hop = number_behind(request.target, "/rules/")) {
    if (*hop < kRobotsHops) {
      return set_redirect(302, fmt::format("/rules/{}", *hop + 1), answer);
    }
    return set_robots("User-agent: *\nDisallow: /private/\n", answer);
  }
  set_html("<a href=/private/1>1</a><a href=/open>2</a>", answer);
}

void robots_loop(const Request& request, Instant /*now*/, Answer* answer) {
  if (is_robots(request)) return set_redirect(302, "/robots.txt?again", answer);
  if (request.target.starts_with("/robots.txt")) return set_redirect(302, "/robots.txt", answer);
  set_html("<a href=/1>1</a>", answer);
}

void robots_broken(const Request& request, Instant /*now*/, Answer* answer) {
  if (!is_robots(request)) return set_html("<a href=/1>1</a>", answer);
  answer->script = std::make_shared<const WireScript>(WireScript{
      .steps = {{.bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                          "f\r\nUser-agent: *\r\n\r\nmore\r\nDisallow: /\r\n0\r\n\r\n"}}});
}

void retry_after(const Request& /*request*/, Instant /*now*/, Answer* answer) {
  answer->status = 503;
  answer->fields.push_back({"Retry-After", "315360000"});
  set_html("<p>come back in ten years", answer);
}

// --- Redirects.

void redirect_loop(const Request& request, Instant /*now*/, Answer* answer) {
  set_redirect(302, request.target == "/" ? "/there" : "/", answer);
}

void redirect_chain(const Request& request, Instant /*now*/, Answer* answer) {
  const std::uint64_t hop = number_behind(request.target, "/hop/").value_or(0);
  if (hop >= kChainHops) return set_html("<p>the end", answer);
  set_redirect(301, fmt::format("/hop/{}", hop + 1), answer);
}

void cookie_wall(const Request& request, Instant /*now*/, Answer* answer) {
  for (int i = 0; i < 60; ++i) {
    answer->fields.push_back({"Set-Cookie", fmt::format("c{}={}", i, std::string(2'000, 'c'))});
  }
  const std::uint64_t visit = number_behind(request.target, "/?visit=").value_or(0);
  set_redirect(302, fmt::format("/?visit={}", visit + 1), answer);
}

// --- Traps.

// The months since the year 0 in "/calendar/2026/11/".
std::optional<std::uint64_t> month_in(std::string_view target) {
  constexpr std::string_view kFront = "/calendar/";
  constexpr std::size_t kYearDigits = 4;
  if (!target.starts_with(kFront) || target.size() != kFront.size() + 8) return std::nullopt;
  const auto year = number_behind(target.substr(kFront.size(), kYearDigits), "");
  const auto month = number_behind(target.substr(kFront.size() + kYearDigits + 1, 2), "");
  if (!year || !month) return std::nullopt;
  return *year * 12 + *month - 1;
}

void calendar(const Request& request, Instant now, Answer* answer) {
  const std::chrono::sys_time<std::chrono::milliseconds> time(std::chrono::milliseconds(now.ms()));
  const std::chrono::year_month_day today(std::chrono::floor<std::chrono::days>(time));
  const auto this_month =
      static_cast<std::uint64_t>(int(today.year())) * 12 + unsigned(today.month()) - 1;
  const std::uint64_t month = month_in(request.target).value_or(this_month);
  const auto address = [](std::uint64_t at) {
    return fmt::format("/calendar/{:04}/{:02}/", at / 12, at % 12 + 1);
  };
  set_html(fmt::format("<a href={}>before</a> <a href={}>next</a>", address(month - 1),
                       address(month + 1)),
           answer);
}

void session_ids(const Request& request, Instant now, Answer* answer) {
  const std::string id = token_of(fmt::format("{}{}", request.target, now.ms()));
  set_html(fmt::format("<a href='/a?PHPSESSID={0}'>1</a><a href='/b;jsessionid={0}'>2</a>"
                       "<a href='/(S({1}))/c'>3</a><a href='/d?x=1&amp;sid={0}'>4</a>"
                       "<a href=/plain>5</a>",
                       id, id.substr(0, 24)),
           answer);
}

void repeated_segments(const Request& request, Instant /*now*/, Answer* answer) {
  if (request.target == "/") {
    return set_html("<a href=more/>deeper</a><a href=some/way/>further</a>", answer);
  }
  set_html(request.target.ends_with("/way/") ? "<a href=some/way/>further</a>"
                                             : "<a href=more/>deeper</a>",
           answer);
}

void deep_paths(const Request& request, Instant /*now*/, Answer* answer) {
  set_html(fmt::format("<a href={}/>deeper</a>", token_of(request.target).substr(0, 6)), answer);
}

void endless_pages(const Request& request, Instant /*now*/, Answer* answer) {
  const std::string id = token_of(request.target);
  set_html(
      fmt::format("<a href=/{}.html>1</a><a href=/{}.html>2</a>", id.substr(0, 8), id.substr(8, 8)),
      answer);
}

std::vector<Address> no_addresses(Address /*own*/, std::uint64_t /*count*/) { return {}; }

// The loopback, a private network, a link, and 10.0.0.1 as IPv6 maps and translates it.
constexpr auto kPrivateAddresses6 = std::to_array<std::string_view>(
    {"::1", "fd00::1", "fe80::1", "::ffff:10.0.0.1", "64:ff9b::a00:1"});

constexpr auto kHabits = std::to_array<HostileHabit>({
    {"private-address", "has a name that leads to private addresses alone", plain_page, false,
     HostileDoor::kOpen, CertificateFault::kNone, private_addresses},
    {"private-address6", "has a name that leads to private addresses of IPv6 alone", plain_page,
     false, HostileDoor::kOpen, CertificateFault::kNone, no_addresses, kPrivateAddresses6},
    {"metadata-address", "has a name that leads to 169.254.169.254", plain_page, false,
     HostileDoor::kOpen, CertificateFault::kNone, metadata_addresses},
    {"rebinding", "has a name that leads to itself and to a private address in turn",
     rebinding_pages, false, HostileDoor::kOpen, CertificateFault::kNone, changing_addresses},
    {"mixed-addresses", "has a name that leads to itself and to private addresses at once",
     plain_page, false, HostileDoor::kOpen, CertificateFault::kNone, mixed_addresses},
    {"redirect-inside", "redirects and links to private addresses, in all ways to write them",
     redirect_inside},
    {"robots-huge", "has a robots.txt of 20 MB", robots_huge, true},
    {"robots-delay", "asks for a day between two requests", robots_delay, true},
    {"robots-error", "answers 500 for robots.txt", robots_error, true},
    {"robots-redirects", "redirects robots.txt five times before it tells its rules",
     robots_redirects, true},
    {"robots-loop", "redirects robots.txt in a circle", robots_loop, true},
    {"robots-broken", "sends its robots.txt in chunks that cannot be read", robots_broken, true},
    {"retry-after", "asks to be left alone for ten years", retry_after},
    {"redirect-loop", "redirects in a circle", redirect_loop},
    {"redirect-chain", "redirects a thousand times in a row", redirect_chain},
    {"cookie-wall", "sets sixty cookies and redirects until it sees them again", cookie_wall},
    {"calendar", "has a page for every month, before and after it, without end", calendar},
    {"session-ids", "has new session ids in the links of every page", session_ids},
    {"repeated-segments", "has links that repeat parts of their path without end",
     repeated_segments},
    {"deep-paths", "has a link to a deeper folder on every page", deep_paths},
    {"endless-pages", "has two new pages on every page, without any pattern", endless_pages},
});

}  // namespace

std::span<const HostileHabit> hostile_place_habits() { return kHabits; }

}  // namespace meguri::sim
