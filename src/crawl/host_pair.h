// HostPair: two hosts that may be one, and what was seen of both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/sha1.h"
#include "base/time.h"
#include "crawl/messages.h"

namespace meguri::crawl {

// Whether a page of one host, and that of the same path and query of another, are the same.
enum class Likeness : std::uint8_t {
  kSame,     // by their bytes, or by their main text where both have one
  kDiffers,  // at a time when both were known
  kUnclear,  // neither: one may have changed since the other was seen, or none is there
};
Likeness likeness_of(const PageSample& a, const PageSample& b);

// What a visit to a page is as evidence; nullopt: none. Embeds are none, because sites that have
// nothing else in common share scripts and styles; nor is what is small, cut, or an error.
std::optional<PageSample> sample_of(const Candidate& candidate, const Report& report,
                                    const fetch::Fetched& fetched);

// While two hosts are compared: a path is open when the page of one host was seen there, until that
// of the other was too. Few paths are open at a time, and hosts agree only when none is: pages that
// are the same are soon found, but that one host lacks the other's pages is known only by asking
// for them. They agree when enough paths do, with a different content each, and of 20 at most one
// does not; they differ when two paths do.
//
// While they are merged: a page of the alias is visited now and then, and the pair held against
// each other in the same way. They differ when three of the last eight such pages did.
//
// What was seen at an open path is not durable, only that it is open. Thread-compatible.
class HostPair {
 public:
  enum class State : std::uint8_t { kCompared, kMerged, kApart };

  static constexpr std::size_t kPathsMax = 32;
  static constexpr std::size_t kOpenMax = 4;                             // of these
  static constexpr base::Duration kOpenTime = base::Duration::days(30);  // then it is given up
  static constexpr base::Duration kCheckTime = base::Duration::days(1);  // for one visit to check

  HostPair() = default;
  HostPair(std::string_view a, std::string_view b) : names_{std::string(a), std::string(b)} {}

  const std::string& name(std::size_t side) const { return names_[side]; }
  std::size_t side_of(std::string_view host) const { return host == names_[0] ? 0 : 1; }
  State state() const { return state_; }
  // When merged.
  const std::string& kept() const { return names_[kept_]; }
  const std::string& alias() const { return names_[1 - kept_]; }

  // A page of one of the hosts was seen at a path, which is a hash. True: the page of the other
  // should be visited.
  bool take(std::size_t side, std::uint64_t path, const PageSample& sample, base::Instant now);
  // A page was seen at one host that is the same as that of the other was, a while ago.
  void take_same(std::uint64_t path, const archive::Digest& digest, base::Instant now);
  // Grows whenever something was learnt.
  std::uint64_t lessons() const { return lessons_; }

  // Whether `needed` paths agree, and nothing speaks against it.
  bool agrees(std::size_t needed, base::Instant now);
  bool differs() const;

  void merge(std::size_t kept, base::Instant next_check);
  void part(base::Instant until);  // not compared before
  // Whether a page of the alias is visited to check; one is, once the time has come.
  bool may_check(std::uint64_t path, base::Instant now, base::Duration every);
  // Nothing has come of it for long.
  bool is_idle(base::Instant now) const;

  std::string encode() const;  // all but the names
  bool decode(std::string_view bytes);

 private:
  enum class Verdict : std::uint8_t { kOpen, kSame, kDiffers };
  struct Path {
    std::uint64_t path = 0;
    Verdict verdict = Verdict::kOpen;
    archive::Digest digest = {};  // of a page that is the same
    base::Instant opened = {};
    std::array<std::optional<PageSample>, 2> sides = {};
  };

  Path* find(std::uint64_t path);
  bool begins_again(base::Instant now);
  void learn(base::Instant now);
  bool has_room_for(std::size_t side) const;
  std::size_t count(Verdict verdict) const;
  std::size_t contents() const;  // different ones, of pages that are the same
  void compare(Path& path, base::Instant now);

  std::array<std::string, 2> names_;
  State state_ = State::kCompared;
  std::uint8_t kept_ = 0;
  std::vector<Path> paths_;
  std::uint64_t lessons_ = 0;
  base::Instant last_;   // of these
  base::Instant until_;  // of kApart
  base::Instant next_check_;
  std::uint64_t check_ = 0;  // the path that is visited to check, until:
  base::Instant check_until_;
  std::uint8_t checks_ = 0;  // the last eight, the newest lowest; 1: it differed
};

}  // namespace meguri::crawl
