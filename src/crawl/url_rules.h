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
};
inline constexpr std::size_t kUrlReasons = static_cast<std::size_t>(UrlReason::kExcluded) + 1;

constexpr UrlReason reason_of(web::UrlRefusal refusal) { return static_cast<UrlReason>(refusal); }

std::string_view name_of(UrlReason reason);  // "scope", "too-long"

// Made from options and seeds; pure but for add_seed(). Const calls are safe from any thread.
// Linear in the URL, whatever the patterns are, because RE2 matches them.
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

  // One more seed, which widens the scope as if it had been there from the beginning. `url` is
  // canonical. Not while another thread asks.
  void add_seed(const web::Url& url);

  // Whether the scope itself holds a canonical URL, whatever the other rules say.
  bool in_scope(const web::Url& url) const;

 private:
  using Patterns = std::vector<std::unique_ptr<re2::RE2>>;
  struct TextHash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): as the standard has it
    std::size_t operator()(std::string_view text) const { return base::hash64(text); }
  };

  explicit UrlRules(const ScopeOptions& options);
  bool begins_with_a_place(const web::Url& url) const;
  bool is_near(const Candidate& candidate, const web::Url& url) const;
  static base::Status compile(const std::vector<std::string>& texts, std::string_view what,
                              Patterns& patterns);

  Scope scope_;
  std::uint32_t depth_max_;
  std::uint8_t hops_max_;
  bool embeds_;
  bool allow_intranet_ = false;
  // By scope: hosts, domains, or seeds without scheme up to their last slash.
  std::unordered_set<std::string, TextHash, std::equal_to<>> places_;
  Patterns includes_;
  Patterns excludes_;
};

}  // namespace meguri::crawl
