// Seeder: brings into the crawl what it begins with: pages with a history, and the seeds, each
// once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "crawl/control_messages.h"
#include "crawl/durable_map.h"
#include "crawl/history_store.h"
#include "crawl/messages.h"
#include "crawl/options.h"
#include "crawl/page_history.h"
#include "crawl/revisit_plan.h"
#include "flow/module.h"

namespace meguri::crawl {

// Brings the seeds it was made with, and those that come while the crawl runs. Remembers the seeds
// it has emitted by their page ids, so that after a restart only those that are new, or came after
// the last durable epoch, are emitted. Texts that are no URLs are said and counted. A single
// instance.
//
// Pages with a history come before the seeds, so that no link finds them first; how far it has come
// with them is durable too. When all are in the crawl, the history is discarded. A seed with a
// history comes as both.
class Seeder final : public flow::Module {
 public:
  // `history` may be null.
  explicit Seeder(const CrawlOptions& options, std::shared_ptr<HistoryStore> history = nullptr);

  flow::In<SeedQuestion> added = in<&Seeder::on_added>("added");
  flow::Out<Candidate> candidates = out<Candidate>("candidates");
  flow::Out<SeedAnswer> answers = out<SeedAnswer>("answers");

  // Since the start of this process. Any thread, while the module lives.
  std::uint64_t emitted() const { return emitted_; }  // seeds
  std::uint64_t invalid() const { return invalid_; }
  std::uint64_t from_history() const { return from_history_; }  // pages

 private:
  static constexpr int kEmitAtOnce = 256;
  enum class Fate : std::uint8_t { kNew, kKnown, kInvalid };

  struct IdHash {
    std::size_t operator()(const base::Id& id) const { return id.low; }
  };
  using Ids = std::unordered_set<base::Id, IdHash>;

  void on_added(SeedQuestion&& question);
  bool produce() override;
  bool idle() const override { return draining() || (!reads_history_ && next_ == seeds_.size()); }
  std::size_t backlog() const override { return seeds_.size() - next_; }

  base::Status start() override;
  base::Result<std::string> commit(flow::EpochId epoch) override;
  void on_durable(flow::EpochId epoch) override;
  base::Status restore(flow::EpochId epoch, std::string_view state) override;

  base::Status begin_history();
  base::Status emit_history();
  void emit_page(PageRecord&& record);
  Fate emit_seed(const std::string& seed);

  const std::vector<std::string> seeds_;
  const RevisitOptions revisit_;
  std::size_t next_ = 0;
  std::string restored_;  // what the map is opened with
  std::unique_ptr<DurableMap> done_;

  const std::shared_ptr<HistoryStore> history_;  // shared with who filled it; null: there is none
  bool reads_history_ = false;                   // and is not through with it
  std::string place_;                            // in it
  std::optional<RevisitPlan> plan_;
  std::optional<PageHistory> page_;
  Ids seed_ids_;                            // while it is read
  flow::EpochId read_by_ = flow::kNoEpoch;  // the first without anything left of it
  bool is_discarded_ = true;

  std::atomic<std::uint64_t> emitted_{0};
  std::atomic<std::uint64_t> invalid_{0};
  std::atomic<std::uint64_t> from_history_{0};
};

}  // namespace meguri::crawl
