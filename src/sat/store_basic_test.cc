// A Store without an index.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "env/faulty_file_system.h"
#include "env/memory_file_system.h"
#include "env/random.h"
#include "sat/store.h"

namespace meguri::sat {
namespace {

using base::Duration;
using base::ErrorCode;
using base::Instant;

constexpr Instant kStart = Instant::from_ms(1'767'225'600'000);  // 2026-01-01

struct Kind {
  const char* name;
  const char* layout;
  std::size_t page_bytes;
  std::size_t pool_pages;
  bool naive;
};

StoreOptions options_of(const Kind& kind) {
  StoreOptions options;
  options.layout = TimeLayout::decode(kind.layout).value();
  options.page_bytes = kind.page_bytes;
  options.pool_bytes = kind.page_bytes * kind.pool_pages;
  options.writes_single_pages = kind.naive;
  options.has_index = false;
  options.segments.bytes_max = 200'000;
  options.log_bytes_max = 20'000;
  return options;
}

constexpr Kind kPlain = {"uniform", "60000x200", 256, 400, false};

struct Page {
  base::Id id;
  std::string body;
  Instant due;    // rounded up to the second
  Instant since;  // when this became known
};

// A store and the plainest thing that does the same.
class Work {
 public:
  Work(env::FileSystem& files, const Kind& kind, std::uint64_t seed)
      : files_(files), random_(seed), options_(options_of(kind)) {}

  base::Status open() {
    ASSIGN_OR_RETURN(store_, Store::open(files_, "/store", options_, position_, kStart));
    EXPECT_EQ(store_->counts().records, pages_.size());
    return {};
  }

  base::Status step() {
    switch (random_.below(8)) {
      case 0:
      case 1:
      case 2: return add();
      case 3:
      case 4:
      case 5: return visit();
      case 6: {
        ASSIGN_OR_RETURN(const bool more,
                         store_->move_some(static_cast<std::uint32_t>(random_.below(20))));
        (void)more;
        return {};
      }
      default: return random_.below(8) == 0 ? commit() : base::Status();
    }
  }

  base::Status commit() {
    ASSIGN_OR_RETURN(position_, store_->commit());
    committed_ = pages_;
    now_committed_ = now_;
    return store_->on_durable();
  }

  // The process is gone, with all that was not committed.
  void lose() {
    store_.reset();
    out_.reset();
    pages_ = committed_;
    now_ = now_committed_;
  }

  // Everything comes, exactly when it is due.
  base::Status finish() {
    RETURN_IF_ERROR(come_back());
    const TimeLayout& layout = options_.layout;
    const Duration coarsest = layout.unit(layout.levels() - 1);
    std::map<Seq, Page> left = pages_;
    while (!left.empty()) {
      now_ = now_ + coarsest;
      for (;;) {
        ASSIGN_OR_RETURN(const auto due, store_->next_due(now_));
        if (!due) break;
        take(*due);
        left.erase(due->record.seq);
        RETURN_IF_ERROR(come_back());
      }
      for (const auto& [seq, page] : left) {
        EXPECT_GT(std::max(page.due, page.since), now_ - coarsest) << seq;
      }
    }
    EXPECT_EQ(store_->counts().records, pages_.size());
    return {};
  }

  std::uint64_t visits() const { return visits_; }

 private:
  struct Out {
    Record record;
    std::string body;
  };

  std::string draw_body() {
    return std::string(random_.below(30) == 0 ? random_.below(3000) : random_.below(120),
                       static_cast<char>('a' + random_.below(26)));
  }
  // From now to beyond the horizon, and sometimes in the past.
  Instant draw_due() {
    const TimeLayout& layout = options_.layout;
    const std::int64_t unit_ms = layout.unit(0).ms();
    const auto horizon =
        static_cast<std::uint64_t>(layout.horizon(layout.levels() - 1).ms() / unit_ms);
    const std::uint64_t units = random_.below(std::uint64_t{1} << random_.below(20));
    const auto wait = static_cast<std::int64_t>(units % (horizon + horizon / 4 + 1)) * unit_ms;
    const auto within =
        static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(unit_ms)));
    return now_ + Duration::from_ms(wait - unit_ms + within);
  }

  base::Status add() {
    Page page;
    page.id = {random_.next(), random_.next()};
    page.body = draw_body();
    const Instant due = draw_due();
    page.due = DueTime::of(due).instant();
    page.since = now_;
    ASSIGN_OR_RETURN(const Seq seq, store_->add(page.id, 0, page.body, due));
    EXPECT_TRUE(pages_.emplace(seq, page).second);
    return {};
  }

  void take(const DueRecord& due) {
    const auto found = pages_.find(due.record.seq);
    ASSERT_NE(found, pages_.end());
    EXPECT_EQ(due.record.id, found->second.id);
    EXPECT_EQ(due.record.body, found->second.body);
    EXPECT_EQ(due.record.due.instant(), found->second.due);
    EXPECT_LE(found->second.due, now_);
    EXPECT_TRUE(due.messages.empty());
    out_ = Out{due.record, std::string(due.record.body)};
    ++visits_;
  }

  // Handed out and back, one after another; the last may stay out for a while.
  base::Status visit() {
    RETURN_IF_ERROR(come_back());
    if (random_.below(4) == 0) {
      const std::uint64_t jump = random_.below(30) == 0 ? 500 : 5;
      now_ = now_ + Duration::from_ms(options_.layout.unit(0).ms() / 2 *
                                      static_cast<std::int64_t>(random_.below(jump)));
    }
    for (auto n = random_.below(6); n > 0; --n) {
      RETURN_IF_ERROR(come_back());
      ASSIGN_OR_RETURN(const auto due, store_->next_due(now_));
      if (!due) {
        for (const auto& [seq, page] : pages_) {
          EXPECT_GT(std::max(page.due, page.since), now_ - options_.layout.unit(0)) << seq;
        }
        return {};
      }
      take(*due);
    }
    return {};
  }

  base::Status come_back() {
    if (!out_) return {};
    Out out = *std::exchange(out_, std::nullopt);
    out.record.body = out.body;
    Page& page = pages_.at(out.record.seq);
    std::string body = out.body;
    if (random_.below(5) == 0) {
      body = draw_body();
    } else if (!body.empty()) {
      body[random_.below(body.size())] = '!';
    }
    const Instant due = draw_due();
    RETURN_IF_ERROR(store_->reschedule(out.record, 0, body, due));
    page.body = body;
    page.due = DueTime::of(due).instant();
    page.since = now_;
    return {};
  }

  env::FileSystem& files_;
  env::Random random_;
  const StoreOptions options_;
  std::unique_ptr<Store> store_;
  std::map<Seq, Page> pages_;
  std::map<Seq, Page> committed_;
  std::optional<Out> out_;
  std::string position_;
  Instant now_ = kStart;
  Instant now_committed_ = kStart;
  std::uint64_t visits_ = 0;
};

constexpr Kind kKinds[] = {
    kPlain,
    {"naive", "60000x200", 256, 400, true},
    {"mixed", "1000x60,10000x60,60000x100", 256, 400, false},
    {"tight", "1000x60,10000x60,60000x100", 64, 20, false},
};

class BasicStores : public testing::TestWithParam<Kind> {};

TEST_P(BasicStores, DoWhatTheOracleDoes) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    env::MemoryFileSystem files;
    Work run(files, GetParam(), seed);
    ASSERT_TRUE(run.open());
    for (int i = 0; i < 6000; ++i) {
      const base::Status status = run.step();
      ASSERT_TRUE(status) << status.error().message();
      if (HasFailure()) FAIL() << "at step " << i;
    }
    const base::Status status = run.finish();
    ASSERT_TRUE(status) << status.error().message();
    EXPECT_GT(run.visits(), 1000U);
  }
}

TEST_P(BasicStores, ComeBackAsTheyWereCommitted) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    env::MemoryFileSystem files;
    env::Random random(seed);
    Work run(files, GetParam(), seed);
    ASSERT_TRUE(run.open());
    ASSERT_TRUE(run.commit());
    for (int life = 0; life < 12; ++life) {
      for (auto n = random.below(800); n > 0; --n) {
        const base::Status status = run.step();
        ASSERT_TRUE(status) << status.error().message();
        if (HasFailure()) FAIL() << "in life " << life;
      }
      if (random.below(2) == 0) {
        ASSERT_TRUE(run.commit());
      }
      run.lose();
      if (random.below(2) == 0) {
        files.crash(&random);
      } else {
        files.restart();
      }
      const base::Status status = run.open();
      ASSERT_TRUE(status) << status.error().message();
      if (HasFailure()) FAIL() << "after life " << life;
    }
    const base::Status status = run.finish();
    ASSERT_TRUE(status) << status.error().message();
  }
}

TEST_P(BasicStores, LoseNothingThatWasCommittedWhereverThePowerIsCut) {
  env::Random cuts(9);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    env::FaultyFileSystem files(seed);
    Work run(files, GetParam(), seed);
    ASSERT_TRUE(run.open());
    ASSERT_TRUE(run.commit());
    for (int life = 0; life < 4; ++life) {
      files.cut_power_after(cuts.below(60));
      base::Status status;
      for (int i = 0; i < 3000 && status && !files.power_is_off(); ++i) status = run.step();
      run.lose();
      files.crash(&cuts);
      files.disk().restart();
      status = run.open();
      ASSERT_TRUE(status) << status.error().message();
    }
    const base::Status status = run.finish();
    ASSERT_TRUE(status) << status.error().message();
    if (HasFailure()) FAIL();
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, BasicStores, testing::ValuesIn(kKinds),
                         [](const auto& kind) { return std::string(kind.param.name); });

class BasicStore : public testing::Test {
 protected:
  void SetUp() override { store_ = Store::open(files_, "/store", options_, "", kStart).value(); }

  env::MemoryFileSystem files_;
  StoreOptions options_ = options_of(kPlain);
  std::unique_ptr<Store> store_;
};

TEST_F(BasicStore, RefusesWhatNeedsAnIndex) {
  const Seq seq = store_->add({1, 2}, 0, "body", kStart).value();
  Record record;
  EXPECT_EQ(store_->remove(seq).error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(store_->add_out({3, 4}, 0, "body").error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(store_->send(seq, "message").error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(store_->pull(seq, kStart).error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(store_->find(seq, record).error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(store_->counts().records, 1U);
  EXPECT_EQ(store_->index().memory_bytes(), 0U);
}

TEST_F(BasicStore, HandsOutOneRecordAtATime) {
  ASSERT_TRUE(store_->add({1, 2}, 0, "first", kStart));
  ASSERT_TRUE(store_->add({3, 4}, 0, "second", kStart));
  const Instant later = kStart + Duration::hours(1);
  const auto first = store_->next_due(later).value();
  ASSERT_TRUE(first);
  EXPECT_EQ(store_->counts().out, 2U);  // one of them about to be
  EXPECT_EQ(store_->next_due(later).error().code(), ErrorCode::kInvalid);
  Record other = first->record;
  other.seq = 1;
  EXPECT_EQ(store_->reschedule(other, 0, "first", later).error().code(), ErrorCode::kInvalid);
  ASSERT_TRUE(store_->reschedule(first->record, 0, "changed", later + Duration::hours(1)));
  const Record again = first->record;
  EXPECT_EQ(store_->reschedule(again, 0, "", later).error().code(), ErrorCode::kInvalid);
  const auto second = store_->next_due(later).value();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->record.body, "second");
  EXPECT_EQ(store_->counts().out, 1U);
}

TEST_F(BasicStore, StaysWithoutAnIndex) {
  const std::string position = store_->commit().value();
  store_.reset();
  options_.has_index = true;
  const auto other = Store::open(files_, "/store", options_, position, kStart);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), ErrorCode::kInvalid);
  options_.has_index = false;
  EXPECT_TRUE(Store::open(files_, "/store", options_, position, kStart));
}

TEST_F(BasicStore, DoesNotSortBuckets) {
  options_.sorts_buckets = true;
  const auto sorted = Store::open(files_, "/sorted", options_, "", kStart);
  ASSERT_FALSE(sorted);
  EXPECT_EQ(sorted.error().code(), ErrorCode::kInvalid);
}

}  // namespace
}  // namespace meguri::sat
