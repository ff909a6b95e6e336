#include "crawl/seeder.h"

#include <utility>

#include "base/log.h"
#include "crawl/page_record.h"
#include "web/canonical.h"

namespace meguri::crawl {

Seeder::Seeder(std::vector<std::string> seeds) : seeds_(std::move(seeds)) {}

base::Status Seeder::restore(flow::EpochId /*epoch*/, std::string_view state) {
  restored_ = state;
  return {};
}

base::Status Seeder::start() {
  ASSIGN_OR_RETURN(done_, DurableMap::open(files(), state_dir() + "/" + name(), restored_));
  return {};
}

base::Result<std::string> Seeder::commit(flow::EpochId epoch) { return done_->commit(epoch); }

void Seeder::on_durable(flow::EpochId epoch) {
  if (const auto status = done_->on_durable(epoch); !status) fail(status.error());
}

bool Seeder::produce() {
  if (draining()) return false;
  for (int i = 0; i < kEmitAtOnce && next_ < seeds_.size() && !candidates.full(); ++i) {
    emit_seed(seeds_[next_++]);
  }
  return next_ < seeds_.size();
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
  const auto url = web::Url::parse(seed);
  if (!url) {
    ++invalid_;
    base::log_warn("passed over a seed that is no URL", {{"seed", seed}});
    return Fate::kInvalid;
  }
  Candidate candidate;
  candidate.url = web::canonical(*url).href();
  const PageKey key = page_key_of(page_id_of(candidate.url));
  if (done_->find(key)) return Fate::kKnown;
  done_->put(key, {});
  ++emitted_;
  candidates.emit(std::move(candidate));
  return Fate::kNew;
}

}  // namespace meguri::crawl
