#include "crawl/page_groups.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "flow/codec.h"
#include "web/url.h"
#include "web/url_template.h"

namespace meguri::crawl {

namespace {

// Those that speak for others take at most this share of what their host bears.
constexpr double kKeptShareMax = 0.5;

std::string key_of(std::uint64_t host, std::uint64_t group) {
  std::string key;
  flow::put_fixed(key, host);
  flow::put_fixed(key, group);
  return key;
}

std::uint64_t template_hash_of(std::string_view url) {
  const auto parsed = web::Url::parse(url);
  return parsed ? base::hash64(web::lexical_template(*parsed)) : 0;
}

}  // namespace

GroupFactors group_factors(double load, double kept_load, double factor) {
  if (!(factor > 1) || !(load > 0)) return {};
  const double bearable = load / factor;
  const double kept = std::clamp(kept_load, 0.0, load);
  GroupFactors factors;
  factors.kept = std::max(1.0, kept / (bearable * kKeptShareMax));
  const double left = bearable - kept / factors.kept;
  factors.rest = std::max(factors.kept, (load - kept) / left);
  return factors;
}

base::Result<std::unique_ptr<PageGroups>> PageGroups::open(env::FileSystem& files, std::string dir,
                                                           std::string_view state,
                                                           std::uint64_t kept,
                                                           std::uint32_t generation) {
  std::uint32_t written = 0;
  if (!state.empty() && !flow::take_fixed(state, written)) {
    return base::fail(base::ErrorCode::kCorrupt, "where the groups of pages stand is cut short");
  }
  // make_unique cannot call a private constructor.
  std::unique_ptr<PageGroups> groups(new PageGroups(kept, written == 0 ? generation : written));
  ASSIGN_OR_RETURN(groups->groups_, DurableMap::open(files, std::move(dir), state));
  groups->groups_->for_each([&](std::string_view key, std::string_view /*value*/) {
    const Group group = groups->find(key);
    std::uint64_t number = 0;
    flow::take_fixed(key, number);
    Host& host = groups->hosts_[number];
    ++host.templates;
    host.kept_load += group.load * groups->kept_share(group);
  });
  return groups;
}

std::string PageGroups::key_of(const GroupMember& page) const {
  std::string key = crawl::key_of(page.host, template_hash_of(page.url));
  if (groups_->find(key)) return key;
  const auto host = hosts_.find(page.host);
  const bool is_full = host != hosts_.end() && host->second.templates >= kTemplatesMax;
  return is_full ? crawl::key_of(page.host, 0) : key;
}

PageGroups::Group PageGroups::find(std::string_view key) const {
  Group group;
  std::string_view value = groups_->find(key).value_or(std::string_view());
  std::uint64_t load = 0;
  if (flow::take_fixed(value, group.pages) && flow::take_fixed(value, load)) {
    group.load = std::bit_cast<double>(load);
  }
  return group;
}

double PageGroups::kept_share(const Group& group) const {
  if (group.pages <= kept_) return 1;
  return static_cast<double>(kept_) / static_cast<double>(group.pages);
}

void PageGroups::put(std::uint64_t host, std::string_view key, const Group& before,
                     const Group& group) {
  Host& sums = hosts_[host];
  if (before.pages == 0) ++sums.templates;
  sums.kept_load += group.load * kept_share(group) - before.load * kept_share(before);
  std::string value;
  flow::put_fixed(value, group.pages);
  flow::put_fixed(value, std::bit_cast<std::uint64_t>(group.load));
  groups_->put(key, value);
}

void PageGroups::add(const GroupMember& page, double load) {
  const std::string key = key_of(page);
  const Group before = find(key);
  put(page.host, key, before, {before.pages + 1, before.load + load});
}

void PageGroups::change_load(const GroupMember& page, double change) {
  if (change == 0) return;
  const std::string key = key_of(page);
  const Group before = find(key);
  if (before.pages == 0) return;  // templates were others when it was counted
  put(page.host, key, before, {before.pages, std::max(0.0, before.load + change)});
}

double PageGroups::factor_of(const GroupMember& page, double load, double factor) const {
  const auto host = hosts_.find(page.host);
  if (host == hosts_.end()) return factor;
  const GroupFactors factors = group_factors(load, host->second.kept_load, factor);
  const double place = static_cast<double>(page.id.low) /
                       static_cast<double>(std::numeric_limits<std::uint64_t>::max());
  return place < kept_share(find(key_of(page))) ? factors.kept : factors.rest;
}

base::Result<std::string> PageGroups::commit(flow::EpochId epoch) {
  ASSIGN_OR_RETURN(const std::string state, groups_->commit(epoch));
  std::string out;
  flow::put_fixed(out, generation_);
  return out + state;
}

}  // namespace meguri::crawl
