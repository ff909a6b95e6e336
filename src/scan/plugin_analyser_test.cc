#include "scan/plugin_analyser.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "env/faulty_file_system.h"
#include "env/memory_file_system.h"
#include "env/spool_testing.h"
#include "env/testing.h"
#include "scan/analyser_testing.h"

namespace meguri::scan {
namespace {

// The objects are built beside the program of the tests.
std::string path_of(std::string_view object) {
  std::array<char, 4096> program{};
  const ssize_t size = ::readlink("/proc/self/exe", program.data(), program.size());
  EXPECT_GT(size, 0);
  std::string path(program.data(), static_cast<std::size_t>(size));
  path.resize(path.rfind('/') + 1);
  return path.append(object);
}

AnalyserSettings plugin(std::string_view object, std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.begin(), path_of(object));
  return settings_of(AnalyserKind::kPlugin, std::move(arguments));
}

AnalyserOutcome outcome_of(const AnalyserSettings& settings, std::vector<Document> documents) {
  const auto analyser = make_plugin_analyser(settings);
  const auto started = analyser->start();
  EXPECT_TRUE(started) << started.error().message();
  return started ? run_over(*analyser, std::move(documents)) : AnalyserOutcome{};
}

std::string failure_at_start(const AnalyserSettings& settings) {
  const auto started = make_plugin_analyser(settings)->start();
  EXPECT_FALSE(started);
  return started ? std::string() : started.error().message();
}

TEST(PluginAnalyser, RunsTheExampleInC) {
  const AnalyserOutcome outcome =
      outcome_of(plugin("count_words.so"),
                 {document_of("http://a.example/", "text/plain", std::string(" one two\nthree ")),
                  document_of("http://a.example/b", "image/png", std::string("no words")),
                  document_of("http://a.example/c", "text/html", env::SpooledBytes())});
  EXPECT_EQ(outcome.failure, "");
  EXPECT_EQ(outcome.results,
            (std::vector<std::string>{"3\thttp://a.example/\n", "", "0\thttp://a.example/c\n"}));
}

TEST(PluginAnalyser, ReadsContentOnDisk) {
  env::MemoryFileSystem fs;
  const auto spool = env::disk_spool(fs);
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "word ";
  const Document document =
      document_of("http://a.example/", "text/plain", env::spooled(*spool, text));
  EXPECT_EQ(outcome_of(plugin("count_words.so"), {document}).results.front(),
            "100000\thttp://a.example/\n");
  EXPECT_EQ(outcome_of(plugin("faulty_plugin.so", {"content"}), {document}).results.front(),
            "on disk");
}

TEST(PluginAnalyser, HasSmallContentAtHand) {
  const Document document = document_of("http://a.example/", "text/plain", std::string("word"));
  const Document empty = document_of("http://a.example/", "text/plain", env::SpooledBytes());
  EXPECT_EQ(outcome_of(plugin("faulty_plugin.so", {"content"}), {document, empty}).results,
            (std::vector<std::string>{"in memory", "in memory"}));
}

TEST(PluginAnalyser, FailsWhereContentCannotBeRead) {
  env::FaultyFileSystem fs;
  env::Spool spool(fs, "spool", {.value_memory_max = 0});
  ASSERT_TRUE(spool.open());
  const Document document =
      document_of("http://a.example/", "text/plain", env::spooled(spool, "some words"));
  fs.fail_read_after(0, base::ErrorCode::kIo);
  const AnalyserOutcome outcome = outcome_of(plugin("count_words.so"), {document});
  EXPECT_EQ(outcome.failure, "it says: the content cannot be read");
  EXPECT_TRUE(outcome.results.empty());
}

TEST(PluginAnalyser, TellsAllThatIsKnown) {
  Document document = document_of("http://a.example/", "text/html", std::string("x"));
  document.charset = "utf-8";
  document.facts.language = "ja";
  document.digest = "sha1:ABC";
  document.cut = "it is short";
  document.fields.add("Last-Modified", "yesterday");
  Document other = document_of("http://b.example/", "", std::string("x"));
  other.facts.valid.end = kVisitTime + base::Duration::days(1);
  other.status = 0;
  const auto outcome = outcome_of(plugin("faulty_plugin.so", {"tell"}), {document, other});
  EXPECT_EQ(outcome.results,
            (std::vector<std::string>{
                "0 http://a.example/ 1794730150000 1794730150000 still 200 text/html utf-8 ja "
                "sha1:ABC (it is short) yesterday none",
                "1 http://b.example/ 1794730150000 1794730150000 ended 0     () ? none"}));
}

TEST(PluginAnalyser, FailsAtTheDocumentThatThePluginFailsAt) {
  const Document document = document_of("http://a.example/", "text/plain", std::string("x"));
  const auto failed = outcome_of(plugin("faulty_plugin.so", {"fail"}), {document, document});
  EXPECT_EQ(failed.results, std::vector<std::string>{""});
  EXPECT_EQ(failed.failure, "it says: number 1 is bad");
  const auto thrown = outcome_of(plugin("faulty_plugin.so", {"throw"}), {document});
  EXPECT_EQ(thrown.failure, "it threw \"thrown\\nhere\"");
}

TEST(PluginAnalyser, PutsLargeResultsOnDisk) {
  const env::TempDir dir;
  AnalyserSettings settings = plugin("faulty_plugin.so", {"repeat"});
  settings.scratch = dir.path();
  const auto analyser = make_plugin_analyser(settings);
  ASSERT_TRUE(analyser->start());
  GivenDocuments documents({document_of("http://a.example/", "", std::string("x"))});
  GivenResults results;
  ASSERT_TRUE(analyser->run(documents, results));
  EXPECT_EQ(results.texts.front(), std::string(3'000'000, 'x'));
  EXPECT_TRUE(results.is_last_on_disk);
}

TEST(PluginAnalyser, EndsThePluginOnce) {
  ::unsetenv("MEGURI_TEST_PLUGIN_ENDED");
  outcome_of(plugin("faulty_plugin.so", {"fail"}), {});
  const char* const ended = std::getenv("MEGURI_TEST_PLUGIN_ENDED");
  ASSERT_NE(ended, nullptr);
  EXPECT_STREQ(ended, "fail");
  ::unsetenv("MEGURI_TEST_PLUGIN_ENDED");
}

TEST(PluginAnalyser, SaysWhyItCannotStart) {
  EXPECT_TRUE(failure_at_start(plugin("count_words.so", {"argument"}))
                  .ends_with("count_words.so does not start: count_words takes no arguments"));
  EXPECT_TRUE(failure_at_start(plugin("faulty_plugin.so", {"throw-at-start"}))
                  .ends_with("faulty_plugin.so does not start: it threw \"thrown at start\""));
  const std::string missing = failure_at_start(plugin("no_such.so"));
  EXPECT_TRUE(missing.starts_with("the analyser cannot be loaded: ")) << missing;
  EXPECT_NE(missing.find("no_such.so"), missing.npos) << missing;
}

TEST(PluginAnalyser, RefusesAnObjectThatIsNoAnalyser) {
  Dl_info library{};  // any other object
  ASSERT_NE(::dladdr(reinterpret_cast<void*>(&::gnu_get_libc_version), &library), 0);
  const auto settings = settings_of(AnalyserKind::kPlugin, {library.dli_fname});
  const std::string failure = failure_at_start(settings);
  EXPECT_NE(failure.find("is no analyser: it has no function meguri_analyser_version"),
            failure.npos)
      << failure;
}

TEST(PluginAnalyser, RefusesAnotherVersion) {
  ::setenv("MEGURI_TEST_PLUGIN_VERSION", "7", 1);
  const std::string failure = failure_at_start(plugin("faulty_plugin.so", {"fail"}));
  ::unsetenv("MEGURI_TEST_PLUGIN_VERSION");
  EXPECT_TRUE(
      failure.ends_with("was compiled for version 7 of meguri_analyser.h, and this is "
                        "version 1; compile it with the header of this Meguri"))
      << failure;
}

TEST(PluginAnalyser, TakesAPathWithoutAFolderAsAFileHere) {
  const auto settings = settings_of(AnalyserKind::kPlugin, {"libc.so.6"});
  const std::string failure = failure_at_start(settings);
  EXPECT_TRUE(failure.starts_with("the analyser cannot be loaded: ./libc.so.6")) << failure;
}

}  // namespace
}  // namespace meguri::scan
