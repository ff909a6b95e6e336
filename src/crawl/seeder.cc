#include "crawl/seeder.h"

#include <utility>

#include "base/log.h"
#include "crawl/page_record.h"
#include "web/canonical.h"

namespace meguri::crawl {

namespace {

// Not as long as a page key. Its value is the name of the store and the place in it; behind the
// last page that is kEnd.
constexpr std::string_view kHistoryKey = "history";
constexpr std::string_view kEnd = "end";

std::string position_of(const HistoryStore& history, std::string_view place) {
  return history.name() + "/" + std::string(place);
}

std::optional<std::string> canonical_of(const std::string& text) {
  const auto url = web::Url::parse(text);
  return url ? std::optional(web::canonical(*url).href()) : std::nullopt;
}

}  // namespace

Seeder::Seeder(const CrawlOptions& options, std::shared_ptr<HistoryStore> history)
    : seeds_(options.seeds), revisit_(options.revisit), history_(std::move(history)) {}

base::Status Seeder::restore(flow::EpochId /*epoch*/, std::string_view state) {
  restored_ = state;
  return {};
}

base::Status Seeder::start() {
  ASSIGN_OR_RETURN(done_, DurableMap::open(files(), state_dir() + "/" + name(), restored_));
  return history_ ? begin_history() : base::Status();
}

base::Status Seeder::begin_history() {
  ASSIGN_OR_RETURN(plan_, RevisitPlan::make(revisit_));
  page_.emplace(*plan_, revisit_.counts_from);
  is_discarded_ = false;
  const auto position = done_->find(kHistoryKey);
  if (position == position_of(*history_, kEnd)) return {};
  reads_history_ = true;
  if (position && position->starts_with(position_of(*history_, ""))) {
    place_ = position->substr(position_of(*history_, "").size());
  }
  for (const std::string& seed : seeds_) {
    if (const auto url = canonical_of(seed)) seed_ids_.insert(page_id_of(*url));
  }
  return {};
}

base::Result<std::string> Seeder::commit(flow::EpochId epoch) {
  if (history_ && !reads_history_ && read_by_ == flow::kNoEpoch) read_by_ = epoch;
  return done_->commit(epoch);
}

void Seeder::on_durable(flow::EpochId epoch) {
  if (const auto status = done_->on_durable(epoch); !status) fail(status.error());
  if (is_discarded_ || read_by_ == flow::kNoEpoch || epoch < read_by_) return;
  is_discarded_ = true;
  if (const auto status = history_->discard(); !status) fail(status.error());
}

bool Seeder::produce() {
  if (draining()) return false;
  if (reads_history_) {
    if (const auto status = emit_history(); !status) {
      fail(status.error());
      return false;
    }
    if (reads_history_) return !candidates.full();
  }
  for (int i = 0; i < kEmitAtOnce && next_ < seeds_.size() && !candidates.full(); ++i) {
    emit_seed(seeds_[next_++]);
  }
  return next_ < seeds_.size();
}

base::Status Seeder::emit_history() {
  for (int i = 0; i < kEmitAtOnce && !candidates.full(); ++i) {
    ASSIGN_OR_RETURN(auto page, history_->next(place_, *page_));
    if (!page) {
      reads_history_ = false;
      seed_ids_ = {};
      done_->put(kHistoryKey, position_of(*history_, kEnd));
      return {};
    }
    place_ = std::move(page->place);
    emit_page(std::move(page->record));
  }
  done_->put(kHistoryKey, position_of(*history_, place_));
  return {};
}

void Seeder::emit_page(PageRecord&& record) {
  Candidate candidate = record.candidate;
  const base::Id id = page_id_of(candidate.url);
  if (seed_ids_.contains(id)) {
    if (done_->find(page_key_of(id))) return;
    done_->put(page_key_of(id), {});
    ++emitted_;
    candidate.offer = Offer::kSeed;
    candidate.depth = 0;
  }
  flow::Codec<PageRecord>::encode(record, candidate.history);
  ++from_history_;
  candidates.emit(std::move(candidate));
}

void Seeder::on_added(SeedQuestion&& question) {
  SeedAnswer answer{.ticket = question.ticket};
  answer.is_ending = draining();
  if (!answer.is_ending) {
    for (const std::string& seed : question.urls) {
      const Fate fate = emit_seed(seed);
      if (fate == Fate::kNew) ++answer.fresh;
      if (fate == Fate::kKnown) ++answer.known;
      if (fate == Fate::kInvalid) ++answer.invalid;
    }
  }
  answers.emit(answer);
}

Seeder::Fate Seeder::emit_seed(const std::string& seed) {
  Candidate candidate;
  auto url = canonical_of(seed);
  if (!url) {
    ++invalid_;
    base::log_warn("passed over a seed that is no URL", {{"seed", seed}});
    return Fate::kInvalid;
  }
  candidate.url = *std::move(url);
  const PageKey key = page_key_of(page_id_of(candidate.url));
  if (done_->find(key)) return Fate::kKnown;
  done_->put(key, {});
  ++emitted_;
  candidates.emit(std::move(candidate));
  return Fate::kNew;
}

}  // namespace meguri::crawl
