// UrlFilter: lets pass what belongs to the crawl, and counts the rest by its reason.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "crawl/control_messages.h"
#include "crawl/durable_map.h"
#include "crawl/exclusion_file.h"
#include "crawl/messages.h"
#include "crawl/options.h"
#include "crawl/url_rules.h"
#include "flow/module.h"

namespace meguri::crawl {

// Since the start of this process. Written by the filter's thread, read by any.
struct UrlFilterCounts {
  std::atomic<std::uint64_t> accepted{0};
  std::atomic<std::uint64_t> renamed{0};                          // of these, from an alias
  std::array<std::atomic<std::uint64_t>, kUrlReasons> refused{};  // by UrlReason
};

// A pattern or an exclusion list that cannot be used stops the crawl at its start; UrlRules::make()
// and ExclusionFile::open() tell so before.
//
// Every seed that passes, and every target of a seed's redirects, widens the scope for what comes
// behind it; what was refused before is not looked for. These places are durable: with epoch n, all
// that the candidates before its marker have added. What one instance learned the others would have
// to know at once, so that there is one instance only.
//
// A candidate on an alias becomes that of the host which is kept for it, where that one belongs to
// the crawl. Seeds stay as they were given.
class UrlFilter final : public flow::Module {
 public:
  // `exclusions` may be null.
  UrlFilter(ScopeOptions options, std::vector<std::string> seeds,
            std::shared_ptr<ExclusionFile> exclusions = nullptr);

  flow::In<Candidate> candidates = in<&UrlFilter::on_candidate>("candidates");
  flow::In<AliasChange> aliases = in<&UrlFilter::on_alias>("aliases");
  flow::In<FilterQuestion> questions = in<&UrlFilter::on_question>("questions");
  flow::Out<Candidate> accepted = out<Candidate>("accepted");
  flow::Out<FilterAnswer> answers = out<FilterAnswer>("answers");

  // Any thread, while the module lives.
  const UrlFilterCounts& counts() const { return counts_; }

 private:
  void on_candidate(Candidate&& item);
  void on_alias(AliasChange&& change);
  void on_question(FilterQuestion&& question);
  base::Status start() override;
  base::Result<std::string> commit(flow::EpochId epoch) override;
  void on_durable(flow::EpochId epoch) override;
  base::Status restore(flow::EpochId epoch, std::string_view state) override;

  std::optional<UrlReason> check(Candidate& item) const;
  void widen(const Candidate& item);
  std::optional<Candidate> on_kept_host(const Candidate& item) const;

  const ScopeOptions options_;
  const std::vector<std::string> seeds_;
  const std::shared_ptr<ExclusionFile> exclusions_;
  std::optional<UrlRules> rules_;
  std::string restored_;  // what the map is opened with
  // UrlRules::place_of() what widened the scope; and aliases, whose keys begin as no URL does.
  std::unique_ptr<DurableMap> places_;
  std::unordered_map<std::string, std::string> aliases_;  // to the hosts whose pages they have
  UrlFilterCounts counts_;
};

}  // namespace meguri::crawl
