#include "bench/sat_plan.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>

#include "base/text.h"
#include "sat/record.h"

namespace meguri::bench {
namespace {

constexpr std::uint32_t kQuickRecords = 500'000;
constexpr std::uint32_t kGrowthRecords = 100'000'000;
constexpr std::uint32_t kDailySteps = 5;
constexpr std::uint64_t kPageBytesMax = std::uint64_t{1} << 24U;

const std::vector<std::string>& store_names() {
  static const std::vector<std::string> names = {
      "sat", "basic",  "sat-files", "naive",   "naive-in-turn",
      "bdb", "bdb-ro", "lmdb",      "rocksdb", "rocksdb-due"};
  return names;
}

base::Result<std::uint64_t> parse_number(std::string_view text, std::uint64_t max) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number == 0) {
    return base::fail(base::ErrorCode::kInvalid, "{} is no number", base::quoted(text));
  }
  if (number > max) {
    return base::fail(base::ErrorCode::kInvalid, "{} is more than {}", number, max);
  }
  return number;
}

base::Result<SatUnit> parse_unit(const std::string& text) {
  static const std::map<std::string, SatUnit> units = {{"", SatUnit::kHour},
                                                       {"hour", SatUnit::kHour},
                                                       {"day", SatUnit::kDay},
                                                       {"minute", SatUnit::kMinute},
                                                       {"mixed", SatUnit::kMixed}};
  const auto found = units.find(text);
  if (found != units.end()) return found->second;
  return base::fail(base::ErrorCode::kInvalid, "{} is no unit: hour, day, minute or mixed",
                    base::quoted(text));
}

base::Result<std::vector<std::string>> parse_stores(const std::string& text) {
  if (text.empty()) return store_names();
  std::vector<std::string> stores;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    stores.push_back(text.substr(at, comma - at));
    if (!make_sat_store(stores.back(), {})) {
      return base::fail(base::ErrorCode::kInvalid, "there is no store {}",
                        base::quoted(stores.back()));
    }
    at = comma + 1;
  }
  return stores;
}

}  // namespace

SatSetting SatPlan::setting(const std::string& dir, const std::string& store) const {
  SatSetting setting;
  setting.dir = dir + "/" + store;
  setting.memory_bytes = memory_bytes;
  setting.pool_bytes = pool_bytes;
  if (!is_sat_peer(store)) setting.page_bytes = page_bytes;
  return setting;
}

base::Result<SatPlan> make_sat_plan(const Options& options) {
  const SatOptions& given = options.sat;
  SatPlan plan;
  ASSIGN_OR_RETURN(plan.unit, parse_unit(given.unit));
  if (plan.unit == SatUnit::kDay) plan.steps = kDailySteps;
  if (options.quick) {
    plan.records = kQuickRecords;
    // As much less, but for what a process needs anyway.
    plan.memory_bytes = std::uint64_t{48} << 20U;
    plan.pool_bytes = std::uint64_t{4} << 20U;
  }
  if (given.growth && !options.quick) plan.records = kGrowthRecords;
  if (!given.records.empty()) {
    ASSIGN_OR_RETURN(const std::uint64_t records,
                     parse_number(given.records, std::numeric_limits<std::int32_t>::max()));
    plan.records = static_cast<std::uint32_t>(records);
  }
  if (!given.fixed.empty()) {
    ASSIGN_OR_RETURN(plan.fixed_bytes, parse_number(given.fixed, sat::kBodyBytesMax / 2));
  }
  if (!given.memory.empty()) {
    ASSIGN_OR_RETURN(plan.memory_bytes, parse_size(given.memory));
  }
  if (!given.pool.empty()) {
    ASSIGN_OR_RETURN(plan.pool_bytes, parse_size(given.pool));
  }
  if (!given.page.empty()) {
    ASSIGN_OR_RETURN(plan.page_bytes, parse_size(given.page));
  }
  ASSIGN_OR_RETURN(plan.stores, parse_stores(given.stores));
  if (plan.fixed_bytes < sizeof(SatCounters)) {
    return base::fail(base::ErrorCode::kInvalid, "the fixed part has at least {} bytes",
                      sizeof(SatCounters));
  }
  if (plan.page_bytes > 0 &&
      (plan.page_bytes < sat::kHeaderBytesMax || plan.page_bytes > kPageBytesMax)) {
    return base::fail(base::ErrorCode::kInvalid, "a page has {} to {} bytes", sat::kHeaderBytesMax,
                      kPageBytesMax);
  }
  return plan;
}

bool is_sat_peer(std::string_view store) {
  static constexpr std::string_view kPeers[] = {"bdb", "bdb-ro", "lmdb", "rocksdb", "rocksdb-due"};
  return std::ranges::find(kPeers, store) != std::end(kPeers);
}

base::Result<std::uint64_t> parse_size(std::string_view text) {
  unsigned shift = 0;
  if (text.ends_with('K')) shift = 10;
  if (text.ends_with('M')) shift = 20;
  if (text.ends_with('G')) shift = 30;
  if (shift > 0) text.remove_suffix(1);
  ASSIGN_OR_RETURN(const std::uint64_t number,
                   parse_number(text, std::numeric_limits<std::uint64_t>::max() >> shift));
  return number << shift;
}

}  // namespace meguri::bench
