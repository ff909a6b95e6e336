// CrawlJudgement: whether a crawl of a virtual web was complete and polite, by the truth, by the
// servers' own log, and by what is in the archive.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/archive_contents.h"
#include "base/time.h"
#include "sim/access_log.h"
#include "sim/checker.h"
#include "sim/leads.h"
#include "sim/world.h"

namespace meguri::app {

// All that a polite crawler reaches from `seed` at `at`: pages, redirects, images, styles, scripts
// and dead links, as URLs.
std::vector<sim::Reached> truth_of(const sim::World& world, const std::string& seed,
                                   base::Instant at);
std::string url_of(const sim::Reached& one, std::string_view port);  // `port` as ":8080"

struct CrawlJudgement {
  // The archive against the truth.
  std::size_t expected = 0;
  std::vector<std::string> missing;  // expected, and not in the archive
  std::vector<std::string> twice;    // answered more than once in it
  std::size_t unfollowed = 0;        // leads of the answers that nobody followed

  // The servers' log.
  sim::CheckReport politeness;
  std::size_t requests = 0;
  std::size_t hosts = 0;        // that were asked
  std::size_t asked_again = 0;  // requests for what had been answered before
  base::Duration least_gap;     // from an answer of a host to the next request to it
  base::Duration span;          // from the first request to the last, by the web's clock

  bool is_complete() const { return missing.empty() && twice.empty() && unfollowed == 0; }
  bool is_polite() const { return politeness.total() == 0; }
};

struct JudgedCrawl {
  const sim::World& world;
  std::string seed;  // URL
  std::string port;  // ":8080"
  std::span<const sim::Access> log;
  std::span<const sim::Reached> truth;
  const ArchiveContents& archive;
};

// Adverts show images by chance, so that an image must be there only where a kept page names it.
CrawlJudgement judge(const JudgedCrawl& crawl);

}  // namespace meguri::app
