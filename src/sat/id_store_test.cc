#include "sat/id_store.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "env/memory_file_system.h"
#include "env/random.h"

namespace meguri::sat {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kStart = Instant::from_ms(1'767'225'600'000);  // 2026-01-01

IdStoreOptions small() {
  IdStoreOptions options;
  options.store.layout = TimeLayout::decode("1000x60,10000x60,60000x100").value();
  options.store.page_bytes = 256;
  options.store.pool_bytes = std::size_t{100} << 10U;
  options.store.log_bytes_max = 20'000;
  options.known.cache_bytes = 4096;
  options.known.batch_min = 64;
  options.known.fresh_min = 32;
  return options;
}

base::Id id_of(std::uint64_t n) { return {base::mix64(n), n}; }

// Additions, messages, pulls and removals by id, and restarts at what was committed last.
TEST(IdStore, FindsByIdWhatAMapHas) {
  struct Page {
    std::string body;
    std::size_t messages = 0;
  };
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    env::Random random(seed);
    env::MemoryFileSystem files;
    std::map<std::uint64_t, Page> pages;
    std::map<std::uint64_t, Page> committed;
    std::string position;
    std::uint64_t next = 0;
    for (int life = 0; life < 10; ++life) {
      auto opened = IdStore::open(files, "/store", small(), position, kStart);
      ASSERT_TRUE(opened) << opened.error().message();
      IdStore& store = **opened;
      for (int step = 0; step < 400; ++step) {
        const std::uint64_t n = random.below(next + 1);
        const base::Id id = id_of(n);
        const auto known = pages.find(n);
        switch (random.below(8)) {
          case 0:
          case 1:
          case 2: {
            const std::string body(random.below(50), 'x');
            const base::Id fresh = id_of(next);
            if (random.below(2) == 0) {
              ASSERT_TRUE(store.add(fresh, 1, body, kStart + Duration::hours(1)));
            } else {
              const auto record = store.add_out(fresh, 1, body);
              ASSERT_TRUE(record);
              ASSERT_TRUE(store.store().reschedule(*record, 1, body, kStart + Duration::hours(1)));
            }
            pages[next++] = {body};
            break;
          }
          case 3: {
            const auto sent = store.send(id, "m");
            ASSERT_EQ(sent.has_value(), known != pages.end());
            if (!sent) {
              EXPECT_EQ(sent.error().code(), base::ErrorCode::kNotFound);
            } else {
              ++known->second.messages;
            }
            break;
          }
          case 4: {
            const bool is_known = known != pages.end();
            ASSERT_EQ(store.pull(id, kStart + Duration::minutes(1)).has_value(), is_known);
            break;
          }
          case 5:
            if (random.below(4) > 0) break;
            ASSERT_EQ(store.remove(id).has_value(), known != pages.end());
            pages.erase(n);
            break;
          case 6: {
            const auto found = store.find(id);
            ASSERT_TRUE(found) << found.error().message();
            ASSERT_EQ(found->has_value(), known != pages.end());
            if (!*found) break;
            EXPECT_EQ((*found)->body, known->second.body);
            EXPECT_EQ((*found)->record.id, id);
            break;
          }
          default: {
            if (random.below(4) > 0) break;
            const auto done = store.commit();
            ASSERT_TRUE(done) << done.error().message();
            position = *done;
            committed = pages;
            ASSERT_TRUE(store.on_durable());
          }
        }
      }
      if (position.empty()) continue;
      pages = committed;
      opened->reset();
      files.restart();
    }
    const auto opened = IdStore::open(files, "/store", small(), position, kStart);
    ASSERT_TRUE(opened);
    std::size_t came = 0;
    for (;;) {
      const auto due = (*opened)->store().next_due(kStart + Duration::hours(2));
      ASSERT_TRUE(due) << due.error().message();
      if (!*due) break;
      const auto page = pages.find((*due)->record.id.low);
      ASSERT_NE(page, pages.end());
      EXPECT_EQ((*due)->record.body, page->second.body);
      EXPECT_EQ((*due)->messages.size(), page->second.messages);
      ++came;
    }
    EXPECT_EQ(came, pages.size());
    EXPECT_GT(came, 20U);
  }
}

TEST(IdStore, RefusesAPositionThatIsNone) {
  env::MemoryFileSystem files;
  for (const char* position : {"x", "1 2", "1 2 1000x60", "\n", "a\nb"}) {
    const auto opened = IdStore::open(files, "/store", small(), position, kStart);
    ASSERT_FALSE(opened) << position;
  }
}

}  // namespace
}  // namespace meguri::sat
