#include "crawl/host_pair.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "env/random.h"

namespace meguri::crawl {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kNow = Instant::from_ms(1'767'225'600'000);
constexpr std::size_t kNeeded = 8;

PageSample sample_with(std::uint64_t content, Instant at = kNow) {
  PageSample sample;
  for (std::size_t i = 0; i < 8; ++i) {
    sample.digest.bytes[i] = static_cast<std::uint8_t>(content >> (8 * i));
  }
  sample.since = at;
  sample.until = at;
  return sample;
}

PageSample missing(Instant at = kNow) {
  PageSample sample;
  sample.is_there = false;
  sample.since = at;
  sample.until = at;
  return sample;
}

// Both hosts have this content there.
void agree_on(HostPair& pair, std::uint64_t path, std::uint64_t content) {
  pair.take(0, path, sample_with(content), kNow);
  pair.take(1, path, sample_with(content), kNow);
}

HostPair merged_pair() {
  HostPair pair("a.example", "b.example");
  for (std::uint64_t path = 1; path <= kNeeded; ++path) agree_on(pair, path, path);
  EXPECT_TRUE(pair.agrees(kNeeded, kNow));
  pair.merge(0, kNow + Duration::days(7));
  return pair;
}

std::string words(int count, const std::string& word) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text.append(word).push_back(static_cast<char>('a' + i % 26));
    text.append(1, static_cast<char>('a' + i / 26)).append(" ");
  }
  return text;
}

TEST(HostPair, LikenessIsByBytesThenByTextAndNeedsOneTime) {
  EXPECT_EQ(likeness_of(sample_with(1), sample_with(1, kNow + Duration::days(9))), Likeness::kSame);
  EXPECT_EQ(likeness_of(sample_with(1), sample_with(2)), Likeness::kDiffers);
  EXPECT_EQ(likeness_of(sample_with(1), sample_with(2, kNow + Duration::days(1))),
            Likeness::kUnclear);
  EXPECT_EQ(likeness_of(sample_with(1), missing()), Likeness::kDiffers);
  EXPECT_EQ(likeness_of(missing(), missing()), Likeness::kUnclear);

  PageSample a = sample_with(1);
  PageSample b = sample_with(2);
  a.sketch = web::sketch_of(words(200, "lake"));
  b.sketch = a.sketch;
  EXPECT_EQ(likeness_of(a, b), Likeness::kSame);
  b.sketch = web::sketch_of(words(200, "stone"));
  EXPECT_EQ(likeness_of(a, b), Likeness::kDiffers);
  a.sketch = b.sketch = web::sketch_of(words(10, "lake"));  // too few words to tell
  EXPECT_EQ(likeness_of(a, b), Likeness::kDiffers);

  // The content of one was the same from before the other was seen until after it.
  a = sample_with(1);
  b = sample_with(2, kNow + Duration::days(3));
  b.since = kNow - Duration::days(3);
  EXPECT_EQ(likeness_of(a, b), Likeness::kDiffers);
}

TEST(HostPair, EnoughPathsOfDifferentContentMustAgree) {
  HostPair pair("a.example", "b.example");
  for (std::uint64_t path = 1; path < kNeeded; ++path) agree_on(pair, path, path);
  agree_on(pair, 100, 1);  // nothing new
  EXPECT_FALSE(pair.agrees(kNeeded, kNow));
  agree_on(pair, 101, 101);
  EXPECT_TRUE(pair.agrees(kNeeded, kNow));
}

TEST(HostPair, NothingAgreesWhileAPathIsOpen) {
  HostPair pair("a.example", "b.example");
  for (std::uint64_t path = 1; path <= kNeeded; ++path) agree_on(pair, path, path);
  EXPECT_TRUE(pair.take(1, 50, sample_with(50), kNow));   // please visit the other
  EXPECT_FALSE(pair.take(1, 50, sample_with(50), kNow));  // that was said
  EXPECT_FALSE(pair.agrees(kNeeded, kNow));
  pair.take(0, 50, missing(), kNow);
  EXPECT_FALSE(pair.agrees(kNeeded, kNow));  // one of nine differs
  EXPECT_FALSE(pair.differs());
  for (std::uint64_t path = 51; path < 62; ++path) agree_on(pair, path, path);
  EXPECT_TRUE(pair.agrees(kNeeded, kNow));  // one of twenty
}

TEST(HostPair, AnOpenPathIsGivenUpInTheEnd) {
  HostPair pair("a.example", "b.example");
  for (std::uint64_t path = 1; path <= kNeeded; ++path) agree_on(pair, path, path);
  pair.take(0, 50, sample_with(50), kNow);
  EXPECT_FALSE(pair.agrees(kNeeded, kNow + HostPair::kOpenTime));
  EXPECT_TRUE(pair.agrees(kNeeded, kNow + HostPair::kOpenTime + Duration::seconds(1)));
}

TEST(HostPair, FewPathsAreOpenAtATime) {
  HostPair pair("a.example", "b.example");
  std::size_t asked = 0;
  for (std::uint64_t path = 1; path <= 100; ++path) {
    asked += pair.take(0, path, sample_with(path), kNow) ? 1 : 0;
  }
  EXPECT_EQ(asked, HostPair::kOpenMax);
}

TEST(HostPair, TwoPathsThatDifferPartThemForLong) {
  HostPair pair("a.example", "b.example");
  for (std::uint64_t path = 1; path <= 2; ++path) {
    pair.take(0, path, sample_with(path), kNow);
    pair.take(1, path, sample_with(path + 1000), kNow);
  }
  ASSERT_TRUE(pair.differs());
  pair.part(kNow + Duration::days(90));
  for (std::uint64_t path = 1; path <= kNeeded; ++path) agree_on(pair, path, path);
  EXPECT_FALSE(pair.agrees(kNeeded, kNow));
  pair.take_same(1, sample_with(1).digest, kNow + Duration::days(91));
  EXPECT_EQ(pair.state(), HostPair::State::kCompared);
}

TEST(HostPair, OfAnAliasOnePageIsVisitedNowAndThen) {
  HostPair pair = merged_pair();
  const Duration week = Duration::days(7);
  EXPECT_FALSE(pair.may_check(1, kNow, week));
  EXPECT_TRUE(pair.may_check(1, kNow + week, week));
  EXPECT_FALSE(pair.may_check(2, kNow + week, week));
  EXPECT_TRUE(pair.may_check(1, kNow + week, week));  // it had to wait for robots.txt
  EXPECT_FALSE(pair.may_check(1, kNow + week + Duration::days(2), week));
  EXPECT_TRUE(pair.may_check(2, kNow + week * 2, week));
}

TEST(HostPair, ChecksThatDifferThreeTimesPartThem) {
  HostPair pair = merged_pair();
  EXPECT_FALSE(pair.take(0, 1, sample_with(1), kNow));  // of the kept host
  for (std::uint64_t path = 1; path <= 3; ++path) {
    EXPECT_FALSE(pair.differs());
    EXPECT_TRUE(pair.take(1, path, sample_with(path + 1000), kNow));
    pair.take(0, path, sample_with(path), kNow);
  }
  EXPECT_TRUE(pair.differs());
}

TEST(HostPair, PagesThatAnAliasHasLostPartThemToo) {
  HostPair pair = merged_pair();
  for (std::uint64_t path = 1; path <= 3; ++path) {
    EXPECT_FALSE(pair.differs());
    EXPECT_TRUE(pair.take(1, path, missing(), kNow));
    pair.take(0, path, sample_with(path), kNow);
  }
  EXPECT_TRUE(pair.differs());
}

TEST(HostPair, ChecksThatAgreeOutweighOldOnes) {
  HostPair pair = merged_pair();
  for (std::uint64_t path = 1; path <= 100; ++path) {
    pair.take(1, path, sample_with(path % 5 == 0 ? 0 : path), kNow);
    pair.take(0, path, sample_with(path), kNow);
    EXPECT_FALSE(pair.differs()) << path;
  }
}

// Whatever is seen in whatever order, of hosts with different pages.
TEST(HostPair, DifferentSitesNeverAgreeByChance) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    env::Random random(seed);
    HostPair pair("a.example", "b.example");
    const std::uint64_t shared = random.below(kNeeded);  // pages of the same template
    const std::uint64_t pages = 20 + random.below(30);
    Instant now = kNow;
    bool has_parted = false;
    for (int i = 0; i < 400 && !has_parted; ++i) {
      now = now + Duration::minutes(static_cast<std::int64_t>(random.below(600)));
      const std::uint64_t path = random.below(pages);
      const std::size_t side = random.below(2);
      const bool is_there = path < shared || path % 2 == side || random.below(2) == 0;
      const std::uint64_t content = path < shared ? path : path * 2 + side + 1000;
      PageSample sample = is_there ? sample_with(content, now) : missing(now);
      sample.since = kNow;  // nothing ever changes
      pair.take(side, path, sample, now);
      EXPECT_FALSE(pair.agrees(kNeeded, now)) << seed;
      has_parted = pair.differs();
    }
    EXPECT_TRUE(has_parted) << seed;
  }
}

TEST(HostPair, ComesBackFromItsBytes) {
  HostPair pair = merged_pair();
  pair.take(1, 3, sample_with(9), kNow);
  HostPair read("a.example", "b.example");
  ASSERT_TRUE(read.decode(pair.encode()));
  EXPECT_EQ(read.state(), HostPair::State::kMerged);
  EXPECT_EQ(read.kept(), "a.example");
  EXPECT_EQ(read.alias(), "b.example");
  EXPECT_EQ(read.encode(), pair.encode());
  const std::string bytes = pair.encode();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    HostPair cut;
    const bool is_whole_path = length >= 44 && (length - 44) % 37 == 0;
    if (!is_whole_path) {
      EXPECT_FALSE(cut.decode(std::string_view(bytes).substr(0, length))) << length;
    }
  }
}

TEST(HostPair, WhatWasOpenIsOpenAfterARestart) {
  HostPair pair("a.example", "b.example");
  for (std::uint64_t path = 1; path <= kNeeded; ++path) agree_on(pair, path, path);
  pair.take(0, 50, sample_with(50), kNow);
  HostPair read("a.example", "b.example");
  ASSERT_TRUE(read.decode(pair.encode()));
  EXPECT_FALSE(read.agrees(kNeeded, kNow));
  agree_on(read, 50, 50);
  EXPECT_TRUE(read.agrees(kNeeded, kNow));
}

TEST(HostPair, EmbedsErrorsAndSmallBodiesAreNoEvidence) {
  const Candidate link{.url = "http://a.example/x", .via = "", .depth = 2, .offer = Offer::kLink};
  Report report;
  report.outcome = VisitOutcome::kChanged;
  report.status = 200;
  report.date = kNow;
  report.version.emplace().url = "http://b.example/x";
  fetch::Fetched fetched;
  fetched.body = std::string(600, 'x');
  const auto sample = sample_of(link, report, fetched);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->twin, "http://b.example/x");
  EXPECT_EQ(sample->depth, 2U);
  Candidate embed = link;
  embed.offer = Offer::kEmbed;
  EXPECT_FALSE(sample_of(embed, report, fetched));
  fetched.body = std::string(100, 'x');
  EXPECT_FALSE(sample_of(link, report, fetched));
  report.version.reset();
  report.outcome = VisitOutcome::kError;
  EXPECT_FALSE(sample_of(link, report, fetched));
  report.outcome = VisitOutcome::kGone;
  ASSERT_TRUE(sample_of(link, report, fetched));
  EXPECT_FALSE(sample_of(link, report, fetched)->is_there);
}

}  // namespace
}  // namespace meguri::crawl
