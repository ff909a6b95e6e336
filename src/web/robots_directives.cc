#include "web/robots_directives.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <system_error>

#include "web/ascii.h"
#include "web/robots_lines.h"

namespace meguri::web {
namespace {

struct Flag {
  std::string_view name;
  bool RobotsDirectives::* field;
};

constexpr auto kFlags = std::to_array<Flag>({
    {"noindex", &RobotsDirectives::noindex},
    {"nofollow", &RobotsDirectives::nofollow},
    {"noarchive", &RobotsDirectives::noarchive},
    {"nocache", &RobotsDirectives::noarchive},
    {"nosnippet", &RobotsDirectives::nosnippet},
    {"noimageindex", &RobotsDirectives::noimageindex},
    {"notranslate", &RobotsDirectives::notranslate},
    {"indexifembedded", &RobotsDirectives::indexifembedded},
});

constexpr auto kPlainNames = std::to_array<std::string_view>({"none", "all", "index", "follow"});
constexpr auto kNamesWithValue = std::to_array<std::string_view>(
    {"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"});

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::any_of(
      names, [name](std::string_view known) { return equals_ignoring_case(name, known); });
}

bool takes_value(std::string_view name) { return is_one_of(name, kNamesWithValue); }

bool is_known(std::string_view name) {
  return is_one_of(name, kPlainNames) || takes_value(name) ||
         std::ranges::any_of(
             kFlags, [name](const Flag& flag) { return equals_ignoring_case(name, flag.name); });
}

// The front of `text` up to one of `ends`.
std::string_view front_to(std::string_view text, std::string_view ends) {
  return text.substr(0, text.find_first_of(ends));
}

std::string_view first_word(std::string_view text) { return front_to(trim(text), " \t\r\n\f:"); }

std::optional<std::int64_t> parse_limit(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < -1) return std::nullopt;
  return number;
}

// -1 is no limit, so it is above all others.
std::optional<std::int64_t> lower_limit(std::optional<std::int64_t> a,
                                        std::optional<std::int64_t> b) {
  if (!a || !b) return a ? a : b;
  if (*a == -1 || *b == -1) return std::max(a, b);
  return std::min(a, b);
}

void set_value(std::string_view name, std::string_view value, RobotsDirectives* out) {
  if (equals_ignoring_case(name, "max-snippet")) {
    out->max_snippet = lower_limit(out->max_snippet, parse_limit(value));
  } else if (equals_ignoring_case(name, "max-video-preview")) {
    out->max_video_preview = lower_limit(out->max_video_preview, parse_limit(value));
  } else if (equals_ignoring_case(name, "max-image-preview")) {
    std::optional<ImagePreview> preview;
    if (equals_ignoring_case(value, "none")) preview = ImagePreview::kNone;
    if (equals_ignoring_case(value, "standard")) preview = ImagePreview::kStandard;
    if (equals_ignoring_case(value, "large")) preview = ImagePreview::kLarge;
    if (!preview) return;
    out->max_image_preview = std::min(*preview, out->max_image_preview.value_or(*preview));
  }
}

void set_plain(std::string_view name, RobotsDirectives* out) {
  if (equals_ignoring_case(name, "none")) out->noindex = out->nofollow = true;
  for (const Flag& flag : kFlags) {
    if (equals_ignoring_case(name, flag.name)) out->*flag.field = true;
  }
}

// Reads the pieces between commas and semicolons, one after the other.
class Reader {
 public:
  // `agents`: whether "agent:" may stand before directives; else all of them count.
  Reader(bool agents, std::string_view agent)
      : agents_(agents), token_(robots_product_token(agent)) {}

  RobotsDirectives read(std::string_view text) {
    text = text.substr(0, kRobotsDirectivesBytesMax);
    while (!text.empty()) {
      const std::string_view piece = front_to(text, ",;");
      text.remove_prefix(std::min(piece.size() + 1, text.size()));
      if (in_date_ && !is_known(first_word(piece)) && !agent_of(trim(piece))) {
        continue_date(piece);  // dates such as "Friday, 25-Jun-10 15:00:00 UTC" hold commas
      } else {
        in_date_ = false;
        read_piece(trim(piece));
      }
    }
    cut_date();
    return out_;
  }

 private:
  // The agent that `piece` begins with: a name and a colon that no directive has, with a directive
  // behind them.
  std::optional<std::string_view> agent_of(std::string_view piece) const {
    const std::size_t colon = piece.find(':');
    if (!agents_ || colon == std::string_view::npos) return std::nullopt;
    const std::string_view name = trim(piece.substr(0, colon));
    if (takes_value(name) || !is_known(first_word(piece.substr(colon + 1)))) return std::nullopt;
    return name;
  }

  bool speaks_to_us(std::string_view name) const {
    if (name == "*" || equals_ignoring_case(name, "robots")) return true;
    return !token_.empty() && equals_ignoring_case(robots_product_token(name), token_);
  }

  void read_piece(std::string_view piece) {
    if (const auto agent = agent_of(piece)) {
      for_us_ = speaks_to_us(*agent);
      piece = trim(piece.substr(piece.find(':') + 1));
    }
    while (!piece.empty()) {
      const std::string_view word = first_word(piece);
      piece = trim(piece.substr(word.size()));
      if (piece.starts_with(':')) {
        piece = trim(piece.substr(1));
        piece = read_value(word, piece);
      } else if (for_us_) {
        set_plain(word, &out_);
      }
    }
  }

  // Returns what is left of the piece.
  std::string_view read_value(std::string_view name, std::string_view piece) {
    if (equals_ignoring_case(name, "unavailable_after")) {
      in_date_ = true;
      date_counts_ = for_us_ && out_.unavailable_after.empty();
      if (date_counts_) out_.unavailable_after = piece;
      return {};
    }
    const std::string_view value = front_to(piece, " \t\r\n\f");
    if (for_us_) set_value(name, value, &out_);
    return trim(piece.substr(value.size()));
  }

  void continue_date(std::string_view piece) {
    if (!date_counts_ || out_.unavailable_after.size() > kUnavailableAfterBytesMax) return;
    out_.unavailable_after.append(",").append(piece);
  }

  void cut_date() {
    std::string& date = out_.unavailable_after;
    date = trim(std::string_view(date).substr(0, kUnavailableAfterBytesMax));
  }

  bool agents_;
  std::string_view token_;
  bool for_us_ = true;
  bool in_date_ = false;
  bool date_counts_ = false;
  RobotsDirectives out_;
};

}  // namespace

RobotsDirectives merge(const RobotsDirectives& a, const RobotsDirectives& b) {
  RobotsDirectives out = a;
  for (const Flag& flag : kFlags) out.*flag.field = a.*flag.field || b.*flag.field;
  // This one lifts a noindex, so it counts only if no other noindex stands alone.
  out.indexifembedded = (a.indexifembedded && b.indexifembedded) ||
                        (a.indexifembedded && !b.noindex) || (b.indexifembedded && !a.noindex);
  out.max_snippet = lower_limit(a.max_snippet, b.max_snippet);
  out.max_video_preview = lower_limit(a.max_video_preview, b.max_video_preview);
  if (b.max_image_preview) {
    out.max_image_preview =
        std::min(*b.max_image_preview, a.max_image_preview.value_or(*b.max_image_preview));
  }
  if (out.unavailable_after.empty()) out.unavailable_after = b.unavailable_after;
  return out;
}

bool is_robots_meta_name(std::string_view name, std::string_view agent) {
  name = trim(name);
  const std::string_view token = robots_product_token(agent);
  return equals_ignoring_case(name, "robots") ||
         (!token.empty() && equals_ignoring_case(name, token));
}

RobotsDirectives parse_meta_robots(std::string_view content) {
  return Reader(false, {}).read(content);
}

RobotsDirectives parse_x_robots_tag(std::string_view value, std::string_view agent) {
  return Reader(true, agent).read(value);
}

}  // namespace meguri::web
