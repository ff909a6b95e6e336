#include "scan/program_analyser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "env/testing.h"
#include "scan/limits.h"
#include "scan/listed_documents_testing.h"

namespace meguri::scan {
namespace {

using All = NumberedResults::All;

// An analyser as docs/formats/scan.md has it; RESULT makes `result` of a document, which is `head`
// and `content`.
constexpr std::string_view kPython = R"(
import json, os, signal, sys
stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
while True:
    line = stdin.readline()
    if not line:
        break
    head = json.loads(line)
    content = stdin.read(head["length"])
    RESULT
    stdout.write(b"%d %d\n" % (head["number"], len(result)) + result)
    stdout.flush()
)";

std::vector<std::string> python(std::string_view result) {
  std::string text(kPython);
  const std::string_view place = "RESULT";
  text.replace(text.find(place), place.size(), result);
  return {"/usr/bin/python3", "-c", text};  // not what may stand before it in the path
}

AnalyserSettings settings_of(AnalyserKind kind, std::vector<std::string> arguments) {
  AnalyserSettings settings;
  settings.kind = kind;
  settings.arguments = std::move(arguments);
  settings.fields = {"url", "length"};
  return settings;
}

struct Outcome {
  All results;
  std::string failure;  // empty: none
};

Outcome run(const AnalyserSettings& settings, DocumentStream& documents) {
  const auto analyser = make_program_analyser(settings);
  const auto started = analyser->start();
  EXPECT_TRUE(started) << started.error().message();
  NumberedResults results;
  if (!started) return {};
  const auto status = analyser->run(documents, results);
  return {.results = results.all(), .failure = status ? "" : status.error().message()};
}

Outcome run_program(std::vector<std::string> arguments, std::vector<std::string> contents) {
  ListedDocuments documents(std::move(contents));
  return run(settings_of(AnalyserKind::kProgram, std::move(arguments)), documents);
}

Outcome run_lines(std::vector<std::string> arguments, std::vector<std::string> contents) {
  ListedDocuments documents(std::move(contents));
  return run(settings_of(AnalyserKind::kLines, std::move(arguments)), documents);
}

TEST(ProgramAnalyser, GivesDocumentsAndTakesResults) {
  const Outcome outcome = run_program(
      python("result = (head['url'] + ' ').encode() + content.upper()"), {"a\nb", "", "c"});
  EXPECT_EQ(outcome.failure, "");
  EXPECT_EQ(outcome.results, (All{{0, "http://example.com/0 A\nB"},
                                  {1, "http://example.com/1 "},
                                  {2, "http://example.com/2 C"}}));
}

TEST(ProgramAnalyser, AnEmptyRunIsWell) {
  const Outcome outcome = run_program(python("result = b''"), {});
  EXPECT_EQ(outcome.failure, "");
  EXPECT_TRUE(outcome.results.empty());
}

TEST(ProgramAnalyser, LargeDocumentsAndResultsPassThreads) {
  env::TempDir dir;
  AnalyserSettings settings = settings_of(AnalyserKind::kProgram, python("result = content * 2"));
  settings.scratch = dir.path();
  std::vector<std::string> contents;
  for (int i = 0; i < 20; ++i) contents.emplace_back(1'500'000, static_cast<char>('a' + i));
  ListedDocuments documents(contents);
  const Outcome outcome = run(settings, documents);
  EXPECT_EQ(outcome.failure, "");
  ASSERT_EQ(outcome.results.size(), contents.size());
  for (std::size_t i = 0; i < contents.size(); ++i) {
    EXPECT_EQ(outcome.results[i].first, i);
    EXPECT_TRUE(outcome.results[i].second == contents[i] + contents[i]);
  }
}

TEST(ProgramAnalyser, ManySmallDocumentsPassThreads) {
  const std::vector<std::string> contents(5000, "x");
  const Outcome outcome = run_program(python("result = b'%d' % head['number']"), contents);
  EXPECT_EQ(outcome.failure, "");
  ASSERT_EQ(outcome.results.size(), contents.size());
  EXPECT_EQ(outcome.results.back(), (All::value_type{4999, "4999"}));
}

TEST(ProgramAnalyser, WhatCannotBeStartedIsSaid) {
  const auto start_of = [](std::string program) {
    const auto analyser =
        make_program_analyser(settings_of(AnalyserKind::kLines, {std::move(program)}));
    const auto status = analyser->start();
    return status ? "" : status.error().message();
  };
  EXPECT_EQ(start_of("jqq"), "cannot start 'jqq': No such file or directory");
  EXPECT_EQ(start_of("/etc/passwd"), "cannot start '/etc/passwd': Permission denied");
  EXPECT_EQ(start_of("/"), "cannot start '/': Permission denied");
}

TEST(ProgramAnalyser, FieldsThatThereAreNotAreRefused) {
  AnalyserSettings settings = settings_of(AnalyserKind::kLines, {"cat"});
  settings.fields = {"body"};
  const auto status = make_program_analyser(settings)->start();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), base::ErrorCode::kInvalid);
}

TEST(ProgramAnalyser, HowItFailedIsSaid) {
  const auto failure_of = [](std::string_view result) {
    const Outcome outcome = run_program(python(result), {"a", "b", "c"});
    EXPECT_EQ(outcome.results, (All{{0, "ok"}})) << result;
    return outcome.failure;
  };
  EXPECT_EQ(failure_of("result = b'ok'; head['number'] and os._exit(3)"),
            "it ended with exit status 3");
  EXPECT_EQ(failure_of("result = b'ok'; head['number'] and os.kill(os.getpid(), signal.SIGSEGV)"),
            "it was ended by signal 11 (SIGSEGV)");
  EXPECT_EQ(failure_of("result = b'ok'; head['number'] and stdout.write(b'xyz\\n')"),
            "it wrote \"xyz\" where 'NUMBER LENGTH' was expected");
  EXPECT_EQ(failure_of("result = b'ok'; head['number'] *= 2"),
            "it wrote a result of document 2 where that of document 1 was expected");
  EXPECT_EQ(failure_of("result = b'ok'; head['number'] and os._exit(0)"),
            "it closed its output before all results");
  EXPECT_EQ(failure_of("result = b'ok'\n    if head['number']: stdout.write(b'1 9\\nab'); break"),
            "it closed its output within a result");
}

TEST(ProgramAnalyser, MoreResultsThanDocumentsAreAFailure) {
  const Outcome outcome =
      run_program({"sh", "-c", "printf '0 1\\na1 1\\nb'; exec cat >/dev/null"}, {"x"});
  EXPECT_EQ(outcome.failure, "it wrote more results than it was given documents");
}

TEST(ProgramAnalyser, AProgramThatReadsNothingFails) {
  EXPECT_EQ(run_program({"false"}, {"a"}).failure, "it ended with exit status 1");
  EXPECT_EQ(run_program({"true"}, {std::string(1'000'000, 'x')}).failure,
            "it closed its output before all results");
  EXPECT_EQ(run_program({"true"}, {}).failure, "");
  // Whether it ends before or after it is given something.
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(run_program({"true"}, {"a"}).failure, "it closed its output before all results");
  }
}

TEST(ProgramAnalyser, AFailureAtTheEndIsTold) {
  EXPECT_EQ(run_program({"sh", "-c", "cat >/dev/null; exit 7"}, {}).failure,
            "it ended with exit status 7");
}

// While no document is there, and while the program does not read what it is given.
TEST(ProgramAnalyser, AFailureIsToldWhileDocumentsAreWaitedForByThreads) {
  ListedDocuments waits({"a"}, /*holds_on=*/true);
  const Outcome outcome =
      run(settings_of(AnalyserKind::kProgram, {"sh", "-c", "read line; exit 5"}), waits);
  EXPECT_EQ(outcome.failure, "it ended with exit status 5");
  EXPECT_TRUE(waits.is_stopped());
  const Outcome full =
      run_program({"sh", "-c", "echo rubbish; exec sleep 1000"}, {std::string(10'000'000, 'x')});
  EXPECT_EQ(full.failure, "it wrote \"rubbish\" where 'NUMBER LENGTH' was expected");
}

TEST(ProgramAnalyser, CpuForOneDocumentIsLimited) {
  AnalyserSettings settings = settings_of(
      AnalyserKind::kProgram, python("result = b'ok'\n    while head['number'] == 1: pass"));
  settings.cpu_seconds_max = 1;
  ListedDocuments documents({"a", "b"});
  const auto analyser = make_program_analyser(settings);
  ASSERT_TRUE(analyser->start());
  NumberedResults results;
  const auto status = analyser->run(documents, results);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(), "it used more than 1 s of CPU for one document");
  EXPECT_EQ(results.all(), (All{{0, "ok"}}));
  EXPECT_GE(analyser->child_cpu_ns(), 1'000'000'000U);
}

TEST(ProgramAnalyser, MemoryIsLimited) {
  AnalyserSettings settings = settings_of(
      AnalyserKind::kProgram, python("try:\n        result = b'%d' % len(bytearray(1 << 30))\n"
                                     "    except MemoryError:\n        result = b'no'"));
  ListedDocuments documents({"a"});
  EXPECT_EQ(run(settings, documents).results, (All{{0, "1073741824"}}));
  settings.memory_max = std::uint64_t{1} << 29U;
  ListedDocuments again({"a"});
  EXPECT_EQ(run(settings, again).results, (All{{0, "no"}}));
}

TEST(ProgramAnalyser, TheNetworkIsDeniedUnlessItIsAllowed) {
  AnalyserSettings settings = settings_of(
      AnalyserKind::kProgram,
      python("import socket\n    try:\n        socket.socket().close(); result = b'yes'\n"
             "    except OSError:\n        result = b'no'"));
  ListedDocuments documents({"a"});
  const auto filter = NetworkFilter::make();
  EXPECT_EQ(run(settings, documents).results, (All{{0, filter ? "no" : "yes"}}));
  settings.has_network = true;
  ListedDocuments again({"a"});
  EXPECT_EQ(run(settings, again).results, (All{{0, "yes"}}));
}

// Programs as people write them on the command line. Between two documents nothing comes, so that
// the first result must be had while there is no end of the input.
void expect_lines(const std::vector<std::string>& arguments, const All& expected) {
  ListedDocuments documents({"aaa"}, /*holds_on=*/true);
  const auto analyser = make_program_analyser(settings_of(AnalyserKind::kLines, arguments));
  ASSERT_TRUE(analyser->start());
  NumberedResults results;
  results.set_on_put([&documents](std::size_t count) {
    if (count == 1) documents.add("b", /*is_last=*/false);
    if (count == 2) documents.add("cc", /*is_last=*/true);
  });
  const auto status = analyser->run(documents, results);
  EXPECT_TRUE(status) << arguments[0] << ": " << status.error().message();
  EXPECT_EQ(results.all(), expected) << arguments[0];
}

TEST(LinesAnalyser, OneLineOfAnyProgramWorks) {
  expect_lines({"jq", "-c", ".url"}, {{0, "\"http://example.com/0\"\n"},
                                      {1, "\"http://example.com/1\"\n"},
                                      {2, "\"http://example.com/2\"\n"}});
  expect_lines({"awk", "{print length($0)}"}, {{0, "41\n"}, {1, "41\n"}, {2, "41\n"}});
  expect_lines({"sed", "s/.*length\"://"}, {{0, "3}\n"}, {1, "1}\n"}, {2, "2}\n"}});
  expect_lines({"cut", "-c", "9-28"}, {{0, "http://example.com/0\n"},
                                       {1, "http://example.com/1\n"},
                                       {2, "http://example.com/2\n"}});
  expect_lines({"python3", "-c",
                "import json, sys\nfor line in sys.stdin: print(json.loads(line)['length'])"},
               {{0, "3\n"}, {1, "1\n"}, {2, "2\n"}});
}

// Holds back what it says until its input ends, whatever stdbuf does; and counts its starts.
TEST(LinesAnalyser, WhoHoldsResultsBackIsStartedAnewByThreads) {
  env::TempDir dir;
  const std::string starts = dir.path("starts");
  const std::string program =
      "echo >>" + starts + "; lines=$(cat); printf '%s\\n' \"$lines\" | sed 's/.*/x/'";
  const std::vector<std::string> arguments = {"sh", "-c", program};
  expect_lines(arguments, {{0, "x\n"}, {1, "x\n"}, {2, "x\n"}});
  const Outcome counted = run_lines({"sh", "-c", "cat >/dev/null; wc -l <" + starts}, {"a"});
  EXPECT_EQ(counted.results, (All{{0, "3\n"}}));
}

TEST(LinesAnalyser, ManyLinesAreOneBatch) {
  const std::vector<std::string> contents(3000, "x");
  const Outcome outcome = run_lines({"awk", "{print NR}"}, contents);
  EXPECT_EQ(outcome.failure, "");
  ASSERT_EQ(outcome.results.size(), contents.size());
  EXPECT_EQ(outcome.results.back().second, "3000\n");
}

TEST(LinesAnalyser, OtherNumbersOfLinesAreAFailure) {
  EXPECT_EQ(run_lines({"sed", "-n", "1p"}, {"a", "b"}).failure,
            "it closed its output before all results");
  EXPECT_EQ(run_lines({"sed", "p"}, {"a"}).failure,
            "it wrote more results than it was given documents");
  EXPECT_EQ(run_lines({"grep", "nothing like this"}, {"a"}).failure, "it ended with exit status 1");
}

TEST(LinesAnalyser, DefaultFieldsAreGivenWhereNoneWereChosen) {
  AnalyserSettings settings = settings_of(AnalyserKind::kLines, {"jq", "-c", "keys | length"});
  settings.fields.clear();
  ListedDocuments documents({"<title>t</title>"});
  EXPECT_EQ(run(settings, documents).results, (All{{0, "11\n"}}));
}

}  // namespace
}  // namespace meguri::scan
