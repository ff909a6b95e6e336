#include "crawl/host_pair.h"

#include <algorithm>
#include <bit>

#include "crawl/stored_payloads.h"
#include "flow/codec.h"
#include "web/similarity.h"

namespace meguri::crawl {

namespace {

constexpr std::uint8_t kVersion = 1;

// Pages that were seen so near to each other were seen at one time. Few change as fast; of others
// it is known when one of them was seen before and after, and was the same.
constexpr base::Duration kClose = base::Duration::minutes(10);
// A text of fewer words is not compared.
constexpr std::uint32_t kWordsMin = 50;

constexpr std::size_t kDiffersMax = 1;        // paths of hosts that may be one
constexpr std::size_t kSameForOneOther = 19;  // and how many must be the same then
constexpr int kChecksDifferMax = 2;           // of the last eight

bool have_same_text(const PageSample& a, const PageSample& b) {
  return a.sketch && b.sketch && std::min(a.sketch->words, b.sketch->words) >= kWordsMin &&
         !web::change_counts(*a.sketch, *b.sketch);
}

void put_instant(std::string& out, base::Instant instant) {
  flow::put_fixed(out, static_cast<std::uint64_t>(instant.ms()));
}

bool take_instant(std::string_view& bytes, base::Instant& instant) {
  std::uint64_t ms = 0;
  if (!flow::take_fixed(bytes, ms)) return false;
  instant = base::Instant::from_ms(static_cast<std::int64_t>(ms));
  return true;
}

}  // namespace

Likeness likeness_of(const PageSample& a, const PageSample& b) {
  if (!a.is_there && !b.is_there) return Likeness::kUnclear;
  if (a.is_there && b.is_there && (a.digest == b.digest || have_same_text(a, b))) {
    return Likeness::kSame;
  }
  const bool is_close = a.since <= b.until + kClose && b.since <= a.until + kClose;
  return is_close ? Likeness::kDiffers : Likeness::kUnclear;
}

std::optional<PageSample> sample_of(const Candidate& candidate, const Report& report,
                                    const fetch::Fetched& fetched) {
  if (candidate.is_embed()) return std::nullopt;
  PageSample sample;
  sample.since = report.date;
  sample.until = report.date;
  sample.depth = candidate.depth;
  if (report.outcome == VisitOutcome::kGone || report.outcome == VisitOutcome::kRedirected) {
    sample.is_there = false;
    return sample;
  }
  if (!report.version || fetched.truncation != fetch::Truncation::kNone) return std::nullopt;
  const PriorVersion& version = *report.version;
  const bool is_sent = report.status == 200 && fetched.body.size() >= StoredPayloads::kBodyBytesMin;
  if (!is_sent && !(report.status == 304 && version.sketch)) return std::nullopt;
  sample.digest = version.digest;
  sample.sketch = version.sketch;
  if (report.outcome == VisitOutcome::kChanged) {
    sample.twin = version.url;
  } else if (version.url.empty()) {
    sample.since = version.date;
  }
  return sample;
}

HostPair::Path* HostPair::find(std::uint64_t path) {
  const auto found = std::ranges::find(paths_, path, &Path::path);
  return found == paths_.end() ? nullptr : &*found;
}

std::size_t HostPair::count(Verdict verdict) const {
  return static_cast<std::size_t>(std::ranges::count(paths_, verdict, &Path::verdict));
}

std::size_t HostPair::contents() const {
  std::vector<archive::Digest> digests;
  for (const Path& path : paths_) {
    if (path.verdict == Verdict::kSame) digests.push_back(path.digest);
  }
  std::ranges::sort(digests);
  const auto repeated = std::ranges::unique(digests);
  return digests.size() - repeated.size();
}

// Of merged hosts only a page of the alias opens a path.
bool HostPair::has_room_for(std::size_t side) const {
  if (state_ == State::kMerged && side == kept_) return false;
  return paths_.size() < kPathsMax && count(Verdict::kOpen) < kOpenMax;
}

// Hosts that were parted are compared again when that is long ago.
bool HostPair::begins_again(base::Instant now) {
  if (state_ != State::kApart) return true;
  if (now < until_) return false;
  state_ = State::kCompared;
  return true;
}

void HostPair::learn(base::Instant now) {
  last_ = now;
  ++lessons_;
}

void HostPair::take_same(std::uint64_t path, const archive::Digest& digest, base::Instant now) {
  if (!begins_again(now) || state_ == State::kMerged) return;
  Path* known = find(path);
  if (known == nullptr) {
    if (paths_.size() == kPathsMax) return;
    known = &paths_.emplace_back();
    known->path = path;
    known->opened = now;
  }
  if (known->verdict == Verdict::kSame) return;
  known->verdict = Verdict::kSame;
  known->digest = digest;
  learn(now);
}

bool HostPair::take(std::size_t side, std::uint64_t path, const PageSample& sample,
                    base::Instant now) {
  if (!begins_again(now)) return false;
  Path* known = find(path);
  const bool is_new = known == nullptr;
  if (is_new) {
    // Any visit to an alias is a check; what is nowhere opens no path else.
    if (!sample.is_there && state_ != State::kMerged) return false;
    if (!has_room_for(side)) return false;
    known = &paths_.emplace_back();
    known->path = path;
    known->opened = now;
  }
  if (known->verdict == Verdict::kSame) return false;
  learn(now);
  known->sides[side] = sample;
  known->sides[side]->twin.clear();
  if (known->sides[1 - side]) compare(*known, now);
  return is_new;
}

// What is unclear stays open; a page that is nowhere says nothing.
void HostPair::compare(Path& path, base::Instant now) {
  const PageSample& a = *path.sides[0];
  const PageSample& b = *path.sides[1];
  const Likeness likeness = likeness_of(a, b);
  const bool is_nowhere = !a.is_there && !b.is_there;
  if (likeness != Likeness::kUnclear) {
    path.verdict = likeness == Likeness::kSame ? Verdict::kSame : Verdict::kDiffers;
    path.digest = a.digest;
  }
  const bool is_check = state_ == State::kMerged && likeness != Likeness::kUnclear;
  if (is_check) {
    const bool is_other = likeness == Likeness::kDiffers;
    checks_ =
        static_cast<std::uint8_t>(static_cast<unsigned>(checks_) << 1U | (is_other ? 1U : 0U));
    if (is_other) next_check_ = now;  // the sooner it is known the better
  }
  if (is_nowhere || is_check) paths_.erase(paths_.begin() + (&path - paths_.data()));
}

bool HostPair::agrees(std::size_t needed, base::Instant now) {
  std::erase_if(paths_, [now](const Path& path) {
    return path.verdict == Verdict::kOpen && path.opened + kOpenTime < now;
  });
  if (state_ != State::kCompared || count(Verdict::kOpen) > 0 || differs()) return false;
  const std::size_t least = count(Verdict::kDiffers) == 0 ? needed : kSameForOneOther;
  return contents() >= std::max(needed, least);
}

bool HostPair::differs() const {
  if (state_ == State::kMerged) return std::popcount(checks_) > kChecksDifferMax;
  return state_ == State::kCompared && count(Verdict::kDiffers) > kDiffersMax;
}

void HostPair::merge(std::size_t kept, base::Instant next_check) {
  state_ = State::kMerged;
  kept_ = static_cast<std::uint8_t>(kept);
  paths_.clear();
  checks_ = 0;
  check_until_ = {};
  next_check_ = next_check;
  ++lessons_;
}

void HostPair::part(base::Instant until) {
  state_ = State::kApart;
  paths_.clear();
  until_ = until;
  ++lessons_;
}

// The visit may have to wait for robots.txt, and then asks again.
bool HostPair::may_check(std::uint64_t path, base::Instant now, base::Duration every) {
  if (path == check_ && now < check_until_) return true;
  if (now < next_check_) return false;
  check_ = path;
  check_until_ = now + kCheckTime;
  next_check_ = now + every;
  ++lessons_;
  return true;
}

bool HostPair::is_idle(base::Instant now) const {
  switch (state_) {
    case State::kCompared: return last_ + kOpenTime < now;
    case State::kMerged: return false;
    case State::kApart: return until_ < now;
  }
  return false;
}

std::string HostPair::encode() const {
  std::string out;
  flow::put_fixed(out, kVersion);
  flow::put_fixed(out, static_cast<std::uint8_t>(state_));
  flow::put_fixed(out, kept_);
  flow::put_fixed(out, checks_);
  flow::put_fixed(out, check_);
  for (const base::Instant time : {last_, until_, next_check_, check_until_}) {
    put_instant(out, time);
  }
  for (const Path& path : paths_) {
    flow::put_fixed(out, path.path);
    flow::put_fixed(out, static_cast<std::uint8_t>(path.verdict));
    put_instant(out, path.opened);
    for (const std::uint8_t byte : path.digest.bytes) flow::put_fixed(out, byte);
  }
  return out;
}

bool HostPair::decode(std::string_view bytes) {
  std::uint8_t version = 0;
  std::uint8_t state = 0;
  const bool whole = flow::take_fixed(bytes, version) && version == kVersion &&
                     flow::take_fixed(bytes, state) && flow::take_fixed(bytes, kept_) &&
                     flow::take_fixed(bytes, checks_) && flow::take_fixed(bytes, check_) &&
                     take_instant(bytes, last_) && take_instant(bytes, until_) &&
                     take_instant(bytes, next_check_) && take_instant(bytes, check_until_);
  if (!whole || state > static_cast<std::uint8_t>(State::kApart) || kept_ > 1) return false;
  state_ = static_cast<State>(state);
  paths_.clear();
  while (!bytes.empty()) {
    Path path;
    std::uint8_t verdict = 0;
    if (paths_.size() == kPathsMax || !flow::take_fixed(bytes, path.path) ||
        !flow::take_fixed(bytes, verdict) ||
        verdict > static_cast<std::uint8_t>(Verdict::kDiffers) ||
        !take_instant(bytes, path.opened)) {
      return false;
    }
    for (std::uint8_t& byte : path.digest.bytes) {
      if (!flow::take_fixed(bytes, byte)) return false;
    }
    path.verdict = static_cast<Verdict>(verdict);
    paths_.push_back(path);
  }
  return true;
}

}  // namespace meguri::crawl
