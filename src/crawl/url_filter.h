// UrlFilter: lets pass what belongs to the crawl, and counts the rest by its reason.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "crawl/control_messages.h"
#include "crawl/messages.h"
#include "crawl/options.h"
#include "crawl/url_rules.h"
#include "flow/module.h"

namespace meguri::crawl {

// Since the start of this process. Written by the filter's thread, read by any.
struct UrlFilterCounts {
  std::atomic<std::uint64_t> accepted{0};
  std::array<std::atomic<std::uint64_t>, kUrlReasons> refused{};  // by UrlReason
};

// Keeps nothing but its rules, so any number of instances share the work; but a seed that is added
// while the crawl runs widens the scope only of the instance that it passes. A pattern that cannot
// be used stops the crawl at its start; UrlRules::make() tells so before.
class UrlFilter final : public flow::Module {
 public:
  UrlFilter(ScopeOptions options, std::vector<std::string> seeds);

  flow::In<Candidate> candidates = in<&UrlFilter::on_candidate>("candidates");
  flow::In<FilterQuestion> questions = in<&UrlFilter::on_question>("questions");
  flow::Out<Candidate> accepted = out<Candidate>("accepted");
  flow::Out<FilterAnswer> answers = out<FilterAnswer>("answers");

  // Any thread, while the module lives.
  const UrlFilterCounts& counts() const { return counts_; }

 private:
  void on_candidate(Candidate&& item);
  void on_question(FilterQuestion&& question);
  base::Status start() override;

  const ScopeOptions options_;
  const std::vector<std::string> seeds_;
  std::optional<UrlRules> rules_;
  UrlFilterCounts counts_;
};

}  // namespace meguri::crawl
