#include "app/tour.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.h"

namespace meguri::app {
namespace {

constexpr std::size_t kColumnsMax = 80;  // longer lines are hard to read
constexpr std::size_t kLabelColumns = 16;
constexpr std::size_t kBarColumns = 24;
constexpr std::string_view kIndent = "  ";
constexpr std::string_view kDeep = "    ";
constexpr base::Duration kPlainEvery = base::Duration::seconds(10);

std::string_view setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

bool locale_is_utf8() {
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = setting(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != value.npos || value.find("utf8") != value.npos;
  }
  return false;
}

// Takes the longest front of whole words that fits; at least one word.
std::string_view take_line(std::string_view* rest, std::size_t columns) {
  std::size_t end = 0;
  while (end < rest->size()) {
    const std::size_t next = std::min(rest->find(' ', end + 1), rest->size());
    if (end > 0 && base::display_columns(rest->substr(0, next)) > columns) break;
    end = next;
  }
  const std::string_view line = rest->substr(0, end);
  rest->remove_prefix(std::min(end + 1, rest->size()));
  return line;
}

}  // namespace

TourStyle TourStyle::of(int descriptor) {
  TourStyle style;
  style.has_utf8 = locale_is_utf8();
  style.is_live = ::isatty(descriptor) == 1 && setting("TERM") != "dumb";
  style.has_colour = style.is_live && setting("NO_COLOR").empty();
  winsize size{};
  if (style.is_live && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) {
    style.columns = std::min<std::size_t>(size.ws_col, kColumnsMax);
  }
  return style;
}

std::string Tour::inked(Ink ink, std::string_view text) const {
  if (!style_.has_colour) return std::string(text);
  const std::string_view code = ink == Ink::kBold    ? "1"
                                : ink == Ink::kDim   ? "2"
                                : ink == Ink::kBlue  ? "1;34"
                                : ink == Ink::kGreen ? "32"
                                                     : "1;31";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

void Tour::line(std::string_view text) {
  if (has_live_) out_.write("\r\x1b[K");
  has_live_ = false;
  plain_live_at_.reset();
  is_after_gap_ = text.empty();
  out_.print("{}\n", text);
  out_.flush();
}

void Tour::gap() {
  if (!is_after_gap_) line("");
}

void Tour::open(std::string_view title, std::string_view about) {
  line(inked(Ink::kBold, title));
  gap();
  say(about);
}

void Tour::step(std::size_t number, std::string_view title) {
  gap();
  line(fmt::format("{} {}", inked(Ink::kBlue, fmt::format("{}.", number)),
                   inked(Ink::kBold, title)));
  gap();
}

void Tour::say(std::string_view sentences) {
  while (!sentences.empty()) {
    line(fmt::format("{}{}", kIndent, take_line(&sentences, style_.columns - kIndent.size() - 1)));
  }
}

void Tour::fact(std::string_view label, std::string_view value) {
  const std::size_t columns = style_.columns - kDeep.size() - kLabelColumns - 1;
  std::string front = inked(Ink::kDim, fmt::format("{:<{}}", label, kLabelColumns));
  while (!value.empty()) {
    line(fmt::format("{}{}{}", kDeep, front, take_line(&value, columns)));
    front.assign(kLabelColumns, ' ');
  }
}

void Tour::check(bool holds, std::string_view what) {
  std::string front =
      holds ? inked(Ink::kGreen, "ok") + "      " : inked(Ink::kRed, "FAILED") + "  ";
  while (!what.empty()) {
    line(fmt::format("{}{}{}", kDeep, front, take_line(&what, style_.columns - 13)));
    front.assign(8, ' ');
  }
}

void Tour::quote(std::string_view text) {
  const std::size_t columns = style_.columns - kDeep.size() - 2 - 1;
  std::string cut(base::cut_to_columns(text, columns));
  if (cut.size() < text.size()) {
    cut = base::cut_to_columns(text, columns - 3);
    cut += "...";
  }
  line(fmt::format("{}{} {}", kDeep, inked(Ink::kDim, "|"), cut));
}

void Tour::command(std::string_view text) {
  line(fmt::format("{}{}", kDeep, inked(Ink::kBold, text)));
}

std::string Tour::bar(double share) const {
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * kBarColumns);
  std::string done;
  std::string left;
  for (std::size_t i = 0; i < kBarColumns; ++i) {
    (i < full ? done : left) += style_.has_utf8 ? "━" : i < full ? "#" : ".";
  }
  // Without colours the two parts of the bar must differ by themselves.
  if (!style_.has_colour && style_.has_utf8) left.assign(kBarColumns - full, ' ');
  return inked(Ink::kGreen, done) + inked(Ink::kDim, left);
}

void Tour::live(base::Ticks now, double share, std::string_view text) {
  if (!style_.is_live) {
    if (!plain_live_at_) plain_live_at_ = now;  // the beginning says nothing
    if (now - *plain_live_at_ < kPlainEvery) return;
    line(fmt::format("{}{:3.0f} %  {}", kDeep, share * 100, text));
    plain_live_at_ = now;
    return;
  }
  const std::size_t columns = style_.columns - kDeep.size() - kBarColumns - 9;
  out_.print("\r{}{} {:3.0f} %  {}\x1b[K", kDeep, bar(share), share * 100,
             base::cut_to_columns(text, columns));
  has_live_ = true;
  is_after_gap_ = false;
  out_.flush();
}

std::string counted(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

}  // namespace meguri::app
