#include "env/overlay_ordered_store.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "env/memory_ordered_store.h"
#include "env/random.h"

namespace meguri::env {
namespace {

using Map = std::map<std::string, std::string>;

std::string any_key(Random& random) {
  std::string key;
  for (std::uint64_t i = random.below(4); i > 0; --i) {
    key += static_cast<char>('a' + random.below(3));
  }
  return key;
}

StoreBatch any_batch(Random& random, Map& map) {
  StoreBatch batch;
  for (std::uint64_t i = random.below(30); i > 0; --i) {
    const std::string key = any_key(random);
    if (random.below(3) == 0) {
      batch.remove(key);
      map.erase(key);
    } else {
      const std::string value = std::to_string(random.below(1000));
      batch.put(key, value);
      map[key] = value;
    }
  }
  return batch;
}

// Moves both the same way, many times.
void walk(StoreCursor& cursor, const Map& map, Random& random) {
  auto at = map.end();
  const auto back = [&] { at = at == map.begin() ? map.end() : std::prev(at); };
  for (int i = 0; i < 200; ++i) {
    const std::string key = any_key(random);
    const std::uint64_t move = random.below(at == map.end() ? 3 : 9);
    if (move == 0) {
      cursor.seek(key);
      at = map.lower_bound(key);
    } else if (move == 1) {
      cursor.seek_for_prev(key);
      at = map.upper_bound(key);
      back();
    } else if (move == 2) {
      cursor.seek_last();
      at = map.end();
      back();
    } else if (move < 6) {
      cursor.next();
      ++at;
    } else {
      cursor.prev();
      back();
    }
    ASSERT_EQ(cursor.valid(), at != map.end());
    if (at == map.end()) continue;
    ASSERT_EQ(cursor.key(), at->first);
    ASSERT_EQ(cursor.value(), at->second);
  }
}

TEST(OverlayOrderedStore, ReadsAsTheStoreBelowWithItsChanges) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    MemoryStoreDisk disk;
    Map map;
    {
      const auto below = disk.open().value();
      ASSERT_TRUE(below->write(any_batch(random, map)));
      ASSERT_TRUE(below->flush());
    }
    const Map map_below = map;
    const auto store = make_overlay_store(disk.open({.read_only = true}).value());
    const auto old_cursor = store->cursor();
    const std::uint64_t batches = random.below(4);
    for (std::uint64_t i = 0; i < batches; ++i) ASSERT_TRUE(store->write(any_batch(random, map)));
    const auto cursor = store->cursor();
    ASSERT_NO_FATAL_FAILURE(walk(*cursor, map, random));
    ASSERT_NO_FATAL_FAILURE(walk(*old_cursor, map_below, random)) << "made before the changes";
    Map later = map;
    ASSERT_TRUE(store->write(any_batch(random, later)));
    ASSERT_NO_FATAL_FAILURE(walk(*cursor, map, random)) << "made before the last change";
    for (int i = 0; i < 30; ++i) {
      const std::string key = any_key(random);
      const auto value = store->get(key).value();
      const auto found = later.find(key);
      ASSERT_EQ(value.has_value(), found != later.end());
      if (value) {
        ASSERT_EQ(*value, found->second);
      }
    }
    ASSERT_TRUE(store->flush());
  }
}

}  // namespace
}  // namespace meguri::env
