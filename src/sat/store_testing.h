// What the tests of the store share: an oracle, and random work on both.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/file_system.h"
#include "env/random.h"
#include "sat/store.h"

namespace meguri::sat {

inline constexpr base::Instant kStart = base::Instant::from_ms(1'767'225'600'000);  // 2026-01-01

// What a store should hold: the plainest thing that does the same.
struct Oracle {
  struct Page {
    base::Id id;
    std::string body;
    base::Instant due;    // rounded up to the second
    base::Instant since;  // when this became known
    bool is_out = false;
    std::vector<std::string> messages;
    std::vector<std::string> late;  // while it is out
    std::uint8_t schema = 0;
  };
  std::map<Seq, Page> pages;

  // As it is after a restart: what was out is handed out again, with all that was sent to it.
  void restart() {
    for (auto& [seq, page] : pages) {
      page.messages.insert(page.messages.end(), page.late.begin(), page.late.end());
      page.late.clear();
      page.is_out = false;
    }
  }
};

struct StoreKind {
  const char* name;
  const char* layout;
  std::size_t page_bytes;
  std::size_t pool_pages;
  bool naive;
  bool sorts = false;
  bool has_large = false;  // records, of up to 20,000 bytes
  bool has_bucket_files = false;
};

// A store and its oracle, and what can be done to both.
class StoreWork {
 public:
  StoreWork(env::FileSystem& files, const StoreKind& kind, std::uint64_t seed,
            std::string dir = "/store")
      : files_(files),
        dir_(std::move(dir)),
        random_(seed),
        layout_(TimeLayout::decode(kind.layout).value()),
        has_large_(kind.has_large) {
    options_.layout = layout_;
    options_.page_bytes = kind.page_bytes;
    options_.pool_bytes = kind.page_bytes * kind.pool_pages;
    options_.body_bytes_max = kind.has_large ? 20'000 : 3'000;  // the pool has room for one
    options_.writes_single_pages = kind.naive;
    options_.sorts_buckets = kind.sorts;
    options_.segments = {200'000, kind.has_bucket_files};
    options_.log_bytes_max = 20'000;
    options_.out_max = layout_.unit(0) * 3;
  }

  base::Status open() {
    ASSIGN_OR_RETURN(store_, Store::open(files_, dir_, options_, position_, kStart));
    waiting_back_.clear();
    return {};
  }

  base::Status step() { return random_.below(112) == 0 ? commit() : step_without_commit(); }

  base::Status step_without_commit() {
    switch (random_.below(13)) {
      case 0:
      case 1:
      case 2: return add();
      case 3:
      case 4:
      case 5: return visit();
      case 6:
      case 7: return come_back();
      case 11: return add_out();
      case 12: return hold();
      case 8: return random_.below(10) == 0 ? remove() : send();
      case 9: return pull();
      default: {
        ASSIGN_OR_RETURN(const bool more,
                         store_->move_some(static_cast<std::uint32_t>(random_.below(20))));
        has_moved_ |= more;
        return {};
      }
    }
  }

  base::Status commit() {
    ASSIGN_OR_RETURN(const std::string position, store_->commit());
    position_ = position;
    committed_ = oracle_;
    now_committed_ = now_;
    return store_->on_durable();
  }

  // The process is gone, with all that was not committed.
  void lose() {
    store_.reset();
    oracle_ = committed_;
    oracle_.restart();
    now_ = now_committed_;
  }

  base::Status check_all_there() {
    EXPECT_EQ(store_->counts().records, oracle_.pages.size());
    for (const auto& [seq, page] : oracle_.pages) {
      Record record;
      ASSIGN_OR_RETURN(const auto body, store_->find(seq, record));
      if (!body) return base::fail(base::ErrorCode::kNotFound, "record {} is missing", seq);
      EXPECT_EQ(*body, page.body);
      EXPECT_EQ(record.id, page.id);
      EXPECT_EQ(record.schema, page.schema);
      if (!page.is_out) {
        EXPECT_EQ(record.due.instant(), page.due) << seq;
      }
    }
    return {};
  }

  // Everything comes, exactly when it is due.
  base::Status finish() {
    while (!waiting_back_.empty()) RETURN_IF_ERROR(come_back());
    RETURN_IF_ERROR(check_all_there());
    std::size_t left = oracle_.pages.size();
    while (left > 0) {
      now_ = now_ + layout_.unit(layout_.levels() - 1);
      for (;;) {
        ASSIGN_OR_RETURN(const auto due, store_->next_due(now_));
        if (!due) break;
        RETURN_IF_ERROR(take(*due));
        RETURN_IF_ERROR(store_->remove(due->record.seq));
        oracle_.pages.erase(due->record.seq);
        --left;
      }
    }
    EXPECT_EQ(store_->counts().records, 0U);
    return {};
  }

  Store& store() { return *store_; }
  const std::string& position() const { return position_; }
  // Goes on from what another life has left.
  void set_out(Oracle oracle, std::string position, base::Instant now) {
    oracle_ = std::move(oracle);
    committed_ = oracle_;
    position_ = std::move(position);
    now_ = now;
    now_committed_ = now;
  }
  base::Instant now() const { return now_; }
  const Oracle& oracle() const { return oracle_; }
  std::uint64_t visits() const { return visits_; }

 private:
  std::string draw_body() {
    std::uint64_t size = random_.below(30) == 0 ? random_.below(3000) : random_.below(120);
    if (has_large_ && random_.below(6) == 0) size = random_.below(20'000);
    return std::string(size, static_cast<char>('a' + random_.below(26)));
  }
  // From now to beyond the horizon, and sometimes in the past.
  base::Instant draw_due() {
    const std::int64_t unit_ms = layout_.unit(0).ms();
    const auto horizon =
        static_cast<std::uint64_t>(layout_.horizon(layout_.levels() - 1).ms() / unit_ms);
    const std::uint64_t units = random_.below(std::uint64_t{1} << random_.below(20));
    const auto wait = static_cast<std::int64_t>(units % (horizon + horizon / 4 + 1)) * unit_ms;
    return now_ + base::Duration::from_ms(wait - unit_ms +
                                          static_cast<std::int64_t>(
                                              random_.below(static_cast<std::uint64_t>(unit_ms))));
  }
  static base::Instant to_second(base::Instant due) { return DueTime::of(due).instant(); }

  base::Status add() {
    Oracle::Page page;
    page.id = {random_.next(), random_.next()};
    page.body = draw_body();
    const base::Instant due = draw_due();
    page.due = to_second(due);
    page.since = now_;
    page.schema = static_cast<std::uint8_t>(random_.below(3));
    ASSIGN_OR_RETURN(const Seq seq, store_->add(page.id, page.schema, page.body, due));
    EXPECT_FALSE(oracle_.pages.contains(seq));
    oracle_.pages[seq] = page;
    return {};
  }

  base::Status add_out() {
    Oracle::Page page;
    page.id = {random_.next(), random_.next()};
    page.body = draw_body();
    page.is_out = true;
    page.schema = static_cast<std::uint8_t>(random_.below(3));
    ASSIGN_OR_RETURN(const Record record, store_->add_out(page.id, page.schema, page.body));
    EXPECT_FALSE(oracle_.pages.contains(record.seq));
    oracle_.pages[record.seq] = page;
    waiting_back_[record.seq] = {record, page.body};
    return {};
  }

  // Several times the same one, so that many copies are left behind.
  base::Status hold() {
    if (waiting_back_.empty()) return {};
    auto chosen = waiting_back_.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(random_.below(waiting_back_.size())));
    Seen& seen = chosen->second;
    Oracle::Page& page = oracle_.pages.at(seen.record.seq);
    for (auto n = random_.below(20); n > 0; --n) {
      const std::string body = draw_body();
      const auto schema = static_cast<std::uint8_t>(random_.below(3));
      seen.record.body = seen.body;
      ASSIGN_OR_RETURN(seen.record, store_->hold(seen.record, schema, body));
      seen.body = body;
      page.body = body;
      page.schema = schema;
      page.messages.clear();  // it has seen them
    }
    return {};
  }

  // What the store hands out is due, was not out, and has its messages.
  base::Status take(const DueRecord& due) {
    const auto found = oracle_.pages.find(due.record.seq);
    if (found == oracle_.pages.end()) {
      return base::fail(base::ErrorCode::kInvalid, "record {} is handed out, and is none",
                        due.record.seq);
    }
    Oracle::Page& page = found->second;
    EXPECT_EQ(due.record.id, page.id);
    EXPECT_EQ(due.record.body, page.body);
    EXPECT_LE(page.due, now_);
    EXPECT_EQ(std::vector<std::string>(due.messages.begin(), due.messages.end()), page.messages)
        << due.record.seq;
    EXPECT_FALSE(waiting_back_.contains(due.record.seq));
    page.is_out = true;
    ++visits_;
    return {};
  }

  base::Status visit() {
    if (random_.below(4) == 0) {
      const std::uint64_t jump = random_.below(30) == 0 ? 500 : 5;
      now_ = now_ + base::Duration::from_ms(layout_.unit(0).ms() / 2 *
                                            static_cast<std::int64_t>(random_.below(jump)));
    }
    for (auto n = random_.below(6); n > 0; --n) {
      ASSIGN_OR_RETURN(const auto due, store_->next_due(now_));
      if (!due) {
        // All that was due is out: nothing is late by more than a unit.
        for (const auto& [seq, page] : oracle_.pages) {
          if (page.is_out) continue;
          EXPECT_GT(std::max(page.due, page.since), now_ - layout_.unit(0)) << seq;
        }
        break;
      }
      RETURN_IF_ERROR(take(*due));
      Record record = due->record;
      Seen& seen = waiting_back_[record.seq];
      seen.body = record.body;
      seen.record = record;
    }
    return {};
  }

  base::Status come_back() {
    if (waiting_back_.empty()) return {};
    auto chosen = waiting_back_.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(random_.below(waiting_back_.size())));
    Seen seen = std::move(chosen->second);
    waiting_back_.erase(chosen);
    seen.record.body = seen.body;
    Oracle::Page& page = oracle_.pages.at(seen.record.seq);
    std::string body = seen.body;
    if (random_.below(5) == 0) {
      body = draw_body();
    } else if (!body.empty()) {
      body[random_.below(body.size())] = '!';
    }
    const base::Instant due = draw_due();
    const auto schema = static_cast<std::uint8_t>(random_.below(3));
    RETURN_IF_ERROR(store_->reschedule(seen.record, schema, body, due));
    page.body = body;
    page.schema = schema;
    page.due = to_second(due);
    page.since = now_;
    page.is_out = false;
    page.messages = std::exchange(page.late, {});
    return {};
  }

  Seq any_seq() {
    auto chosen = oracle_.pages.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(random_.below(oracle_.pages.size())));
    return chosen->first;
  }

  base::Status send() {
    if (oracle_.pages.empty()) return {};
    const Seq seq = any_seq();
    Oracle::Page& page = oracle_.pages.at(seq);
    const std::string message = draw_body();
    RETURN_IF_ERROR(store_->send(seq, message));
    (page.is_out ? page.late : page.messages).push_back(message);
    return {};
  }

  base::Status remove() {
    if (oracle_.pages.empty()) return {};
    const Seq seq = any_seq();
    RETURN_IF_ERROR(store_->remove(seq));
    oracle_.pages.erase(seq);
    waiting_back_.erase(seq);
    return {};
  }

  // One record is pulled and served at once, so that its new time is known.
  base::Status pull() {
    if (oracle_.pages.empty()) return {};
    const Seq seq = any_seq();
    Oracle::Page& page = oracle_.pages.at(seq);
    const base::Instant due = draw_due();
    RETURN_IF_ERROR(store_->pull(seq, due));
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, store_->serve_pulls());
      if (!more) break;
    }
    Record record;
    ASSIGN_OR_RETURN(const auto body, store_->find(seq, record));
    EXPECT_TRUE(body);
    if (page.is_out) return {};
    // One that is about to be handed out stays where it is.
    const base::Instant now_due = record.due.instant();
    EXPECT_TRUE(now_due == page.due || now_due == to_second(due));
    EXPECT_LE(now_due, page.due);
    page.due = now_due;
    page.since = now_;
    return {};
  }

  struct Seen {
    Record record;
    std::string body;
  };

  env::FileSystem& files_;
  const std::string dir_;
  env::Random random_;
  TimeLayout layout_;
  const bool has_large_;
  StoreOptions options_;
  std::unique_ptr<Store> store_;
  Oracle oracle_;
  Oracle committed_;
  std::map<Seq, Seen> waiting_back_;
  std::string position_;
  base::Instant now_ = kStart;
  base::Instant now_committed_ = kStart;
  std::uint64_t visits_ = 0;
  bool has_moved_ = false;
};

inline constexpr StoreKind kStoreKinds[] = {
    {"uniform", "60000x200", 256, 400, false},
    {"naive", "60000x200", 256, 400, true},
    {"paper", "60000x200", 256, 400, true, false, false, true},
    {"mixed", "1000x60,10000x60,60000x100", 256, 400, false, false, true},
    {"sorted", "1000x60,10000x60,60000x100", 256, 400, false, true, true},
    {"fine", "1000x60,10000x60,60000x100", 64, 1600, false},
    {"tight", "1000x60,10000x60,60000x100", 64, 20, false, false, true},
    {"default", "60000x1440,3600000x768,86400000x400", 4096, 3000, false},
};

}  // namespace meguri::sat
