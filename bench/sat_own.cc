// The store of this project in the variants of paper 003.
#include <optional>
#include <string>
#include <utility>

#include "bench/sat_stores.h"
#include "env/posix_file_system.h"
#include "sat/store.h"

namespace meguri::bench {
namespace {

using base::Duration;
using base::Instant;

constexpr std::uint32_t kLoadedAtOnce = 1'000'000;
constexpr std::size_t kNaivePageBytes = 4096;

sat::TimeLayout layout_of(const SatLoad& load) {
  constexpr std::uint32_t kDays = 400;
  switch (load.unit()) {
    case SatUnit::kHour: return *sat::TimeLayout::uniform(Duration::hours(1), kDays * 24);
    case SatUnit::kDay: return *sat::TimeLayout::uniform(Duration::days(1), kDays);
    case SatUnit::kMinute: return *sat::TimeLayout::uniform(Duration::minutes(1), kDays * 1440);
    case SatUnit::kMixed: break;
  }
  return sat::TimeLayout::mixed();
}

class OwnStore final : public SatStore {
 public:
  OwnStore(sat::StoreOptions options, const SatSetting& setting)
      : options_(std::move(options)),
        setting_(setting),
        files_(env::PosixOptions{.writes_through = setting.writes_through}) {}

  base::Status load(const SatLoad& load) override {
    RETURN_IF_ERROR(open_at("", load));
    std::string body;
    for (std::uint32_t seq = 0; seq < load.records(); ++seq) {
      load.make_body(seq, &body);
      RETURN_IF_ERROR(store_->add(SatLoad::id_of(seq), 0, body, minute(load.first_due(seq))));
      if (seq % kLoadedAtOnce == kLoadedAtOnce - 1) RETURN_IF_ERROR(commit());
    }
    store_->request_checkpoint();
    RETURN_IF_ERROR(commit());
    RETURN_IF_ERROR(store_->on_durable());
    return env::write_file_atomically(files_, position_path(), position_);
  }

  base::Status open(const SatLoad& load) override {
    ASSIGN_OR_RETURN(const std::string position, env::read_file(files_, position_path()));
    return open_at(position, load);
  }

  base::Status reopen(const SatLoad& load) override {
    store_.reset();
    return open_at(position_, load);
  }

  base::Status send_messages(const std::vector<std::uint32_t>& due) override {
    static constexpr std::string_view kMessage = "a hint of 32 bytes for one page.";
    for (const std::uint32_t seq : due) RETURN_IF_ERROR(store_->send(seq, kMessage));
    return commit();
  }

  // A step of an hour in as many parts as the layout has buckets for it.
  base::Status run_step(std::uint32_t step, const std::vector<std::uint32_t>& /*due*/,
                        SatSum* sum) override {
    const std::uint32_t end = (step + 1) * step_minutes_;
    const std::uint32_t part = std::min<std::uint32_t>(
        step_minutes_, static_cast<std::uint32_t>(store_->layout().unit(0).ms() / 60'000));
    for (std::uint32_t at = step * step_minutes_ + part; at <= end; at += part) {
      for (;;) {
        ASSIGN_OR_RETURN(const auto due, store_->next_due(minute(at)));
        if (!due) break;
        body_.assign(due->record.body);
        const SatCounters before = visit_body(body_.data(), end);
        sum->visits += before.visits;
        sum->messages += due->messages.size();
        ++sum->updates;
        RETURN_IF_ERROR(store_->reschedule(
            due->record, 0, body_, due->record.due.instant() + Duration::minutes(before.period)));
      }
    }
    return commit();
  }

 private:
  static Instant minute(std::uint32_t n) { return SatLoad::start() + Duration::minutes(n); }
  std::string position_path() const { return setting_.dir + "/position"; }

  base::Status open_at(std::string_view position, const SatLoad& load) {
    step_minutes_ = load.step_minutes();
    options_.layout = layout_of(load);
    // The paper's page, where it says how much is written at once.
    if (options_.writes_single_pages) options_.page_bytes = kNaivePageBytes;
    if (setting_.page_bytes > 0) options_.page_bytes = setting_.page_bytes;
    options_.pool_bytes = setting_.pool_bytes;
    options_.body_bytes_max = load.body_bytes_max();
    ASSIGN_OR_RETURN(store_, sat::Store::open(files_, setting_.dir + "/store", options_, position,
                                              SatLoad::start()));
    return {};
  }
  base::Status commit() {
    ASSIGN_OR_RETURN(position_, store_->commit());
    return setting_.keeps_start ? base::Status() : store_->on_durable();
  }

  sat::StoreOptions options_;
  const SatSetting setting_;
  env::PosixFileSystem files_;
  std::uint32_t step_minutes_ = 60;
  std::unique_ptr<sat::Store> store_;
  std::string position_;
  std::string body_;
};

}  // namespace

std::unique_ptr<SatStore> make_own_store(std::string_view name, const SatSetting& setting) {
  sat::StoreOptions options;
  if (name == "naive") {
    options.writes_single_pages = true;
    options.segments.has_one_per_slot = true;
    options.segments.aligns_extents = true;
  } else if (name == "naive-in-turn") {
    options.writes_single_pages = true;
  } else if (name == "sat-files") {
    options.segments.has_one_per_slot = true;
  } else if (name == "sat-sort") {
    options.sorts_buckets = true;
  } else if (name == "basic") {
    options.has_index = false;
  } else if (name != "sat") {
    return nullptr;
  }
  return std::make_unique<OwnStore>(options, setting);
}

}  // namespace meguri::bench
