#include "base/console.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/progress.h"

namespace meguri::base {
namespace {

// Collects what a console writes, one string for each write.
class Screen {
 public:
  Console::Output output(bool is_terminal, std::size_t columns = 80, std::size_t rows = 24) {
    columns_ = columns;
    return {.write = [this](std::string_view bytes) { writes_.emplace_back(bytes); },
            .is_terminal = is_terminal,
            .columns = [this] { return columns_; },
            .rows = [rows] { return rows; }};
  }
  void resize(std::size_t columns) { columns_ = columns; }
  const std::vector<std::string>& writes() const { return writes_; }
  std::string all() const {
    std::string bytes;
    for (const std::string& part : writes_) bytes += part;
    return bytes;
  }

 private:
  std::vector<std::string> writes_;
  std::size_t columns_ = 80;
};

std::string read_until_end(int descriptor) {
  std::string bytes;
  std::string part(4096, '\0');
  for (;;) {
    const ssize_t got = ::read(descriptor, part.data(), part.size());
    if (got <= 0) return bytes;  // a pseudoterminal whose other end is closed says EIO
    bytes.append(part, 0, static_cast<std::size_t>(got));
  }
}

// A pseudoterminal. What is written to program() comes out of everything_shown().
class Terminal {
 public:
  explicit Terminal(unsigned short columns) {
    winsize size{};
    size.ws_col = columns;
    size.ws_row = 24;
    termios modes{};
    ::cfmakeraw(&modes);  // no translation of line ends
    EXPECT_EQ(::openpty(&screen_, &program_, nullptr, &modes, &size), 0);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() { ::close(screen_); }

  int program() const { return program_; }
  void resize(unsigned short columns) const {
    winsize size{};
    size.ws_col = columns;
    ::ioctl(screen_, TIOCSWINSZ, &size);
  }
  std::string everything_shown() {
    ::close(program_);
    return read_until_end(screen_);
  }

 private:
  int screen_ = -1;
  int program_ = -1;
};

class TermVariable {
 public:
  explicit TermVariable(const char* value) { ::setenv("TERM", value, 1); }
};

// What a terminal shows after `bytes`: lines, of which the last may be unfinished. Knows only what
// Console uses; styles are passed over.
std::vector<std::string> shown(std::string_view bytes) {
  std::vector<std::string> lines(1);
  std::size_t row = 0;
  std::size_t column = 0;
  while (!bytes.empty()) {
    if (bytes.starts_with("\x1b[")) {
      const std::size_t end = bytes.find_first_of("AJKm");
      const std::string number(bytes.substr(2, end - 2));
      switch (bytes[end]) {
        case 'A': row -= std::stoul(number); break;
        case 'J': lines.resize(row + 1); [[fallthrough]];
        case 'K': lines[row].resize(column); break;
        default: break;
      }
      bytes.remove_prefix(end + 1);
      continue;
    }
    const char c = bytes.front();
    bytes.remove_prefix(1);
    if (c == '\n') {
      ++row;
      lines.resize(std::max(lines.size(), row + 1));
      column = 0;
    } else if (c == '\r') {
      column = 0;
    } else {
      EXPECT_GE(static_cast<unsigned char>(c), ' ');
      lines[row].resize(std::max(lines[row].size(), column + 1), ' ');
      lines[row][column++] = c;
    }
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(Console, LinesAreWrittenWholeAndPrintable) {
  Screen screen;
  Console console(screen.output(false));
  console.write_line("one");
  console.write_line("two\nthree\x1b[2J");
  EXPECT_EQ(screen.writes(), (Lines{"one\n", "two\\nthree\\x1b[2J\n"}));
}

TEST(Console, ShowsNoLiveLineWhereThereIsNoTerminal) {
  Screen screen;
  Console console(screen.output(false));
  console.show_live("50 %");
  console.show_live("");
  EXPECT_EQ(screen.all(), "");
}

TEST(Console, LinesGoAboveTheLiveLine) {
  Screen screen;
  Console console(screen.output(true));
  console.show_live("10 % of everything");
  console.write_line("hello");
  EXPECT_EQ(shown(screen.all()), (Lines{"hello", "10 % of everything"}));
  console.show_live("20 %");
  EXPECT_EQ(shown(screen.all()), (Lines{"hello", "20 %"}));
  console.write_line("again");
  EXPECT_EQ(shown(screen.all()), (Lines{"hello", "again", "20 %"}));
  console.show_live("");
  EXPECT_EQ(shown(screen.all()), (Lines{"hello", "again", ""}));
}

TEST(Console, EveryChangeOfTheScreenIsOneWrite) {
  Screen screen;
  Console console(screen.output(true));
  console.show_live("live");
  console.write_line("line");
  console.show_live("");
  console.show_live("");
  EXPECT_EQ(screen.writes().size(), 3);
}

TEST(Console, TheLiveLineNeverReachesTheLastColumn) {
  Screen screen;
  Console console(screen.output(true, 10));
  console.show_live("0123456789abcdef");
  EXPECT_EQ(shown(screen.all()), Lines{"012345678"});
  console.show_live("巡り巡り巡り");
  EXPECT_EQ(shown(screen.all()), Lines{"巡り巡り"});
}

TEST(Console, ShowsSeveralLiveLinesInPlace) {
  Screen screen;
  Console console(screen.output(true));
  const std::vector<LiveLine> three = {{"one"}, {"two"}, {"three"}};
  console.show_live(three);
  EXPECT_EQ(shown(screen.all()), (Lines{"one", "two", "three"}));
  console.write_line("above");
  EXPECT_EQ(shown(screen.all()), (Lines{"above", "one", "two", "three"}));
  const std::vector<LiveLine> two = {{"1"}, {"2"}};
  console.show_live(two);
  EXPECT_EQ(shown(screen.all()), (Lines{"above", "1", "2"}));
  console.show_live(three);
  EXPECT_EQ(shown(screen.all()), (Lines{"above", "one", "two", "three"}));
  console.show_live("");
  EXPECT_EQ(shown(screen.all()), (Lines{"above", ""}));
  EXPECT_EQ(screen.writes().size(), 5U);
}

TEST(Console, ClearsNoLiveLineBeforeItIsWrittenAnew) {
  Screen screen;
  Console console(screen.output(true));
  const std::vector<LiveLine> lines = {{"one"}, {"two"}};
  console.show_live(lines);
  console.show_live(lines);
  EXPECT_EQ(screen.writes().back(), "\r\x1b[1Aone\x1b[K\ntwo\x1b[K\x1b[J");
}

TEST(Console, ShowsNoMoreLiveLinesThanTheScreenHasRows) {
  Screen screen;
  Console console(screen.output(true, 80, 3));
  const std::vector<LiveLine> lines = {{"1"}, {"2"}, {"3"}, {"4"}};
  console.show_live(lines);
  EXPECT_EQ(shown(screen.all()), (Lines{"1", "2"}));
}

TEST(Console, FindsItsLiveLinesAgainWhenANarrowerTerminalFoldsThem) {
  Screen screen;
  Console console(screen.output(true, 40));
  const std::vector<LiveLine> lines = {{std::string(25, 'x')}, {"short"}, {std::string(30, 'y')}};
  console.show_live(lines);
  screen.resize(10);  // the lines take 3, 1 and 3 rows now
  console.show_live(lines);
  EXPECT_TRUE(screen.writes().back().starts_with("\r\x1b[6A\x1b[2K\n\x1b[2K\n"))
      << screen.writes().back();
}

TEST(Console, UsesColoursOnlyWhereTheyAreWanted) {
  for (const bool has_color : {false, true}) {
    Screen screen;
    Console::Output output = screen.output(true);
    output.has_color = has_color;
    Console console(output);
    const std::vector<LiveLine> lines = {{"bad\x1b[2J", LiveStyle::kWarning}};
    console.show_live(lines);
    const std::string text = "bad\\x1b[2J";
    EXPECT_EQ(screen.all(), has_color ? "\r\x1b[33m" + text + "\x1b[0m\x1b[K\x1b[J"
                                      : "\r" + text + "\x1b[K\x1b[J");
  }
}

TEST(Console, NoColorIsObeyedOnATerminal) {
  const TermVariable term("xterm");
  Terminal terminal(80);
  ::unsetenv("NO_COLOR");
  EXPECT_TRUE(Console::output_to(terminal.program()).has_color);
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(Console::output_to(terminal.program()).has_color);
  ::unsetenv("NO_COLOR");
  terminal.everything_shown();
}

TEST(Console, AnUnknownWidthCountsAsEighty) {
  Screen screen;
  Console console(screen.output(true, 0));
  console.show_live(std::string(200, 'x'));
  EXPECT_EQ(shown(screen.all()), Lines{std::string(79, 'x')});
}

TEST(Console, TakesTheLiveLineAwayAtItsEnd) {
  Screen screen;
  {
    Console(screen.output(true)).show_live("live");
  }
  EXPECT_EQ(shown(screen.all()), Lines{""});
}

TEST(Console, OnAPseudoterminalTheLiveLineIsRewrittenAndFollowsTheWidth) {
  const TermVariable term("xterm");
  Terminal terminal(20);
  {
    Console console(Console::output_to(terminal.program()));
    ASSERT_TRUE(console.is_terminal());
    console.show_live("a live line that is longer than the screen");
    console.write_line("a log line");
    terminal.resize(10);
    console.show_live("a live line");
    console.write_line("another");
  }
  const std::string bytes = terminal.everything_shown();
  EXPECT_TRUE(bytes.contains("\ra live line that is\x1b[K"));
  // By then the terminal had folded that line into two rows.
  EXPECT_TRUE(bytes.contains("\r\x1b[1A\x1b[2K\n\x1b[2K\r\x1b[1Aa live li\x1b[K")) << bytes;
  EXPECT_TRUE(bytes.ends_with("\ranother\x1b[K\na live li\x1b[K\x1b[J\r\x1b[J")) << bytes;
}

TEST(Console, ADumbTerminalIsNone) {
  const TermVariable term("dumb");
  Terminal terminal(80);
  EXPECT_FALSE(Console::output_to(terminal.program()).is_terminal);
  terminal.everything_shown();
}

TEST(Console, APipeGetsPlainLinesAndAFullOneIsWaitedFor) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_NONBLOCK), 0);
  const std::string line(10'000, 'x');
  std::string received;
  {
    const std::jthread reader([&] {
      ::fcntl(ends[0], F_SETFL, 0);
      received = read_until_end(ends[0]);
    });
    Console console(Console::output_to(ends[1]));
    EXPECT_FALSE(console.is_terminal());
    for (int i = 0; i < 50; ++i) console.write_line(line);  // far more than a pipe holds
    console.show_live("not here");
    ::close(ends[1]);
  }
  ::close(ends[0]);
  std::string expected;
  for (int i = 0; i < 50; ++i) expected += line + "\n";
  EXPECT_EQ(received.size(), expected.size());
  EXPECT_TRUE(received == expected);
}

TEST(ConsoleThreads, LogLinesAndLiveLineNeverMix) {
  Screen screen;
  constexpr int kThreads = 4;
  constexpr int kLines = 200;
  {
    Console console(screen.output(true));
    Logger logger(console);
    Progress progress(console);
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kLines; ++i) {
          logger.log(LogLevel::kInfo, "line", {{"thread", t}, {"number", i}});
          progress.update(Ticks::from_ms(std::int64_t{i} * 100), fmt::format("live {}", i));
        }
      });
    }
  }
  const Lines lines = shown(screen.all());
  ASSERT_EQ(lines.size(), kThreads * kLines + 1);
  EXPECT_EQ(lines.back(), "");
  std::vector<int> next(kThreads);
  for (const std::string& line : std::span(lines).first(lines.size() - 1)) {
    int thread = 0;
    int number = 0;
    ASSERT_EQ(std::sscanf(line.c_str(), "INFO  line thread=%d number=%d", &thread, &number), 2)
        << line;
    EXPECT_EQ(number, next.at(static_cast<std::size_t>(thread))++);
  }
}

TEST(Progress, OnATerminalItIsOneLineThatGoesAway) {
  Screen screen;
  Console console(screen.output(true));
  Progress progress(console);
  progress.update(Ticks::from_ms(0), "0 pages");
  EXPECT_EQ(shown(screen.all()), Lines{"0 pages"});
  EXPECT_FALSE(progress.is_due(Ticks::from_ms(99)));
  progress.update(Ticks::from_ms(99), "1 page");
  EXPECT_EQ(shown(screen.all()), Lines{"0 pages"});
  EXPECT_TRUE(progress.is_due(Ticks::from_ms(100)));
  progress.update(Ticks::from_ms(100), "2 pages");
  EXPECT_EQ(shown(screen.all()), Lines{"2 pages"});
  progress.finish("3 pages");
  EXPECT_EQ(shown(screen.all()), Lines{""});
  progress.update(Ticks::from_ms(1000), "more");
  EXPECT_EQ(shown(screen.all()), Lines{""});
}

TEST(Progress, ElsewhereItIsAtMostOneLineEachIntervalAndTheLast) {
  Screen screen;
  Console console(screen.output(false));
  {
    Progress progress(console, Duration::seconds(10));
    for (int second = 0; second <= 25; ++second) {
      progress.update(Ticks::from_ms(5000 + second * 1000), fmt::format("second {}", second));
    }
    EXPECT_EQ(screen.writes(), (Lines{"second 0\n", "second 10\n", "second 20\n"}));
  }
  EXPECT_EQ(screen.writes().back(), "second 25\n");
  EXPECT_EQ(screen.writes().size(), 4);
}

TEST(Progress, ShowsLinesOnATerminalAndTheTextElsewhere) {
  const std::vector<LiveLine> lines = {{"many"}, {"lines"}};
  Screen screen;
  Console console(screen.output(true));
  Progress progress(console);
  progress.update(Ticks::from_ms(0), lines, "text");
  EXPECT_EQ(shown(screen.all()), (Lines{"many", "lines"}));
  Screen file;
  Console plain(file.output(false));
  Progress plain_progress(plain);
  plain_progress.update(Ticks::from_ms(0), lines, "text");
  plain_progress.set_plain_interval(Duration::seconds(30));
  plain_progress.update(Ticks::from_ms(29'999), lines, "not yet");
  plain_progress.update(Ticks::from_ms(30'000), lines, "later");
  EXPECT_EQ(file.writes(), (Lines{"text\n", "later\n"}));
}

TEST(Progress, TheLastTextIsNotWrittenTwice) {
  Screen screen;
  Console console(screen.output(false));
  {
    Progress progress(console);
    progress.update(Ticks::from_ms(0), "all");
    progress.finish();
    progress.finish("more");
  }
  EXPECT_EQ(screen.writes(), Lines{"all\n"});
}

}  // namespace
}  // namespace meguri::base
