#include "crawl/exclusion_file.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "env/memory_file_system.h"
#include "flow/testing.h"

namespace meguri::crawl {
namespace {

constexpr const char* kPath = "/lists/exclude.txt";

class ExclusionFileTest : public ::testing::Test {
 protected:
  ExclusionFileTest() { EXPECT_TRUE(files_.make_dirs("/lists")); }

  void write(std::string_view text) {
    ASSERT_TRUE(env::write_file_atomically(files_, kPath, text));
  }
  bool excludes(std::string_view url) const {
    return file_->list()->excludes(web::Url::parse(url).value());
  }

  env::MemoryFileSystem files_;
  std::shared_ptr<ExclusionFile> file_ = std::make_shared<ExclusionFile>(kPath);
};

TEST_F(ExclusionFileTest, IsReadAgainWhenItHasChanged) {
  write("a.example\n");
  ASSERT_TRUE(file_->open(files_));
  EXPECT_TRUE(excludes("http://a.example/"));
  EXPECT_FALSE(*file_->refresh(files_));
  write("b.example\n");  // as long as before
  EXPECT_TRUE(*file_->refresh(files_));
  EXPECT_FALSE(excludes("http://a.example/"));
  EXPECT_TRUE(excludes("http://b.example/"));
  EXPECT_FALSE(*file_->refresh(files_));
}

TEST_F(ExclusionFileTest, KeepsTheOldListWhenTheNewOneIsBroken) {
  write("a.example\n");
  ASSERT_TRUE(file_->open(files_));
  write("b.example\n/[/\n");
  const auto broken = file_->refresh(files_);
  ASSERT_FALSE(broken);
  EXPECT_TRUE(broken.error().message().starts_with("/lists/exclude.txt: line 2: "))
      << broken.error().message();
  EXPECT_TRUE(excludes("http://a.example/"));
  EXPECT_FALSE(*file_->refresh(files_)) << "said once";
  ASSERT_TRUE(files_.remove(kPath));
  EXPECT_FALSE(file_->refresh(files_));
  EXPECT_FALSE(*file_->refresh(files_)) << "said once";
  EXPECT_TRUE(excludes("http://a.example/"));
  write("c.example\n");
  EXPECT_TRUE(*file_->refresh(files_));
  EXPECT_TRUE(excludes("http://c.example/"));
}

TEST_F(ExclusionFileTest, TheArchivesOwnNeedNotBeThere) {
  constexpr const char* kOwn = "/lists/own.txt";
  file_ = std::make_shared<ExclusionFile>(kPath, kOwn);
  write("a.example\n");
  ASSERT_TRUE(file_->open(files_));
  EXPECT_FALSE(excludes("http://b.example/"));
  ASSERT_TRUE(env::write_file_atomically(files_, kOwn, "b.example\n"));
  EXPECT_TRUE(*file_->refresh(files_));
  EXPECT_TRUE(excludes("http://a.example/"));
  EXPECT_TRUE(excludes("http://b.example/"));
  ASSERT_TRUE(files_.remove(kOwn));
  EXPECT_TRUE(*file_->refresh(files_));
  EXPECT_FALSE(excludes("http://b.example/"));
  ASSERT_TRUE(env::write_file_atomically(files_, kOwn, "/[/\n"));
  const auto alone = std::make_shared<ExclusionFile>("", kOwn);
  EXPECT_FALSE(alone->open(files_)) << "what is there must be a list";
}

TEST_F(ExclusionFileTest, ThatIsMissingOrBrokenAtTheStartIsAnError) {
  const auto missing = file_->open(files_);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), base::ErrorCode::kNotFound);
  write("a b\n");
  EXPECT_FALSE(file_->open(files_));
  write("a.example\n");
  EXPECT_TRUE(file_->open(files_));
}

TEST_F(ExclusionFileTest, IsWatchedWhileACrawlRuns) {
  write("a.example\n");
  flow::Graph graph;
  graph.add<ExclusionWatch>("watch", {.kind = flow::Kind::kBlocking}, file_);
  env::VirtualClock clock;
  flow::SimulationEngine engine(std::move(graph), {.files = &files_, .state_dir = "/lists"}, clock);
  ASSERT_TRUE(engine.start());
  ASSERT_TRUE(engine.run_for(base::Duration::seconds(10)));
  write("b.example\n");
  ASSERT_TRUE(engine.run_for(ExclusionWatch::kEvery));
  EXPECT_TRUE(excludes("http://b.example/"));
  EXPECT_TRUE(engine.run_until_quiet()) << "it keeps no crawl from its end";
}

}  // namespace
}  // namespace meguri::crawl
