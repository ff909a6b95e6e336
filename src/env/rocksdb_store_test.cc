// What only RocksDB on a real disk can show: kill -9, damaged files, a full disk, its own files.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "env/ordered_store.h"
#include "env/random.h"
#include "env/testing.h"

namespace meguri::env {
namespace {

namespace fs = std::filesystem;

using base::ErrorCode;
using State = std::map<std::string, std::string>;

constexpr StoreOptions kSmall = {
    .write_buffer_bytes = 64U << 10U, .block_cache_bytes = 1U << 20U, .read_only = false};
constexpr StoreOptions kReadOnly = {
    .write_buffer_bytes = 64U << 10U, .block_cache_bytes = 1U << 20U, .read_only = true};

// The same for the same number, in any process.
StoreBatch numbered_batch(std::uint64_t number) {
  Random random(number);
  StoreBatch batch;
  batch.put("position", std::to_string(number));
  for (int i = 0; i < 5; ++i) {
    const std::string key = fmt::format("key{:03}", random.below(200));
    if (random.chance(0.2)) {
      batch.remove(key);
    } else {
      std::string value(100 + random.below(900), '\0');
      for (char& c : value) c = static_cast<char>(random.below(256));
      batch.put(key, value);
    }
  }
  return batch;
}

void change(State* state, const StoreBatch& batch) {
  for (const auto& [key, value] : batch.changes()) {
    if (value) {
      (*state)[key] = *value;
    } else {
      state->erase(key);
    }
  }
}

State state_after(std::uint64_t batches) {
  State state;
  for (std::uint64_t i = 0; i < batches; ++i) change(&state, numbered_batch(i));
  return state;
}

base::Result<State> state_of(const OrderedStore& store) {
  State state;
  const auto cursor = store.cursor();
  for (cursor->seek(""); cursor->valid(); cursor->next()) {
    state.emplace(cursor->key(), cursor->value());
  }
  RETURN_IF_ERROR(cursor->status());
  return state;
}

// How many numbered batches the store holds; the next one has that number.
std::uint64_t batches_in(const OrderedStore& store) {
  const auto position = store.get("position");
  CHECK(position, "{}", position.error().message());
  return *position ? std::stoull(**position) + 1 : 0;
}

// Writes numbered batches for ever and says the count after each flush.
void write_for_ever(const std::string& path) {
  const auto store = open_rocksdb_store(path, kSmall);
  CHECK(store, "{}", store.error().message());
  for (std::uint64_t i = batches_in(**store);; ++i) {
    CHECK((*store)->write(numbered_batch(i)));
    if (i % 37 != 0) continue;
    CHECK((*store)->flush());
    ChildProgram::say(std::to_string(i + 1));
  }
}
const ChildProgram forever_writer("rocksdb_write_for_ever", write_for_ever);

void kill_and_check(int cycles) {
  const TempDir dir;
  const std::string path = dir.path("store");
  std::uint64_t acknowledged = 0;
  for (int cycle = 0; cycle < cycles; ++cycle) {
    {
      ChildProcess child(forever_writer, path);
      for (int i = 0; i <= cycle % 5; ++i) acknowledged = std::stoull(child.read_line());
      child.kill();
    }
    const auto store = open_rocksdb_store(path, kSmall);
    ASSERT_TRUE(store) << store.error().message();
    const std::uint64_t batches = batches_in(**store);
    ASSERT_GE(batches, acknowledged);
    ASSERT_TRUE(*state_of(**store) == state_after(batches)) << batches;
  }
}

TEST(RocksDbStore, AfterKill9WholeBatchesUpToOneAtOrAfterTheLastFlushAreThere) {
  kill_and_check(5);
}

TEST(LongRocksDbStore, AfterManyKillsToo) { kill_and_check(60); }

// Writes the number of batches given behind the path, without a flush, and is gone.
void write_and_exit(const std::string& argument) {
  const std::size_t space = argument.rfind(' ');
  const std::uint64_t count = std::stoull(argument.substr(space + 1));
  const auto store = open_rocksdb_store(argument.substr(0, space), kSmall);
  CHECK(store, "{}", store.error().message());
  const std::uint64_t first = batches_in(**store);
  for (std::uint64_t i = first; i < first + count; ++i) CHECK((*store)->write(numbered_batch(i)));
  std::_Exit(0);
}
const ChildProgram exiting_writer("rocksdb_write_and_exit", write_and_exit);

TEST(RocksDbStore, AProcessThatEndsWithoutFlushLeavesWholeBatchesInOrder) {
  const TempDir dir;
  const std::string path = dir.path("store");
  std::uint64_t before = 0;
  for (const std::uint64_t count : {1ULL, 20ULL, 300ULL}) {
    ChildProcess child(exiting_writer, fmt::format("{} {}", path, count));
    ASSERT_TRUE(child.wait());
    const auto store = open_rocksdb_store(path, kSmall);
    ASSERT_TRUE(store);
    const std::uint64_t batches = batches_in(**store);
    EXPECT_GE(batches, before);
    EXPECT_LE(batches, before + count);
    // Far more than a write buffer holds was written last, so that some of it was flushed.
    EXPECT_TRUE(count < 300 || batches > before);
    ASSERT_TRUE(*state_of(**store) == state_after(batches)) << batches;
    before = batches;
  }
}

TEST(RocksDbStore, AnotherProcessIsKeptOut) {
  const TempDir dir;
  ChildProcess child(forever_writer, dir.path("store"));
  ASSERT_NE(child.read_line(), "");
  const auto store = open_rocksdb_store(dir.path("store"), kSmall);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), ErrorCode::kBusy);
  EXPECT_TRUE(store.error().message().contains(dir.path("store"))) << store.error().message();
  EXPECT_TRUE(store.error().message().contains("it is in use")) << store.error().message();
}

TEST(RocksDbStore, ReadersMayOpenBesideARunningWriter) {
  const TempDir dir;
  ChildProcess child(forever_writer, dir.path("store"));
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t acknowledged = std::stoull(child.read_line());
    const auto store = open_rocksdb_store(dir.path("store"), kReadOnly);
    ASSERT_TRUE(store) << store.error().message();
    for (int j = 0; j < 3; ++j) child.read_line();  // the writer goes on, and removes old files
    const std::uint64_t batches = batches_in(**store);
    EXPECT_GE(batches, acknowledged);
    ASSERT_TRUE(*state_of(**store) == state_after(batches)) << batches;
  }
}

void write_numbered(const std::string& path, std::uint64_t count) {
  const auto store = open_rocksdb_store(path, kSmall);
  ASSERT_TRUE(store);
  for (std::uint64_t i = 0; i < count; ++i) ASSERT_TRUE((*store)->write(numbered_batch(i)));
  ASSERT_TRUE((*store)->flush());
}

std::vector<fs::path> files_with(const std::string& dir, std::string_view part) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(dir)) {
    if (entry.path().filename().string().contains(part)) found.push_back(entry.path());
  }
  return found;
}

void flip_bit(const fs::path& path, std::uint64_t bit) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(bit / 8));
  const int byte = file.get();
  file.seekp(static_cast<std::streamoff>(bit / 8));
  file.put(static_cast<char>(byte ^ (1 << (bit % 8))));
}

// Reads everything both ways: by cursor and key by key.
base::Result<State> read_damaged(const std::string& path, const State& expected) {
  ASSIGN_OR_RETURN(const auto store, open_rocksdb_store(path, kReadOnly));
  ASSIGN_OR_RETURN(State state, state_of(*store));
  for (const auto& [key, value] : expected) {
    ASSIGN_OR_RETURN(const auto found, store->get(key));
    EXPECT_EQ(found, value);
  }
  return state;
}

TEST(RocksDbStore, FlippedBitsAreFoundOrHarmlessButNeverRead) {
  const TempDir dir;
  write_numbered(dir.path("store"), 60);
  const State expected = state_after(60);
  Random random(1);
  int found = 0;
  for (const std::string_view kind : {".sst", "MANIFEST", "CURRENT"}) {
    for (int i = 0; i < 25; ++i) {
      const fs::path copy = dir.path("copy");
      fs::remove_all(copy);
      fs::copy(dir.path("store"), copy);
      const fs::path file = files_with(copy, kind).at(0);
      const std::uint64_t bit = random.below(fs::file_size(file) * 8);
      flip_bit(file, bit);
      const auto state = read_damaged(copy, expected);
      if (state) {
        ASSERT_TRUE(*state == expected) << file << " bit " << bit;
      } else {
        ++found;
        EXPECT_TRUE(state.error().code() == ErrorCode::kCorrupt ||
                    state.error().code() == ErrorCode::kNotFound ||
                    state.error().code() == ErrorCode::kUnsupported ||
                    state.error().code() == ErrorCode::kIo)
            << state.error().message();
      }
    }
  }
  EXPECT_GT(found, 30);
}

TEST(RocksDbStore, DamagedDataIsCorruptAndNamesTheStore) {
  const TempDir dir;
  const std::string path = dir.path("store");
  write_numbered(path, 60);
  flip_bit(files_with(path, ".sst").at(0), 8000);
  const auto store = open_rocksdb_store(path, kSmall);
  ASSERT_TRUE(store);
  const auto state = state_of(**store);
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().code(), ErrorCode::kCorrupt);
  EXPECT_TRUE(state.error().message().contains(path)) << state.error().message();
}

TEST(RocksDbStore, CheckFindsEveryFlippedBitOfATable) {
  const TempDir dir;
  const std::string path = dir.path("store");
  write_numbered(path, 60);
  const fs::path table = files_with(path, ".sst").at(0);
  const std::uint64_t bits = fs::file_size(table) * 8;
  for (std::uint64_t bit = 0; bit < bits; bit += bits / 97) {
    // Where a store is opened with is damaged, opening says so.
    flip_bit(table, bit);
    const auto store = open_rocksdb_store(path, kReadOnly);
    const auto status = store ? (*store)->check() : std::unexpected(store.error());
    ASSERT_FALSE(status) << bit;
    EXPECT_EQ(status.error().code(), ErrorCode::kCorrupt) << status.error().message();
    flip_bit(table, bit);
  }
  EXPECT_TRUE((*open_rocksdb_store(path, kReadOnly))->check());
}

TEST(RocksDbStore, CheckBearsAWriterThatGoesOn) {
  const TempDir dir;
  ChildProcess child(forever_writer, dir.path("store"));
  for (int i = 0; i < 5; ++i) {
    ASSERT_NE(child.read_line(), "");
    const auto store = open_rocksdb_store(dir.path("store"), kReadOnly);
    ASSERT_TRUE(store) << store.error().message();
    for (int j = 0; j < 3; ++j) child.read_line();  // old files are merged away
    EXPECT_TRUE((*store)->check());
  }
}

TEST(RocksDbStore, IsRemovedWholeOrDamaged) {
  const TempDir dir;
  const std::string path = dir.path("store");
  write_numbered(path, 60);
  ASSERT_TRUE(remove_rocksdb_store(path));
  EXPECT_FALSE(fs::exists(path));
  write_numbered(path, 60);
  std::ofstream(path + "/CURRENT") << "nonsense";
  ASSERT_TRUE(remove_rocksdb_store(path));
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(remove_rocksdb_store(path)) << "what is not there is removed";
}

// Writes until a file grows beyond its limit, as on a full disk.
void fill(const std::string& path) {
  std::signal(SIGXFSZ, SIG_IGN);
  const auto store = open_rocksdb_store(path, kSmall);
  CHECK(store, "{}", store.error().message());
  CHECK((*store)->write(numbered_batch(0)) && (*store)->flush());
  const rlimit limit{20'000, 20'000};
  CHECK(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  base::Status status;
  for (std::uint64_t i = 1; status && i < 1000; ++i) {
    status = (*store)->write(numbered_batch(i));
    if (status && i % 50 == 0) status = (*store)->flush();
  }
  CHECK(!status && status.error().code() == ErrorCode::kNoSpace, "{}",
        status ? "no failure" : status.error().message());
  // It stays so: nothing is tried again behind our back.
  CHECK(!(*store)->flush());
  ChildProgram::say("full");
  std::_Exit(0);
}
const ChildProgram filler("rocksdb_fill", fill);

TEST(RocksDbStore, AFullDiskIsNoSpaceAndLosesNothingFlushed) {
  const TempDir dir;
  ChildProcess child(filler, dir.path("store"));
  EXPECT_EQ(child.read_line(), "full");
  EXPECT_TRUE(child.wait());
  const auto store = open_rocksdb_store(dir.path("store"), kSmall);
  ASSERT_TRUE(store) << store.error().message();
  const std::uint64_t batches = batches_in(**store);
  EXPECT_GE(batches, 1);
  EXPECT_TRUE(*state_of(**store) == state_after(batches));
}

TEST(RocksDbStore, ReadingWhatIsNotThereChangesNothing) {
  const TempDir dir;
  const auto store = open_rocksdb_store(dir.path("none"), kReadOnly);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), ErrorCode::kNotFound) << store.error().message();
  EXPECT_FALSE(fs::exists(dir.path("none")));
}

TEST(RocksDbStore, ReadingLeavesTheFilesAsTheyAre) {
  const TempDir dir;
  const std::string path = dir.path("store");
  write_numbered(path, 10);
  const auto listing = [&] {
    std::map<std::string, std::pair<std::uintmax_t, fs::file_time_type>> files;
    for (const auto& entry : fs::directory_iterator(path)) {
      files[entry.path()] = {entry.file_size(), entry.last_write_time()};
    }
    return files;
  };
  const auto before = listing();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(open_rocksdb_store(path, kReadOnly));
  EXPECT_TRUE(listing() == before);
}

TEST(RocksDbStore, AFileInItsPlaceIsAClearError) {
  const TempDir dir;
  std::ofstream(dir.path("store")) << "x";
  const auto store = open_rocksdb_store(dir.path("store"), kSmall);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), ErrorCode::kExists);
}

TEST(RocksDbStore, ItsLogsAndWorkersAreBounded) {
  const TempDir dir;
  const std::string path = dir.path("store");
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(open_rocksdb_store(path, kSmall));
  EXPECT_LE(files_with(path, "LOG").size(), 3);
  const auto store = open_rocksdb_store(path, kSmall);
  ASSERT_TRUE(store);
  for (std::uint64_t i = 0; i < 300; ++i) ASSERT_TRUE((*store)->write(numbered_batch(i)));
  ASSERT_TRUE((*store)->flush());
  const auto threads = std::distance(fs::directory_iterator("/proc/self/task"), {});
  EXPECT_LE(threads, 8);
}

TEST(RocksDbStore, ReadersSeeWholeBatchesWhileOneWrites) {
  const TempDir dir;
  const auto store = open_rocksdb_store(dir.path("store"), kSmall);
  ASSERT_TRUE(store);
  constexpr int kBatches = 300;
  std::vector<std::jthread> readers;
  readers.reserve(4);
  for (int t = 0; t < 2; ++t) {
    readers.emplace_back([&] {
      std::string last;
      while (last != std::to_string(kBatches)) {
        const auto state = state_of(**store);
        ASSERT_TRUE(state);
        if (state->empty()) continue;
        ASSERT_EQ(state->at("a"), state->at("b"));
        last = state->at("a").substr(0, state->at("a").find(' '));
      }
    });
  }
  for (int i = 1; i <= kBatches; ++i) {
    const std::string value = std::to_string(i) + " " + std::string(1000, 'x');
    StoreBatch batch;
    batch.put("a", value);
    batch.put("b", value);
    ASSERT_TRUE((*store)->write(batch));
  }
}

}  // namespace
}  // namespace meguri::env
