// UrlRules: which URLs belong to a crawl, and the reason against each other one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "crawl/messages.h"
#include "crawl/options.h"
#include "web/url.h"
#include "web/url_filter.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace meguri::crawl {

// Why a candidate does not become a page. The values below kNotAUrl are those of web::UrlRefusal,
// in its order; they are looked for first, then these, in this order.
enum class UrlReason : std::uint8_t {
  kNotAUrl = static_cast<std::uint8_t>(web::UrlRefusal::kCalendar) + 1,
  kDepth,        // too many links from the seeds
  kHops,         // too many redirects
  kEmbed,        // embeds are not wanted
  kScope,        // elsewhere
  kNotIncluded,  // no include is found in it
  kExcluded,     // an exclude is
  kListed,       // it is on the exclusion list
};
inline constexpr std::size_t kUrlReasons = static_cast<std::size_t>(UrlReason::kListed) + 1;

constexpr UrlReason reason_of(web::UrlRefusal refusal) { return static_cast<UrlReason>(refusal); }

std::string_view name_of(UrlReason reason);  // "scope", "too-long"

// Made from options and seeds; widened by further seeds and by where seeds redirect to, else pure.
// Linear in the URL, whatever the patterns are, because RE2 matches them. Thread-compatible.
//
// What is in the scope belongs to the crawl, and besides, wherever it is: what a page in it embeds;
// a sitemap that the robots.txt of one of its hosts names, and what such an index names in turn;
// and where either of these redirects to. Seeds and what they redirect to are in it by widen().
class UrlRules {
 public:
  // kInvalid: a pattern is no regular expression; the error says which and why. Seeds that are no
  // URLs are passed over: the Seeder says so.
  static base::Result<UrlRules> make(const ScopeOptions& options,
                                     const std::vector<std::string>& seeds);
  UrlRules(UrlRules&&) noexcept;
  UrlRules& operator=(UrlRules&&) noexcept;
  ~UrlRules();

  // Nullopt: the candidate may become a page, and its URL is canonical now. `year_now` is for dates
  // that no page can have; 0: any may.
  std::optional<UrlReason> check(Candidate& candidate, int year_now) const;

  // The scope holds what it would if this canonical URL were a seed.
  void widen(const web::Url& url);
  // What widen() needs to know of a URL, as a shorter one that many have in common. Empty: nothing.
  std::string place_of(const web::Url& url) const;

  // Whether the scope itself holds a canonical URL, whatever the other rules say.
  bool in_scope(const web::Url& url) const;

 private:
  using Patterns = std::vector<std::unique_ptr<re2::RE2>>;
  struct TextHash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): as the standard has it
    std::size_t operator()(std::string_view text) const { return base::hash64(text); }
  };

  explicit UrlRules(const ScopeOptions& options);
  std::string_view place_text(const web::Url& url) const;
  bool begins_with_a_place(const web::Url& url) const;
  bool is_near(const Candidate& candidate, const web::Url& url) const;
  static base::Status compile(const std::vector<std::string>& texts, std::string_view what,
                              Patterns& patterns);

  Scope scope_;
  std::uint32_t depth_max_;
  std::uint8_t hops_max_;
  bool embeds_;
  web::UrlFilterLimits limits_;
  bool allow_intranet_ = false;
  using Texts = std::unordered_set<std::string, TextHash, std::equal_to<>>;
  // By scope: hosts, domains, or seeds without scheme up to their last slash.
  Texts places_;
  Texts prefix_hosts_;  // of the last
  Patterns includes_;
  Patterns excludes_;
};

}  // namespace meguri::crawl
