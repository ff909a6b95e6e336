#include "web/robots.h"

#include <array>

#include "base/check.h"
#include "web/robots_parser.h"
#include "web/robots_path.h"

namespace meguri::web {
namespace {

// A blob is empty, or: version, flags, crawl-delay in milliseconds and one (0: none; u32), bytes of
// our own rules and of the others' (u32 each), our rules, the others' rules. Little-endian.
constexpr char kVersion = 1;
constexpr std::size_t kHeaderBytes = 14;

constexpr std::array kFlagBits = {&RobotsFlags::own_group,     &RobotsFlags::star_group,
                                  &RobotsFlags::markup,        &RobotsFlags::bytes_cut,
                                  &RobotsFlags::rules_ignored, &RobotsFlags::rule_cut};

void append_u32(std::size_t value, std::string* out) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    out->push_back(static_cast<char>((value >> shift) & 0xFFU));
  }
}

std::size_t u32_at(std::string_view bytes, std::size_t i) {
  std::size_t value = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    value |= std::size_t{static_cast<unsigned char>(bytes[i + k])} << (8 * k);
  }
  return value;
}

std::string blob_of(const RobotsFile& file) {
  unsigned bits = 0;
  for (std::size_t i = 0; i < kFlagBits.size(); ++i) {
    if (file.flags.*kFlagBits[i]) bits |= 1U << i;
  }
  std::string blob;
  blob.push_back(kVersion);
  blob.push_back(static_cast<char>(bits));
  append_u32(file.crawl_delay ? static_cast<std::size_t>(file.crawl_delay->ms()) + 1 : 0, &blob);
  const std::string own = compile_robots_rules(file.own);
  const std::string others = compile_robots_rules(file.others);
  append_u32(own.size(), &blob);
  append_u32(others.size(), &blob);
  blob.append(own).append(others);
  blob.shrink_to_fit();
  return blob;
}

}  // namespace

RobotsPolicy robots_for_status(int status) {
  if (status == 304) return RobotsPolicy::kKeep;
  if (status == 429) return RobotsPolicy::kDisallowAll;
  if (status >= 200 && status < 300) return RobotsPolicy::kParse;
  if (status >= 300 && status < 500) return RobotsPolicy::kAllowAll;
  return RobotsPolicy::kDisallowAll;
}

bool RobotsView::split(std::string_view blob, std::string_view* own, std::string_view* others) {
  if (blob.size() < kHeaderBytes || blob[0] != kVersion) return false;
  const std::size_t own_bytes = u32_at(blob, 6);
  const std::size_t others_bytes = u32_at(blob, 10);
  blob.remove_prefix(kHeaderBytes);
  if (own_bytes + others_bytes != blob.size()) return false;
  *own = blob.substr(0, own_bytes);
  *others = blob.substr(own_bytes);
  return true;
}

std::optional<RobotsView> RobotsView::open(std::string_view blob) {
  RobotsView view;
  if (blob.empty()) return view;
  std::string_view own;
  std::string_view others;
  if (!split(blob, &own, &others)) return std::nullopt;
  const auto own_rules = RobotsRulesView::open(own);
  const auto other_rules = RobotsRulesView::open(others);
  if (!own_rules || !other_rules) return std::nullopt;
  view.header_ = blob.substr(0, kHeaderBytes);
  view.own_ = *own_rules;
  view.others_ = *other_rules;
  return view;
}

std::optional<base::Duration> RobotsView::crawl_delay() const {
  const std::size_t delay = header_.empty() ? 0 : u32_at(header_, 2);
  if (delay == 0) return std::nullopt;
  return base::Duration::from_ms(static_cast<std::int64_t>(delay) - 1);
}

RobotsFlags RobotsView::flags() const {
  RobotsFlags flags;
  const unsigned bits = header_.empty() ? 0U : static_cast<unsigned char>(header_[1]);
  for (std::size_t i = 0; i < kFlagBits.size(); ++i) {
    flags.*kFlagBits[i] = ((bits >> i) & 1U) != 0;
  }
  return flags;
}

RobotsVerdict RobotsView::check(std::string_view path_and_query) const {
  if (path_and_query == "/robots.txt") return {};
  std::string storage;
  const std::string_view path = comparable_path(path_and_query, &storage);
  const auto verdict_of = [](const RobotsRulesView::Match& match) {
    if (match.gave_up) return RobotsVerdict{.allowed = false, .gave_up = true};
    return RobotsVerdict{.allowed = match.allow, .line = match.line, .rule = match.pattern};
  };
  const auto own = own_.match(path);
  if (own && !own->allow) return verdict_of(*own);
  if (const auto other = others_.match(path)) return verdict_of(*other);
  return own ? verdict_of(*own) : RobotsVerdict{};
}

Robots Robots::parse(std::string_view bytes, std::string_view agent, RobotsScope scope) {
  RobotsFile file = parse_robots_file(bytes, agent, scope);
  Robots robots(blob_of(file));
  robots.sitemaps_ = std::move(file.sitemaps);
  return robots;
}

Robots Robots::disallow_all() {
  RobotsFile file;
  file.own.push_back({.pattern = "/"});
  return Robots(blob_of(file));
}

std::optional<Robots> Robots::from_blob(std::string blob) {
  if (!RobotsView::open(blob)) return std::nullopt;
  return Robots(std::move(blob));
}

RobotsView Robots::view() const {
  RobotsView view;
  if (blob_.empty()) return view;
  std::string_view own;
  std::string_view others;
  CHECK(RobotsView::split(blob_, &own, &others), "our own bytes are not read");
  view.header_ = std::string_view(blob_).substr(0, kHeaderBytes);
  view.own_ = RobotsRulesView::open_checked(own);
  view.others_ = RobotsRulesView::open_checked(others);
  return view;
}

}  // namespace meguri::web
