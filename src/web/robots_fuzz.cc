// The first line is a path, the rest a robots.txt. The compiled rules must answer like the plain
// matcher, live through their bytes, and any bytes must be refused or safe to ask.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "web/robots.h"
#include "web/robots_parser.h"
#include "web/robots_path.h"
#include "web/robots_testing.h"

namespace {

using namespace meguri::web;

void check_file(std::string_view path, std::string_view file, RobotsScope scope) {
  const Robots robots = Robots::parse(file, "meguri", scope);
  const RobotsVerdict verdict = robots.check(path);
  CHECK(verdict.allowed || !verdict.gave_up || verdict.line == 0);
  const auto copy = Robots::from_blob(robots.blob());
  CHECK(copy && copy->blob() == robots.blob() && copy->flags() == robots.flags());
  CHECK(copy->crawl_delay() == robots.crawl_delay());
  const RobotsVerdict again = copy->check(path);
  CHECK(again.allowed == verdict.allowed && again.line == verdict.line);
  CHECK(again.rule == verdict.rule);
  CHECK(robots.check("/robots.txt").allowed);
  CHECK(robots.sitemaps().size() <= kRobotsSitemapsMax);
}

void check_against_plain_matcher(std::string_view path, std::string_view file) {
  const RobotsFile rules = parse_robots_file(file, "meguri", RobotsScope::kOwnGroup);
  if (file.size() * path.size() > 10'000) return;  // the plain matcher is slow
  std::string storage;
  const std::string_view comparable = comparable_path(path, &storage);
  const auto expected = plain_match(rules.own, comparable);
  const std::string blob = compile_robots_rules(rules.own);
  const auto view = RobotsRulesView::open(blob);
  CHECK(view.has_value());
  const auto found = view->match(comparable);
  CHECK(found.has_value() == expected.has_value());
  if (found) CHECK(found->allow == expected->allow && found->pattern.size() == expected->length);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view path = text.substr(0, text.find('\n'));
  const std::string_view file = text.substr(path.size());
  if (path.size() < 2000) check_against_plain_matcher(path, file);
  check_file(path, file, RobotsScope::kOwnGroup);
  check_file(path, file, RobotsScope::kAnyAgent);
  if (const auto robots = Robots::from_blob(std::string(file.substr(file.empty() ? 0 : 1)))) {
    static_cast<void>(robots->check(path));
  }
  CHECK(Robots::parse("", path).check(path).allowed);
  return 0;
}
