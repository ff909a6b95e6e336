#include "sim/site.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "sim/dice.h"
#include "web/ascii.h"

namespace meguri::sim {
namespace {

enum Purpose : std::uint64_t { kHabits = 300, kAddress };

constexpr auto kWords = std::to_array<std::string_view>(
    {"garden", "lake",   "stone",  "river",  "market", "paper",  "music",  "window",
     "bridge", "winter", "summer", "train",  "coast",  "light",  "forest", "coffee",
     "letter", "number", "school", "table",  "house",  "cloud",  "north",  "south",
     "island", "butter", "silver", "travel", "camera", "report", "review", "guide"});

// One of several, by their shares, which need not sum to 1.
template <typename T, std::size_t kSize>
T choose(Dice& dice, const std::array<std::pair<T, double>, kSize>& shares) {
  double all = 0;
  for (const auto& [value, share] : shares) all += share;
  double place = dice.uniform() * all;
  for (const auto& [value, share] : shares) {
    if (place < share) return value;
    place -= share;
  }
  return shares.back().first;
}

constexpr auto kLanguages =
    std::to_array<std::pair<Language, double>>({{Language::kEnglish, 0.45},
                                                {Language::kJapanese, 0.25},
                                                {Language::kGerman, 0.10},
                                                {Language::kFrench, 0.08},
                                                {Language::kSpanish, 0.07},
                                                {Language::kRussian, 0.05}});
constexpr auto kJapaneseCharsets =
    std::to_array<std::pair<web::Charset, double>>({{web::Charset::kUtf8, 0.60},
                                                    {web::Charset::kShiftJis, 0.20},
                                                    {web::Charset::kEucJp, 0.15},
                                                    {web::Charset::kIso2022Jp, 0.05}});
constexpr auto kHints = std::to_array<std::pair<CharsetHint, double>>({{CharsetHint::kHeader, 0.5},
                                                                       {CharsetHint::kMeta, 0.3},
                                                                       {CharsetHint::kWrong, 0.1},
                                                                       {CharsetHint::kNone, 0.1}});
constexpr auto kStyles =
    std::to_array<std::pair<AddressStyle, double>>({{AddressStyle::kFolders, 0.4},
                                                    {AddressStyle::kQuery, 0.2},
                                                    {AddressStyle::kDated, 0.2},
                                                    {AddressStyle::kFlat, 0.2}});
constexpr auto kValidators =
    std::to_array<std::pair<Validators, double>>({{Validators::kNone, 0.40},
                                                  {Validators::kEtag, 0.20},
                                                  {Validators::kLastModified, 0.15},
                                                  {Validators::kBoth, 0.20},
                                                  {Validators::kFickle, 0.03},
                                                  {Validators::kStale, 0.02}});
constexpr auto kSitemaps = std::to_array<std::pair<SitemapHabit, double>>(
    {{SitemapHabit::kNone, 0.42}, {SitemapHabit::kPlain, 0.40}, {SitemapHabit::kGzip, 0.18}});
constexpr auto kFeeds = std::to_array<std::pair<FeedHabit, double>>(
    {{FeedHabit::kNone, 0.75}, {FeedHabit::kRss, 0.15}, {FeedHabit::kAtom, 0.10}});

constexpr double kRobotsChance = 0.35;
constexpr double kSitemapDatesChance = 0.84;
constexpr double kSitemapDatesRightChance = 0.79;

// The number that ends `text`, without leading zeros.
std::optional<std::uint64_t> number_at_end(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && web::is_digit(text[begin - 1])) --begin;
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + begin, end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// `text` without `suffix`; nullopt if it does not end so.
std::optional<std::string_view> without(std::string_view text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return std::nullopt;
  return text.substr(0, text.size() - suffix.size());
}

}  // namespace

std::string_view code_of(Language language) {
  constexpr std::array<std::string_view, 6> kCodes = {"en", "ja", "de", "fr", "es", "ru"};
  return kCodes[static_cast<std::size_t>(language)];
}

Site::Site(const Census& census, HostNumber host)
    : host_(census.content_of(host)), seed_(census.seed()), pages_(census.pages_of(host_)) {
  Dice dice{kHabits, seed_, host_};
  script_.language = choose(dice, kLanguages);
  const web::Charset japanese = choose(dice, kJapaneseCharsets);
  if (script_.language == Language::kJapanese) script_.charset = japanese;
  charset_hint_ = choose(dice, kHints);
  // Taken for any other charset its text is full of tags, and nobody knows what a page links to.
  const bool is_escaped = script_.charset == web::Charset::kIso2022Jp;
  if (is_escaped && charset_hint_ == CharsetHint::kWrong) charset_hint_ = CharsetHint::kMeta;
  style_ = choose(dice, kStyles);
  validators_ = choose(dice, kValidators);
  sitemap_ = choose(dice, kSitemaps);
  sitemap_has_dates_ = dice.chance(kSitemapDatesChance);
  sitemap_dates_are_right_ = dice.chance(kSitemapDatesRightChance);
  feed_ = choose(dice, kFeeds);
  has_robots_ = dice.chance(kRobotsChance);
  can_gzip_ = dice.chance(0.6);
  is_http10_ = dice.chance(0.03);
  is_chunked_ = dice.chance(0.5);
  closes_ = dice.chance(0.1);
  says_gone_ = dice.chance(0.3);
  can_brotli_ = dice.chance(0.3);
  if (census.lists() != ListHabit::kMixed) set_lists(census.lists());
}

void Site::set_lists(ListHabit lists) {
  const bool is_true = lists == ListHabit::kTrue;
  has_robots_ = true;
  sitemap_ = SitemapHabit::kPlain;
  sitemap_has_dates_ = true;
  sitemap_dates_are_right_ = is_true;
  feed_ = is_true ? FeedHabit::kAtom : FeedHabit::kNone;
  validates_lists_ = true;
}

std::string_view Site::word(std::uint64_t number) { return kWords[number % kWords.size()]; }

std::string Site::address_of(PageNumber page) const {
  if (page == 0) return "/";
  Dice dice{kAddress, seed_, host_, page};
  const std::string_view slug = word(dice.bits());
  switch (style_) {
    case AddressStyle::kFolders:
      return fmt::format("/{}/{}/{}-{}.html", word(page / 40), word(page / 7), slug, page);
    case AddressStyle::kQuery: return fmt::format("/item.php?id={}&cat={}", page, dice.below(9));
    case AddressStyle::kDated: {
      // One draw after the other: the order of arguments is the compiler's choice.
      const std::uint64_t year = 2010 + dice.below(16);
      const std::uint64_t month = 1 + dice.below(12);
      return fmt::format("/{}/{:02}/{}-{}/", year, month, slug, page);
    }
    case AddressStyle::kFlat: return fmt::format("/{}-{}.html", slug, page);
  }
  return "/";
}

std::optional<PageNumber> Site::page_of(std::string_view path_and_query) const {
  if (path_and_query == "/") return 0;
  std::optional<std::string_view> stem;
  switch (style_) {
    case AddressStyle::kFolders:
    case AddressStyle::kFlat: stem = without(path_and_query, ".html"); break;
    case AddressStyle::kDated: stem = without(path_and_query, "/"); break;
    case AddressStyle::kQuery: {
      const std::size_t end = path_and_query.find('&');
      if (end != std::string_view::npos) stem = path_and_query.substr(0, end);
      break;
    }
  }
  if (!stem) return std::nullopt;
  const auto page = number_at_end(*stem);
  if (!page || *page == 0 || *page >= pages_) return std::nullopt;
  if (address_of(*page) != path_and_query) return std::nullopt;
  return page;
}

}  // namespace meguri::sim
