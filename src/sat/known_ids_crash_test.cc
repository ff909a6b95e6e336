// What becomes of known ids when the machine, the disk or its bytes fail.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "env/crash_points.h"
#include "env/faulty_file_system.h"
#include "env/memory_file_system.h"
#include "env/random.h"
#include "sat/known_ids.h"
#include "sat/known_ids_testing.h"

namespace meguri::sat {
namespace {

using base::ErrorCode;
using base::Id;

// --- Against the plainest thing that does the same.

class Work {
 public:
  Work(env::FileSystem& files, const KnownIdsOptions& options, std::uint64_t seed)
      : files_(files), options_(options), random_(seed) {}

  base::Status open() {
    ASSIGN_OR_RETURN(known_, KnownIds::open(files_, kDir, options_, position_));
    return {};
  }

  base::Status step() {
    const Id id = draw();
    switch (random_.below(16)) {
      case 0:
      case 1:
      case 2:
      case 3: return add(id);
      case 4:
        if (random_.below(3) != 0) return {};
        RETURN_IF_ERROR(known_->remove(id));
        model_.erase(id);
        return {};
      case 5: {
        ASSIGN_OR_RETURN(const auto seq, known_->find(id));
        check(id, seq.has_value(), seq.value_or(0));
        return {};
      }
      case 6: return answer(random_.below(30));
      case 7:
        if (random_.below(10) == 0) known_->settle();
        return {};
      case 8: return random_.below(20) == 0 ? commit() : base::Status();
      default:
        if (const auto answer = known_->ask(id, tags_.size())) {
          check(id, answer->is_known, answer->seq);
          return {};
        }
        tags_.push_back(id);
        ++waiting_;
        return {};
    }
  }

  base::Status commit() {
    ASSIGN_OR_RETURN(const std::string position, known_->commit());
    position_ = position;
    committed_ = model_;
    return random_.below(3) == 0 ? base::Status() : known_->on_durable();
  }

  void lose() {
    known_.reset();
    model_ = committed_;
    tags_.clear();
    waiting_ = 0;
  }

  // Whatever waits is answered, and every id that can be drawn is as it should be.
  base::Status check_all() {
    known_->settle();
    RETURN_IF_ERROR(answer(~std::uint64_t{0}));
    known_->settle();
    RETURN_IF_ERROR(answer(~std::uint64_t{0}));
    EXPECT_EQ(waiting_, 0);
    for (std::uint64_t i = 0; i < kIds; ++i) {
      ASSIGN_OR_RETURN(const auto seq, known_->find(id_at(i)));
      check(id_at(i), seq.has_value(), seq.value_or(0));
    }
    return {};
  }

  const KnownIds& known() const { return *known_; }

 private:
  static constexpr std::uint64_t kIds = 1500;

  // Some share their first half.
  static Id id_at(std::uint64_t i) { return {base::mix64(i / 3), base::mix64(i)}; }
  Id draw() { return id_at(random_.below(std::uint64_t{1} << random_.below(11)) % kIds); }

  base::Status add(const Id& id) {
    const auto seq = static_cast<Seq>(random_.below(1'000'000));
    RETURN_IF_ERROR(known_->add(id, seq));
    model_[id] = seq;
    return {};
  }

  base::Status answer(std::uint64_t most) {
    for (; most > 0; --most) {
      ASSIGN_OR_RETURN(const auto answer, known_->next_answer());
      if (!answer) return {};
      const Id id = tags_[answer->tag];
      check(id, answer->is_known, answer->seq);
      --waiting_;
      if (!answer->is_known && random_.below(2) == 0) RETURN_IF_ERROR(add(id));
    }
    return {};
  }

  void check(const Id& id, bool is_known, Seq seq) {
    const auto found = model_.find(id);
    ASSERT_EQ(is_known, found != model_.end());
    if (is_known) {
      ASSERT_EQ(seq, found->second);
    }
  }

  env::FileSystem& files_;
  const KnownIdsOptions options_;
  env::Random random_;
  std::unique_ptr<KnownIds> known_;
  std::map<Id, Seq> model_;
  std::map<Id, Seq> committed_;
  std::vector<Id> tags_;
  int waiting_ = 0;
  std::string position_;
};

TEST(KnownIds, DoWhatAMapDoesOverAllRestarts) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    env::MemoryFileSystem files;
    env::Random random(seed);
    KnownIdsOptions options = small();
    options.filter_bits = seed % 2 == 0 ? 7 : 1;
    Work work(files, options, seed);
    ASSERT_TRUE(work.open());
    ASSERT_TRUE(work.commit());
    std::uint64_t merges = 0;
    for (int life = 0; life < 8; ++life) {
      for (auto n = random.below(6000); n > 0; --n) {
        const base::Status status = work.step();
        ASSERT_TRUE(status) << status.error().message();
        if (HasFailure()) FAIL() << "in life " << life;
      }
      merges += work.known().counts().merges;
      if (random.below(2) == 0) {
        ASSERT_TRUE(work.commit());
      }
      work.lose();
      if (random.below(2) == 0) {
        files.crash(&random);
      } else {
        files.restart();
      }
      base::Status status = work.open();
      ASSERT_TRUE(status) << status.error().message();
      status = work.check_all();
      ASSERT_TRUE(status) << status.error().message();
      if (HasFailure()) FAIL() << "after life " << life;
    }
    EXPECT_GT(merges, 10U);
  }
}

// The power is cut at any change of the disk, again and again.
TEST(KnownIds, LoseNothingThatWasCommittedWhereverThePowerIsCut) {
  env::Random cuts(5);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    env::FaultyFileSystem files(seed);
    Work work(files, small(), seed);
    ASSERT_TRUE(work.open());
    ASSERT_TRUE(work.commit());
    for (int life = 0; life < 6; ++life) {
      files.cut_power_after(cuts.below(80));
      base::Status status;
      for (int i = 0; i < 20'000 && status && !files.power_is_off(); ++i) status = work.step();
      work.lose();
      files.crash(&cuts);
      status = work.open();
      ASSERT_TRUE(status) << status.error().message();
      status = work.check_all();
      ASSERT_TRUE(status) << status.error().message();
      if (HasFailure()) FAIL() << "after life " << life;
    }
  }
}

// One workload, cut at each of its changes in turn: adding, removing, committing, and opening.
TEST(KnownIds, AreThereAfterACutAtEachChange) {
  std::string position;
  std::map<Id, Seq> committed;
  const auto work = [&](env::FaultyFileSystem& files) {
    auto known = KnownIds::open(files, kDir, small(), position);
    std::map<Id, Seq> model = committed;
    for (Seq round = 0; known && round < 6; ++round) {
      for (Seq i = 0; i < 30; ++i) {
        const Seq seq = 1000 * round + i;
        if (!(*known)->add(id_of(seq), seq)) return;
        model[id_of(seq)] = seq;
      }
      if (!(*known)->remove(id_of(1000 * (round / 2)))) return;
      model.erase(id_of(1000 * (round / 2)));
      const auto now = (*known)->commit();
      if (!now) return;
      position = *now;
      committed = model;
      if (!(*known)->on_durable()) return;
    }
  };
  const std::uint64_t changes = env::for_each_crash_point(
      {},
      [&](env::FaultyFileSystem& files) {
        position.clear();
        committed.clear();
        auto known = open_at(files, "");
        for (Seq i = 0; i < 25; ++i) {
          ASSERT_TRUE(known->add(id_of(90'000 + i), i));
          committed[id_of(90'000 + i)] = i;
        }
        position = known->commit().value();
      },
      work,
      [&](env::FaultyFileSystem& files, env::CrashPoint point) {
        SCOPED_TRACE(point.change);
        const auto known = open_at(files, position);
        ASSERT_NE(known, nullptr);
        for (const auto& [id, seq] : committed) ASSERT_EQ(seq_of(*known, id), seq);
        for (Seq i = 0; i < 6000; i += i % 1000 == 31 ? 969 : 1) {
          if (!committed.contains(id_of(i))) {
            ASSERT_EQ(seq_of(*known, id_of(i)), std::nullopt) << i;
          }
        }
      });
  EXPECT_GT(changes, 40U);
}

TEST(KnownIds, FailClearlyOnAFullDiskAndOpenAgain) {
  for (std::uint64_t room = 0; room < 20'000; room += 977) {
    SCOPED_TRACE(room);
    env::MemoryFileSystem files;
    auto known = open_at(files, "");
    for (Seq i = 0; i < 100; ++i) ASSERT_TRUE(known->add(id_of(i), i));
    const std::string position = known->commit().value();
    ASSERT_TRUE(known->on_durable());
    files.set_capacity(files.used() + room);
    base::Status status;
    for (Seq i = 100; status && i < 5000; ++i) status = known->add(id_of(i), i);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code(), ErrorCode::kNoSpace);
    EXPECT_NE(status.error().message().find(kDir), std::string::npos) << status.error().message();
    const auto after = known->commit();
    ASSERT_FALSE(after);
    EXPECT_EQ(after.error().code(), ErrorCode::kNoSpace);
    EXPECT_NE(after.error().message().find("opened again"), std::string::npos);
    known.reset();
    // What nobody needs is removed, so that opening makes room by itself.
    known = open_at(files, position);
    ASSERT_NE(known, nullptr);
    for (Seq i = 0; i < 100; ++i) ASSERT_EQ(seq_of(*known, id_of(i)), i);
    for (Seq i = 100; i < 200; ++i) ASSERT_EQ(seq_of(*known, id_of(i)), std::nullopt);
    files.set_capacity(std::uint64_t{1} << 30U);
    ASSERT_TRUE(known->add(id_of(100), 100));
    ASSERT_TRUE(known->commit());
  }
}

// --- Damage.

class DamagedIds : public testing::Test {
 protected:
  void SetUp() override {
    const auto known = open_at(files_, "");
    for (Seq i = 0; i < 150; ++i) ASSERT_TRUE(known->add(id_of(i), i));
    position_ = known->commit().value();
    ASSERT_TRUE(known->on_durable());
  }

  env::MemoryFileSystem files_;
  std::string position_;
};

TEST_F(DamagedIds, AreFoundOutWhateverBitFlips) {
  ASSERT_TRUE(open_at(files_, position_));  // which removes what is not needed
  const auto names = files_.list(kDir).value();
  EXPECT_GE(names.size(), 4U);
  for (const std::string& name : names) {
    const std::string path = std::string(kDir) + "/" + name;
    const std::uint64_t bits = files_.size(path).value() * 8;
    for (std::uint64_t bit = 0; bit < bits; bit += 61) {
      SCOPED_TRACE(path + " bit " + std::to_string(bit));
      ASSERT_TRUE(files_.flip_bit(path, bit));
      const auto known = KnownIds::open(files_, kDir, small(), position_);
      base::Status status;
      if (!known) {
        status = std::unexpected(known.error());
      } else {
        for (Seq i = 0; status && i < 150; ++i) {
          const auto seq = (*known)->find(id_of(i));
          if (!seq) {
            status = std::unexpected(seq.error());
          } else {
            EXPECT_EQ(*seq, i);
          }
        }
        // Sieving finds it too, and says nothing that is wrong.
        if (!status) {
          for (Seq i = 0; i < 150; ++i) (*known)->ask(id_of(i), i);
          (*known)->settle();
          base::Status sieving;
          for (;;) {
            const auto answer = (*known)->next_answer();
            if (!answer) sieving = std::unexpected(answer.error());
            if (!answer || !*answer) break;
            EXPECT_TRUE((*answer)->is_known && (*answer)->seq == (*answer)->tag);
          }
          EXPECT_FALSE(sieving);
        }
      }
      ASSERT_FALSE(status);
      EXPECT_EQ(status.error().code(), ErrorCode::kCorrupt) << status.error().message();
      EXPECT_NE(status.error().message().find(path), std::string::npos) << status.error().message();
      ASSERT_TRUE(files_.flip_bit(path, bit));
    }
  }
  EXPECT_EQ(files_.list(kDir).value(), names);
  EXPECT_TRUE(open_at(files_, position_));
}

TEST_F(DamagedIds, AreNotOpenedAtWhatIsNoPosition) {
  for (const char* position : {"1", "x", "1 x", "1 20 3", "0 0", " 1 2", "1,2", "-1 2"}) {
    const auto known = KnownIds::open(files_, kDir, small(), position);
    ASSERT_FALSE(known) << position;
    EXPECT_EQ(known.error().code(), ErrorCode::kCorrupt);
  }
  EXPECT_FALSE(KnownIds::open(files_, kDir, small(), "999 0"));
  EXPECT_FALSE(KnownIds::open(files_, kDir, small(), position_ + "0"));
  EXPECT_TRUE(open_at(files_, position_));
}

}  // namespace
}  // namespace meguri::sat
