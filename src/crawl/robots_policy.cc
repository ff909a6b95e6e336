#include "crawl/robots_policy.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "flow/codec.h"

namespace meguri::crawl {

namespace {

constexpr base::Duration kFirstWait = base::Duration::seconds(30);
constexpr base::Duration kLateWait = base::Duration::minutes(10);
constexpr base::Duration kWaitMax = base::Duration::days(1);
constexpr std::int64_t kGrowth = 4;

void put_time(std::string& out, base::Instant time) {
  flow::put_fixed(out, static_cast<std::uint64_t>(time.ms()));
}

bool take_time(std::string_view& bytes, base::Instant& time) {
  std::uint64_t ms = 0;
  if (!flow::take_fixed(bytes, ms)) return false;
  time = base::Instant::from_ms(static_cast<std::int64_t>(ms));
  return true;
}

}  // namespace

base::Duration robots_wait(std::uint32_t failures) {
  const bool is_late = failures >= kRobotsTriesMax;
  base::Duration wait = is_late ? kLateWait : kFirstWait;
  for (std::uint32_t i = is_late ? kRobotsTriesMax : 1; i < failures && wait < kWaitMax; ++i) {
    wait = wait * kGrowth;
  }
  return std::min(wait, kWaitMax);
}

RobotsStep robots_step(const RobotsRecord& record, base::Instant now, base::Duration age_max) {
  if (record.failures == 0) {
    const bool holds = record.is_known && now >= record.fetched && now - record.fetched <= age_max;
    return holds ? RobotsStep::kUse : RobotsStep::kAsk;
  }
  const bool is_due = now < record.failed || now - record.failed >= robots_wait(record.failures);
  if (is_due) return RobotsStep::kAsk;
  return record.failures < kRobotsTriesMax ? RobotsStep::kWait : RobotsStep::kRefuse;
}

void take_robots(RobotsRecord& record, int status, std::string_view text, std::string_view agent,
                 base::Instant now, web::RobotsScope scope) {
  web::RobotsPolicy policy = web::robots_for_status(status);
  // We ask without conditions, so that a 304 says nothing unless we hold something.
  if (policy == web::RobotsPolicy::kKeep && !record.is_known) {
    policy = web::RobotsPolicy::kDisallowAll;
  }
  if (policy == web::RobotsPolicy::kDisallowAll) {
    if (record.failing_since == base::Instant()) record.failing_since = now;
    if (now - record.failing_since < kRobotsGivenUpAfter) {
      ++record.failures;
      record.failed = now;
      return;
    }
    record.rules = web::Robots::allow_all();
  } else {
    record.failing_since = {};
    if (policy == web::RobotsPolicy::kParse) record.rules = web::Robots::parse(text, agent, scope);
    if (policy == web::RobotsPolicy::kAllowAll) record.rules = web::Robots::allow_all();
  }
  record.is_known = true;
  record.failures = 0;
  record.fetched = now;
}

std::string encode_robots(const RobotsRecord& record, std::string_view agent) {
  std::string out;
  flow::put_fixed(out, base::hash64(agent));
  flow::put_fixed(out, static_cast<std::uint8_t>(record.is_known));
  put_time(out, record.fetched);
  flow::put_fixed(out, record.failures);
  put_time(out, record.failed);
  put_time(out, record.failing_since);
  flow::put_text(out, record.rules.blob());
  return out;
}

bool decode_robots(std::string_view bytes, std::string_view agent, RobotsRecord& record) {
  std::uint64_t agent_hash = 0;
  std::uint8_t is_known = 0;
  std::string_view blob;
  if (!flow::take_fixed(bytes, agent_hash) || !flow::take_fixed(bytes, is_known) ||
      !take_time(bytes, record.fetched) || !flow::take_fixed(bytes, record.failures) ||
      !take_time(bytes, record.failed) || !take_time(bytes, record.failing_since) ||
      !flow::take_text(bytes, blob) || !bytes.empty()) {
    return false;
  }
  record.is_known = is_known != 0 && agent_hash == base::hash64(agent);
  if (!record.is_known || blob.empty()) return true;
  std::optional<web::Robots> rules = web::Robots::from_blob(std::string(blob));
  if (!rules) return false;
  record.rules = *std::move(rules);
  return true;
}

}  // namespace meguri::crawl
