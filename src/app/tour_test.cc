#include "app/tour.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>

#include "base/text.h"

namespace meguri::app {
namespace {

std::string shown(const TourStyle& style, const std::function<void(Tour&)>& tell) {
  std::FILE* const file = std::tmpfile();
  Output out(file);
  Tour tour(out, style);
  tell(tour);
  EXPECT_TRUE(out.finish());
  std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  EXPECT_EQ(std::fread(text.data(), 1, text.size(), file), text.size());
  std::fclose(file);
  return text;
}

const std::string long_text(400, 'x');
const std::string words = "one two three four five six seven eight nine ten eleven twelve";

TEST(Tour, BreaksLinesBetweenWords) {
  const std::string text = shown({.columns = 24}, [](Tour& tour) { tour.say(words); });
  EXPECT_EQ(text, "  one two three four\n  five six seven eight\n  nine ten eleven\n  twelve\n");
}

TEST(Tour, GivesAWordThatIsTooLongALineOfItsOwn) {
  const std::string text =
      shown({.columns = 24}, [](Tour& tour) { tour.say("a " + long_text + " b"); });
  EXPECT_EQ(text, "  a\n  " + long_text + "\n  b\n");
}

TEST(Tour, QuotesAreCutWhereTheTerminalEnds) {
  const std::string text = shown({}, [](Tour& tour) { tour.quote(long_text); });
  EXPECT_EQ(base::display_columns(text.substr(0, text.find('\n'))), 79);
  EXPECT_TRUE(text.ends_with("...\n"));
}

TEST(Tour, IsPlainWhereThereIsNoTerminal) {
  const std::string text = shown({.has_utf8 = true}, [](Tour& tour) {
    tour.step(1, "title");
    tour.check(false, "this");
    for (int i = 0; i <= 25; ++i) tour.live(base::Ticks() + base::Duration::seconds(i), 0.5, "on");
  });
  EXPECT_EQ(text, "1. title\n\n    FAILED  this\n     50 %  on\n     50 %  on\n");
}

TEST(Tour, ALiveLineIsGoneWhenTheNextOneComes) {
  const std::string text = shown({.is_live = true}, [](Tour& tour) {
    tour.live(base::Ticks(), 1, "on");
    tour.say("done");
  });
  EXPECT_TRUE(text.starts_with("\r    ########################")) << text;
  EXPECT_TRUE(text.ends_with("\x1b[K\r\x1b[K  done\n")) << text;
}

TEST(Tour, NumbersAreForPeople) {
  EXPECT_EQ(counted(1, "page"), "1 page");
  EXPECT_EQ(counted(1'000, "page"), "1,000 pages");
}

}  // namespace
}  // namespace meguri::app
