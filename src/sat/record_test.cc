#include "sat/record.h"

#include <gtest/gtest.h>

#include <string>

#include "env/random.h"

namespace meguri::sat {
namespace {

using base::Instant;

std::string text_of(env::Random& random, std::size_t size) {
  std::string text(size, ' ');
  for (char& c : text) c = static_cast<char>('a' + random.below(4));
  return text;
}

TEST(DueTime, IsRoundedUpToTheSecond) {
  EXPECT_EQ(DueTime::of(Instant::from_ms(5000)).seconds, 5U);
  EXPECT_EQ(DueTime::of(Instant::from_ms(5001)).seconds, 6U);
  EXPECT_EQ(DueTime::of(Instant::from_ms(-1)).seconds, 0U);
  EXPECT_EQ(DueTime::of(Instant::max()).seconds, 0xffff'ffffU);
}

TEST(Record, IsReadBackAsItWasWritten) {
  env::Random random(1);
  std::string bytes;
  std::vector<std::string> bodies;
  std::vector<Record> records;
  bodies.reserve(100);
  for (std::size_t i = 0; i < 100; ++i) {
    bodies.push_back(text_of(random, i * i));
    const auto seq = static_cast<Seq>(random.next());
    records.push_back({.id = {random.next(), random.next()},
                       .seq = seq,
                       .generation = static_cast<std::uint32_t>(random.next() >> (32 + i % 32)),
                       .due = {static_cast<std::uint32_t>(random.next())},
                       .schema = static_cast<std::uint8_t>(i),
                       .body = bodies.back()});
    const std::size_t before = bytes.size();
    append(records.back(), bytes);
    EXPECT_EQ(bytes.size() - before, encoded_size(records.back()));
  }
  std::string_view rest = bytes;
  for (const Record& record : records) {
    Record read;
    ASSERT_TRUE(take(rest, read));
    EXPECT_EQ(read, record);
  }
  Record read;
  EXPECT_FALSE(take(rest, read));
  EXPECT_TRUE(rest.empty());
}

TEST(Record, ThatIsCutIsNotTaken) {
  std::string bytes;
  append({.id = {1, 2}, .seq = 3, .generation = 400, .due = {5}, .schema = 6, .body = "body"},
         bytes);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    std::string_view cut(bytes.data(), size);
    Record read;
    EXPECT_FALSE(take(cut, read)) << size;
    EXPECT_EQ(cut.size(), size);
  }
}

TEST(Difference, MakesTheNewOfTheOldAndIsSmallWhereLittleChanged) {
  env::Random random(2);
  for (int i = 0; i < 20'000; ++i) {
    const std::string before = text_of(random, random.below(200));
    std::string now = before;
    for (auto n = random.below(4); n > 0; --n) {
      switch (random.below(4)) {
        case 0: now.insert(random.below(now.size() + 1), text_of(random, random.below(20))); break;
        case 1: now.erase(random.below(now.size() + 1), random.below(20)); break;
        case 2: now = text_of(random, random.below(100)); break;
        default:
          if (!now.empty()) now[random.below(now.size())] = '!';
      }
    }
    std::string bytes;
    append_difference(before, now, bytes);
    EXPECT_LE(bytes.size(), now.size() + 16);
    std::string made = "rest of before";
    ASSERT_TRUE(apply_difference(before, bytes, made));
    ASSERT_EQ(made, now);
  }
  std::string bytes;
  std::string before(164, 'x');
  std::string now = before;
  now.replace(80, 8, "12345678");
  append_difference(before, now, bytes);
  EXPECT_LE(bytes.size(), 16U);
}

TEST(Difference, ThatIsNoneIsRefused) {
  env::Random random(3);
  const std::string before = text_of(random, 100);
  std::string good;
  append_difference(before, text_of(random, 90), good);
  std::string made;
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(apply_difference(before, std::string_view(good).substr(0, size), made)) << size;
  }
  EXPECT_FALSE(apply_difference(before, good + "x", made));
  for (int i = 0; i < 20'000; ++i) {  // whatever it is, nothing is read beyond its end
    std::string bad = good;
    bad[random.below(bad.size())] = static_cast<char>(random.next());
    (void)apply_difference(std::string(before.substr(0, random.below(100))), bad, made);
  }
}

// Ends that differ at any distance, so that every way of comparing them is taken.
TEST(Difference, FindsWhereTheEqualEndBegins) {
  for (std::size_t size = 0; size < 40; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      const std::string before(size, 'a');
      std::string now = before;
      now[at] = 'b';
      std::string difference;
      append_difference(before, now, difference);
      std::string again;
      ASSERT_TRUE(apply_difference(before, difference, again));
      EXPECT_EQ(again, now);
      EXPECT_LE(difference.size(), 6U);
    }
  }
}

}  // namespace
}  // namespace meguri::sat
