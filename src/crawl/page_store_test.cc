#include "crawl/page_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "env/memory_file_system.h"
#include "env/random.h"

namespace meguri::crawl {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kStart = Instant::from_ms(1'767'225'600'000);  // 2026-01-01

// So little in memory that many answers need the disk.
sat::IdStoreOptions small() {
  sat::IdStoreOptions options;
  options.store.layout = sat::TimeLayout::decode("1000x60,10000x60,60000x100").value();
  options.store.page_bytes = 256;
  options.store.pool_bytes = std::size_t{100} << 10U;
  options.store.log_bytes_max = 20'000;
  options.known.cache_bytes = 4096;
  options.known.filter_bits = 2;
  options.known.batch_min = 16;
  options.known.fresh_min = 32;
  return options;
}

std::string url_of(std::uint64_t n) { return fmt::format("http://example.com/{}", n); }

// Does with a store what a Registry does, and knows what must come of it.
class Work {
 public:
  explicit Work(std::uint64_t seed) : random_(seed) {}

  base::Status open() {
    ASSIGN_OR_RETURN(pages_, PageStore::open(files_, "/pages", small(), position_, kStart));
    return {};
  }
  void lose() {
    pages_.reset();
    files_.restart();
    known_ = committed_;
    for (auto& [n, page] : known_) page.is_out = false;
    asked_ = committed_asked_;
  }

  base::Status step() {
    switch (random_.below(8)) {
      case 0:
      case 1:
      case 2: return offer();
      case 3: return decide(random_.below(3) == 0);
      case 4: return take_due();
      case 5: return hold();
      case 6: return reschedule();
      default: return random_.below(10) == 0 ? commit() : base::Status();
    }
  }

  base::Status commit() {
    ASSIGN_OR_RETURN(position_, pages_->commit(++epoch_));
    committed_ = known_;
    committed_asked_ = asked_;
    return pages_->on_durable(epoch_);
  }

  base::Status check() {
    for (const auto& [n, page] : known_) {
      ASSIGN_OR_RETURN(const auto record, pages_->find(page_id_of(url_of(n))));
      EXPECT_TRUE(record) << n;
      if (!record) continue;
      EXPECT_EQ(record->visits, page.visits) << n;
    }
    EXPECT_EQ(pages_->undecided(), asked_.size());
    return {};
  }

  std::size_t known() const { return known_.size(); }
  std::uint64_t waited() const { return waited_; }

 private:
  struct Page {
    std::uint32_t visits = 0;
    std::uint32_t depth = 0;  // it was last known with,
    std::uint32_t least = 0;  // and offered with since
    bool is_out = false;
    Instant due;
  };

  base::Status add(std::uint64_t n, const Candidate& candidate) {
    EXPECT_FALSE(known_.contains(n)) << n;
    Page& page = known_[n];
    page.depth = candidate.depth;
    page.least = candidate.depth;
    PageRecord record;
    record.candidate = candidate;
    const base::Id id = page_id_of(candidate.url);
    if (random_.below(2) == 0) {
      page.is_out = true;
      return pages_->add_out(id, record);
    }
    page.due = now_;
    return pages_->add(id, record, now_);
  }

  base::Status offer_again(std::uint64_t n, const Candidate& candidate) {
    const auto page = known_.find(n);
    EXPECT_NE(page, known_.end()) << n;
    if (page == known_.end() || page->second.is_out) return {};
    page->second.least = std::min(page->second.least, candidate.depth);
    return {};
  }

  base::Status offer() {
    const std::uint64_t n = random_.below(known_.size() + asked_.size() + 20);
    Candidate candidate{url_of(n), "", static_cast<std::uint32_t>(random_.below(9)), 0,
                        Offer::kLink};
    ASSIGN_OR_RETURN(const auto answer, pages_->ask(page_id_of(candidate.url), candidate, now_));
    switch (answer) {
      case PageStore::Answer::kNew: return add(n, candidate);
      case PageStore::Answer::kKnown: return offer_again(n, candidate);
      case PageStore::Answer::kLater: break;
    }
    ++waited_;
    const auto [asked, is_new] = asked_.emplace(n, candidate.depth);
    if (!is_new) asked->second = std::min(asked->second, candidate.depth);
    return {};
  }

  base::Status decide(bool all) {
    if (all) pages_->settle();
    while (all || pages_->has_decisions()) {
      ASSIGN_OR_RETURN(const auto decision, pages_->next_decision(now_));
      if (!decision) break;
      const std::uint64_t n = std::stoull(decision->candidate.url.substr(url_of(0).size() - 1));
      const auto asked = asked_.extract(n);
      EXPECT_FALSE(asked.empty()) << n;
      EXPECT_EQ(decision->candidate.depth, asked.mapped());
      EXPECT_EQ(decision->is_known, known_.contains(n));
      RETURN_IF_ERROR(decision->is_known ? offer_again(n, decision->candidate)
                                         : add(n, decision->candidate));
    }
    return {};
  }

  base::Status take_due() {
    now_ = now_ + Duration::from_ms(static_cast<std::int64_t>(random_.below(3000)));
    for (auto n = random_.below(6); n > 0; --n) {
      ASSIGN_OR_RETURN(const auto due, pages_->next_due(now_));
      if (!due) return {};
      Page& page = known_.at(std::stoull(due->record.candidate.url.substr(url_of(0).size() - 1)));
      EXPECT_FALSE(page.is_out);
      EXPECT_EQ(due->record.visits, page.visits);
      EXPECT_LE(due->record.candidate.depth, page.depth);
      EXPECT_GE(due->record.candidate.depth, page.least);
      EXPECT_EQ(pages_->get(due->id), due->record);
      EXPECT_EQ(pages_->glance(due->id)->depth, due->record.candidate.depth);
      page.is_out = true;
      page.depth = due->record.candidate.depth;
      page.least = page.depth;
    }
    return {};
  }

  std::uint64_t any_out() {
    std::vector<std::uint64_t> out;
    for (const auto& [n, page] : known_) {
      if (page.is_out) out.push_back(n);
    }
    return out.empty() ? ~std::uint64_t{0} : out[random_.below(out.size())];
  }

  base::Status hold() {
    const std::uint64_t n = any_out();
    if (n == ~std::uint64_t{0}) return {};
    auto record = pages_->get(page_id_of(url_of(n)));
    ++record->visits;
    ++known_[n].visits;
    return pages_->hold(page_id_of(url_of(n)), *record);
  }

  base::Status reschedule() {
    const std::uint64_t n = any_out();
    if (n == ~std::uint64_t{0}) return {};
    auto record = pages_->get(page_id_of(url_of(n)));
    ++record->visits;
    Page& page = known_[n];
    ++page.visits;
    page.is_out = false;
    page.due = now_ + Duration::seconds(static_cast<std::int64_t>(5 + random_.below(100)));
    return pages_->reschedule(page_id_of(url_of(n)), *record, page.due);
  }

  env::MemoryFileSystem files_;
  env::Random random_;
  std::unique_ptr<PageStore> pages_;
  std::string position_;
  flow::EpochId epoch_ = 0;
  Instant now_ = kStart;
  std::map<std::uint64_t, Page> known_;
  std::map<std::uint64_t, Page> committed_;
  std::map<std::uint64_t, std::uint32_t> asked_;  // the least depth they were offered with
  std::map<std::uint64_t, std::uint32_t> committed_asked_;
  std::uint64_t waited_ = 0;
};

TEST(PageStore, KnowsEveryPageOnceAndDecidesAboutEveryCandidate) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    Work work(seed);
    ASSERT_TRUE(work.open());
    for (int life = 0; life < 8; ++life) {
      for (int i = 0; i < 600; ++i) {
        const base::Status status = work.step();
        ASSERT_TRUE(status) << status.error().message();
        if (HasFailure()) FAIL() << "in life " << life << " at step " << i;
      }
      if (life % 2 == 0) {
        ASSERT_TRUE(work.commit());
      }
      work.lose();
      const base::Status opened = work.open();
      ASSERT_TRUE(opened) << opened.error().message();
      const base::Status checked = work.check();
      ASSERT_TRUE(checked) << checked.error().message();
      if (HasFailure()) FAIL() << "after life " << life;
    }
    EXPECT_GT(work.known(), 200U);
    EXPECT_GT(work.waited(), 20U);
  }
}

TEST(PageStore, BringsForwardWhatIsSaidToBeModified) {
  env::MemoryFileSystem files;
  auto pages = PageStore::open(files, "/pages", small(), "", kStart).value();
  for (const std::uint64_t n : {1U, 2U, 3U}) {
    PageRecord record;
    record.candidate = {url_of(n), "", 5, 0, Offer::kLink};
    record.state = PageState::kVisited;
    ASSERT_TRUE(pages->add(page_id_of(url_of(n)), record, kStart + Duration::minutes(30)));
  }
  const Instant said = kStart + Duration::seconds(1);
  for (const int ms : {5, 9, 7}) {
    Candidate hint{url_of(2), "", 1, 0, Offer::kHint};
    hint.modified = kStart + Duration::from_ms(ms);
    EXPECT_EQ(pages->ask(page_id_of(url_of(2)), hint, said), PageStore::Answer::kKnown);
  }
  EXPECT_FALSE(pages->next_due(kStart + Duration::minutes(1)).value());
  const std::string position = pages->commit(1).value();
  ASSERT_TRUE(pages->on_durable(1));
  pages.reset();
  files.restart();
  pages = PageStore::open(files, "/pages", small(), position, kStart).value();
  while (pages->serve_hints().value()) {
  }
  const auto due = pages->next_due(kStart + Duration::minutes(2)).value();
  ASSERT_TRUE(due);
  EXPECT_EQ(due->record.candidate.url, url_of(2));
  EXPECT_EQ(due->record.candidate.depth, 5U);
  EXPECT_EQ(due->modified, kStart + Duration::from_ms(9));
  EXPECT_FALSE(pages->next_due(kStart + Duration::minutes(2)).value());
}

TEST(PageStore, APageThatIsDueAndNotOutComesAsTheNearestItWasOfferedAs) {
  env::MemoryFileSystem files;
  const auto pages = PageStore::open(files, "/pages", small(), "", kStart).value();
  for (const std::uint64_t n : {1U, 2U}) {
    PageRecord record;
    record.candidate = {url_of(n), "", 5, 0, Offer::kLink};
    const Instant due = kStart + Duration::seconds(n == 1 ? 0 : 30);
    ASSERT_TRUE(pages->add(page_id_of(url_of(n)), record, due));
    for (const std::uint32_t depth : {4U, 2U, 3U}) {
      const Candidate nearer{url_of(n), "via", depth, 0, Offer::kLink};
      EXPECT_EQ(pages->ask(page_id_of(url_of(n)), nearer, kStart), PageStore::Answer::kKnown);
    }
  }
  const auto first = pages->next_due(kStart + Duration::seconds(5)).value();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->record.candidate, (Candidate{url_of(1), "via", 2, 0, Offer::kLink}));
  EXPECT_EQ(pages->get(first->id), first->record);
  const auto second = pages->next_due(kStart + Duration::seconds(40)).value();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->record.candidate.depth, 5U);  // it was not due then
}

// While its owner goes on.
TEST(PageStore, TellsEveryPageOfAPositionOnceToWhoOnlyLooks) {
  env::MemoryFileSystem files;
  const auto pages = PageStore::open(files, "/pages", small(), "", kStart).value();
  const auto record_of = [](std::uint64_t n) {
    PageRecord record;
    record.candidate = {url_of(n), "", 5, 0, Offer::kLink};
    return record;
  };
  for (std::uint64_t n = 0; n < 300; ++n) {
    const Instant due = kStart + Duration::seconds(static_cast<std::int64_t>(n));
    ASSERT_TRUE(pages->add(page_id_of(url_of(n)), record_of(n), due));
  }
  while (const auto due = pages->next_due(kStart + Duration::seconds(100)).value()) {
    PageRecord record = due->record;
    record.visits = 1;
    ASSERT_TRUE(pages->reschedule(due->id, record, kStart + Duration::seconds(500)));
  }
  const std::string position = pages->commit(1).value();
  for (std::uint64_t n = 300; n < 600; ++n) {
    ASSERT_TRUE(pages->add(page_id_of(url_of(n)), record_of(n), kStart));
  }
  ASSERT_TRUE(pages->commit(2));

  env::MemoryFileSystem scratch;
  std::uint64_t all = 0;
  std::uint64_t visited = 0;
  const auto use = [&](const PageRecord& record) -> base::Status {
    ++all;
    visited += record.visits;
    return {};
  };
  const auto told = PageStore::for_each(files, "/pages", position, {scratch, ""}, use);
  ASSERT_TRUE(told) << told.error().message();
  EXPECT_EQ(all, 300U);
  EXPECT_GE(visited, 99U);
  EXPECT_LE(visited, 101U);
  EXPECT_TRUE(PageStore::for_each(files, "/pages", "", {scratch, ""}, use));  // nothing yet
  EXPECT_EQ(all, 300U);
}

TEST(PageStore, SaysThatAPositionIsNone) {
  env::MemoryFileSystem files;
  EXPECT_FALSE(PageStore::open(files, "/pages", small(), "rubbish", kStart));
  const auto use = [](const PageRecord& /*record*/) { return base::Status(); };
  EXPECT_FALSE(PageStore::for_each(files, "/pages", "rubbish", {files, ""}, use));
}

}  // namespace
}  // namespace meguri::crawl
