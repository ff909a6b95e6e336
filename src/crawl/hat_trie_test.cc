#include "crawl/hat_trie.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "crawl/host_key.h"
#include "env/random.h"
#include "flow/codec.h"

namespace meguri::crawl {
namespace {

using Pairs = std::vector<std::pair<std::string, std::uint32_t>>;

Pairs all_of(const HatTrie& trie, std::string_view prefix = {}) {
  Pairs pairs;
  trie.for_each(prefix, [&](std::string_view key, std::uint32_t value) {
    pairs.emplace_back(key, value);
    return true;
  });
  return pairs;
}

// How keys of one test look: over which bytes, how long, how much they share.
struct Shape {
  std::uint64_t letters;
  std::uint64_t length_max;
  std::string common;
};

Shape shape_of(env::Random& random) {
  Shape shape;
  shape.letters = random.chance(0.5) ? random.between(1, 4) : 256;
  shape.length_max = random.between(1, shape.letters == 1 ? 1500 : 12);
  if (random.chance(0.3)) shape.common.assign(random.below(700), 'x');
  return shape;
}

std::string key_of(env::Random& random, const Shape& shape) {
  const std::uint64_t share = random.below(10);
  std::string key = share < 8 ? shape.common : shape.common.substr(0, share);
  const std::uint64_t length = random.below(shape.length_max + 1);
  for (std::uint64_t i = 0; i < length; ++i) {
    key.push_back(static_cast<char>(random.below(shape.letters)));
  }
  return key;
}

void expect_same(const HatTrie& trie, const std::map<std::string, std::uint32_t>& model) {
  ASSERT_EQ(trie.size(), model.size());
  ASSERT_EQ(all_of(trie), Pairs(model.begin(), model.end()));
  const auto copy = HatTrie::decode(trie.encode());
  ASSERT_TRUE(copy);
  ASSERT_EQ(all_of(*copy), Pairs(model.begin(), model.end()));
}

TEST(HatTrie, IsAnOrderedMap) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    env::Random random(seed);
    const Shape shape = shape_of(random);
    HatTrie trie;
    std::map<std::string, std::uint32_t> model;
    const double erasing = random.chance(0.5) ? 0.05 : 0.5;
    for (int step = 0; step < 2500; ++step) {
      const std::string key = key_of(random, shape);
      if (random.chance(erasing)) {
        ASSERT_EQ(trie.erase(key), model.erase(key) > 0) << "seed " << seed;
      } else if (random.chance(0.6)) {
        const auto value = static_cast<std::uint32_t>(random.next());
        ASSERT_EQ(trie.put(key, value), model.insert_or_assign(key, value).second);
      }
      const std::string asked = key_of(random, shape);
      const auto at = model.find(asked);
      ASSERT_EQ(trie.get(asked), at == model.end() ? std::nullopt : std::optional(at->second));
    }
    ASSERT_NO_FATAL_FAILURE(expect_same(trie, model)) << "seed " << seed;
    for (const auto& [key, value] : model) ASSERT_TRUE(trie.erase(key));
    ASSERT_EQ(trie.size(), 0U);
    ASSERT_EQ(trie.used_bytes(), 0U) << "seed " << seed;
  }
}

TEST(HatTrie, WalksWhatBeginsWithAPrefix) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    env::Random random(seed);
    const Shape shape = shape_of(random);
    HatTrie trie;
    std::map<std::string, std::uint32_t> model;
    for (std::uint32_t i = 0; i < 3000; ++i) {
      const std::string key = key_of(random, shape);
      trie.put(key, i);
      model[key] = i;
    }
    for (int i = 0; i < 40; ++i) {
      const std::string prefix = key_of(random, shape).substr(0, random.below(8));
      Pairs expected;
      for (const auto& [key, value] : model) {
        if (key.starts_with(prefix)) expected.emplace_back(key, value);
      }
      ASSERT_EQ(all_of(trie, prefix), expected) << "seed " << seed;
    }
  }
}

TEST(HatTrie, EndsAWalkWhenAsked) {
  HatTrie trie;
  for (std::uint32_t i = 0; i < 5000; ++i) trie.put(std::to_string(i), i);
  std::size_t seen = 0;
  trie.for_each([&](std::string_view, std::uint32_t) { return ++seen < 700; });
  EXPECT_EQ(seen, 700U);
}

TEST(HatTrie, TakesTheEmptyKeyAndTheLongestOnes) {
  HatTrie trie;
  std::map<std::string, std::uint32_t> model;
  for (std::uint32_t i = 0; i < 600; ++i) {
    std::string key(i == 0 ? 0 : HatTrie::kKeyBytesMax - i % 5, 'a');
    for (std::size_t at = 0; at < 4 && at < key.size(); ++at) {
      key[key.size() - 1 - at] = static_cast<char>(i >> (4 * at) & 15U);
    }
    EXPECT_EQ(trie.put(key, i), model.emplace(key, i).second);
  }
  expect_same(trie, model);
  EXPECT_EQ(trie.get(""), 0U);
  EXPECT_TRUE(trie.erase(""));
  EXPECT_FALSE(trie.get(""));
}

TEST(HatTrie, TakesLittleMoreThanItsKeys) {
  HatTrie trie;
  std::size_t bytes = 0;
  for (std::uint32_t i = 0; i < 400'000; ++i) {
    const std::string name = fmt::format("www.shop{:x}.co.jp", base::mix64(i) >> 24U);
    const std::string key = host_key(name);
    if (trie.put(key, i)) bytes += key.size();
  }
  EXPECT_LT(trie.memory_bytes(), bytes * 11 / 10 + 4 * trie.size());
}

TEST(HatTrie, MovesWhatItHas) {
  HatTrie trie;
  trie.put("a", 1);
  HatTrie other(std::move(trie));
  EXPECT_EQ(other.get("a"), 1U);
  HatTrie third;
  third.put("b", 2);
  third = std::move(other);
  EXPECT_EQ(third.get("a"), 1U);
}

TEST(HatTrie, RefusesDamagedBytes) {
  HatTrie trie;
  for (std::uint32_t i = 0; i < 20; ++i) trie.put("com,host" + std::to_string(i), i);
  const std::string bytes = trie.encode();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(HatTrie::decode(damaged));
    EXPECT_FALSE(HatTrie::decode(bytes.substr(0, i)));
  }
  EXPECT_TRUE(HatTrie::decode(HatTrie().encode()));
}

// Bytes with a right checksum, as one key after another.
std::string encoded(const std::vector<std::pair<std::uint16_t, std::string>>& keys) {
  std::string out;
  flow::put_fixed(out, std::uint32_t{0x5448474d});
  flow::put_fixed(out, std::uint32_t{1});
  flow::put_fixed(out, std::uint64_t{keys.size()});
  for (const auto& [common, end] : keys) {
    flow::put_fixed(out, common);
    flow::put_fixed(out, static_cast<std::uint16_t>(end.size()));
    out += end;
    flow::put_fixed(out, std::uint32_t{7});
  }
  flow::put_fixed(out, base::hash64(out));
  return out;
}

TEST(HatTrie, RefusesKeysOutOfOrder) {
  EXPECT_TRUE(HatTrie::decode(encoded({{0, "ab"}, {1, "c"}, {2, "x"}})));
  EXPECT_FALSE(HatTrie::decode(encoded({{0, "ab"}, {0, "ac"}}))) << "shares one";
  EXPECT_FALSE(HatTrie::decode(encoded({{0, "ab"}, {1, "a"}})));
  EXPECT_FALSE(HatTrie::decode(encoded({{0, "ab"}, {2, ""}})));
  EXPECT_FALSE(HatTrie::decode(encoded({{0, "ab"}, {3, "x"}})));
  EXPECT_FALSE(HatTrie::decode(encoded({{0, std::string(HatTrie::kKeyBytesMax + 1, 'a')}})));
}

TEST(HostKey, PutsTheDomainFirst) {
  EXPECT_EQ(host_key("www.u-tokyo.ac.jp"), "jp,ac,u-tokyo,www");
  EXPECT_EQ(host_key("localhost"), "localhost");
  EXPECT_EQ(host_key("example.com."), ",com,example");
  EXPECT_EQ(host_key("192.0.2.1"), ".192.0.2.1");
  EXPECT_EQ(host_key("[2001:db8::1]"), ".[2001:db8::1]");
  EXPECT_EQ(host_key(""), "");
}

TEST(HostKey, IsDifferentForDifferentHosts) {
  env::Random random(1);
  std::set<std::string> hosts;
  std::set<std::string> keys;
  for (int i = 0; i < 20'000; ++i) {
    std::string host;
    const std::uint64_t length = random.below(7);
    for (std::uint64_t at = 0; at < length; ++at) host.push_back("ab.,1["[random.below(6)]);
    EXPECT_EQ(host_of_key(host_key(host)), host);
    hosts.insert(host);
    keys.insert(host_key(host));
  }
  EXPECT_EQ(hosts.size(), keys.size());
}

}  // namespace
}  // namespace meguri::crawl
