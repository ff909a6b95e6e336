// The worked example of docs/flow.md, which shows the part between the two lines of dashes.
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "base/hash.h"
#include "env/clock.h"
#include "env/posix_file_system.h"
#include "flow/graph.h"
#include "flow/thread_engine.h"

namespace meguri {
namespace {

// ------------------------------------------------------------------------------------------------
class Reader final : public flow::Module {  // a source: lines, here of a text in memory
 public:
  explicit Reader(std::string text) : text_(std::move(text)) {}
  flow::Out<std::string> lines = out<std::string>("lines");

 private:
  bool produce() override {
    std::string line;
    if (!std::getline(text_, line)) return false;
    lines.emit(std::move(line));
    return true;
  }
  std::istringstream text_;
};

class Splitter final : public flow::Module {
 public:
  flow::In<std::string> lines = in<&Splitter::on_line>("lines");
  flow::Out<std::string> words = out<std::string>("words");

 private:
  void on_line(std::string&& line) {
    std::istringstream stream(line);
    for (std::string word; stream >> word;) words.emit(word);
  }
};

class Counter final : public flow::Module {  // split by key: a word is counted at one place
 public:
  flow::In<std::string> words = in<&Counter::on_word, &Counter::key>("words");
  static std::uint64_t key(const std::string& word) { return base::hash64(word); }
  std::map<std::string, int> counts;

 private:
  void on_word(std::string&& word) { ++counts[word]; }
};

std::map<std::string, int> count_words(const std::string& text) {
  flow::Graph graph;
  auto reader = graph.add<Reader>("reader", {}, text);
  auto splitter = graph.add<Splitter>("splitter", {.instances = 2});
  auto counter = graph.add<Counter>("counter", {.split = flow::Split::kKey, .instances = 3});
  graph.connect(reader, &Reader::lines, splitter, &Splitter::lines);
  graph.connect(splitter, &Splitter::words, counter, &Counter::words);

  const env::RealClock clock;
  flow::ThreadEngine engine(std::move(graph), {.clock = &clock});
  if (!engine.start() || !engine.drain()) return {};
  std::map<std::string, int> all;
  for (std::size_t i = 0; i < 3; ++i) all.merge(engine.module(counter, i).counts);
  return all;
}
// ------------------------------------------------------------------------------------------------

TEST(WordCountThreads, CountsWords) {
  const auto counts = count_words("round and round\nthe web\nand round again");
  const std::map<std::string, int> expected = {
      {"again", 1}, {"and", 2}, {"round", 3}, {"the", 1}, {"web", 1}};
  EXPECT_EQ(counts, expected);
}

std::string contents(const std::string& path) {
  env::PosixFileSystem files;
  return env::read_file(files, path).value_or("");
}

TEST(WordCount, StandsInTheDocumentAsItIsHere) {
  const std::string dashes = "// " + std::string(96, '-') + "\n";
  const std::string source = contents("src/flow/word_count_test.cc");
  const std::size_t begin = source.find(dashes) + dashes.size();
  const std::size_t end = source.find(dashes, begin);
  ASSERT_NE(end, std::string::npos);
  const std::string document = contents("docs/flow.md");
  EXPECT_NE(document.find("```cpp\n" + source.substr(begin, end - begin) + "```\n"),
            std::string::npos);
}

}  // namespace
}  // namespace meguri
