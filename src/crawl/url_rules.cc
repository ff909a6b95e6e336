#include "crawl/url_rules.h"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "web/canonical.h"
#include "web/domain.h"

namespace meguri::crawl {

namespace {

// A pattern that needs more is refused; a set of states above it is thrown away and built anew.
constexpr std::int64_t kPatternBytesMax = 1 << 20;

std::string_view domain_of(std::string_view host) {
  const std::string_view domain = web::registrable_domain(host);
  return domain.empty() ? host : domain;
}

// "//example.org:8080/a/b" of "https://example.org:8080/a/b?q"; a site that moves to https stays.
std::string_view without_scheme_and_query(const web::Url& url) {
  std::string_view text = url.without_fragment();
  text = text.substr(
      0, static_cast<std::size_t>(url.path().data() - url.href().data()) + url.path().size());
  return text.substr(url.scheme().size() + 1);
}

// A name that no registry gave out.
bool is_of_an_intranet(const web::Url& url) {
  const auto refusal = web::check(url, {});
  return refusal == web::UrlRefusal::kSingleLabel || refusal == web::UrlRefusal::kUnknownSuffix ||
         refusal == web::UrlRefusal::kBareSuffix;
}

bool is_found(const auto& patterns, std::string_view url) {
  return std::ranges::any_of(patterns, [&](const auto& pattern) {
    return re2::RE2::PartialMatch(re2::StringPiece(url.data(), url.size()), *pattern);
  });
}

}  // namespace

std::string_view name_of(UrlReason reason) {
  switch (reason) {
    case UrlReason::kNotAUrl: return "not-a-url";
    case UrlReason::kDepth: return "depth";
    case UrlReason::kHops: return "hops";
    case UrlReason::kEmbed: return "embed";
    case UrlReason::kScope: return "scope";
    case UrlReason::kNotIncluded: return "not-included";
    case UrlReason::kExcluded: return "excluded";
    case UrlReason::kListed: return "listed";
  }
  return web::name_of(static_cast<web::UrlRefusal>(reason));
}

UrlRules::UrlRules(const ScopeOptions& options)
    : scope_(options.scope),
      depth_max_(options.depth_max),
      hops_max_(options.hops_max),
      embeds_(options.embeds),
      limits_(options.url) {}
UrlRules::UrlRules(UrlRules&&) noexcept = default;
UrlRules& UrlRules::operator=(UrlRules&&) noexcept = default;
UrlRules::~UrlRules() = default;

base::Result<UrlRules> UrlRules::make(const ScopeOptions& options,
                                      const std::vector<std::string>& seeds) {
  UrlRules rules(options);
  RETURN_IF_ERROR(compile(options.includes, "include", rules.includes_));
  RETURN_IF_ERROR(compile(options.excludes, "exclude", rules.excludes_));
  for (const std::string& seed : seeds) {
    if (const auto url = web::Url::parse(seed)) rules.widen(web::canonical(*url));
  }
  return rules;
}

base::Status UrlRules::compile(const std::vector<std::string>& texts, std::string_view what,
                               Patterns& patterns) {
  re2::RE2::Options options(re2::RE2::Latin1);  // canonical URLs are ASCII
  options.set_log_errors(false);
  options.set_max_mem(kPatternBytesMax);
  for (const std::string& text : texts) {
    auto pattern = std::make_unique<re2::RE2>(text, options);
    if (!pattern->ok()) {
      return base::fail(base::ErrorCode::kInvalid, "the {} pattern {} cannot be used: {}", what,
                        base::quoted(text), pattern->error());
    }
    patterns.push_back(std::move(pattern));
  }
  return {};
}

// Empty for a scope without places.
std::string_view UrlRules::place_text(const web::Url& url) const {
  switch (scope_) {
    case Scope::kHost: return url.host();
    case Scope::kDomain: return domain_of(url.host());
    case Scope::kPrefix: {
      const std::string_view text = without_scheme_and_query(url);
      return text.substr(0, text.rfind('/') + 1);
    }
    case Scope::kAny: return {};
  }
  return {};
}

std::string UrlRules::place_of(const web::Url& url) const {
  if (!url.is_http()) return {};
  const std::string_view text = place_text(url);
  if (scope_ == Scope::kPrefix) return "http:" + std::string(text);
  if (scope_ != Scope::kAny) return "http://" + std::string(text) + "/";
  return is_of_an_intranet(url) ? "http://" + std::string(url.host()) + "/" : std::string();
}

void UrlRules::widen(const web::Url& url) {
  if (!url.is_http()) return;
  // A seed with such a name says that the crawl is of such a network.
  if (!allow_intranet_) allow_intranet_ = is_of_an_intranet(url);
  if (scope_ == Scope::kAny) return;
  places_.emplace(place_text(url));
  if (scope_ == Scope::kPrefix) prefix_hosts_.emplace(url.host());
}

bool UrlRules::begins_with_a_place(const web::Url& url) const {
  const std::string_view text = without_scheme_and_query(url);
  for (std::size_t slash = text.find('/', 2); slash != std::string_view::npos;
       slash = text.find('/', slash + 1)) {
    if (places_.contains(text.substr(0, slash + 1))) return true;
  }
  return false;
}

bool UrlRules::in_scope(const web::Url& url) const {
  switch (scope_) {
    case Scope::kHost: return places_.contains(url.host());
    case Scope::kDomain: return places_.contains(domain_of(url.host()));
    case Scope::kPrefix: return begins_with_a_place(url);
    case Scope::kAny: return true;
  }
  return false;
}

// In the scope, about to be in it, or one step away from it, as the class says. A step is believed
// of a chain of redirects and of an index of sitemaps, because their beginning was judged here.
bool UrlRules::is_near(const Candidate& candidate, const web::Url& url) const {
  if (candidate.is_seed() || in_scope(url)) return true;
  if (candidate.offer == Offer::kRedirect) {
    return candidate.chain == Offer::kEmbed || candidate.chain == Offer::kSitemap;
  }
  const auto via = web::Url::parse(candidate.via);
  if (!via) return false;
  if (candidate.offer == Offer::kEmbed) return in_scope(*via);
  if (candidate.offer != Offer::kSitemap) return false;
  if (via->path() != "/robots.txt") return true;
  return scope_ == Scope::kPrefix ? prefix_hosts_.contains(via->host()) : in_scope(*via);
}

std::optional<UrlReason> UrlRules::check(Candidate& candidate, int year_now) const {
  auto parsed = web::Url::parse(candidate.url);
  if (!parsed) return UrlReason::kNotAUrl;
  const web::Url url = web::canonical(*std::move(parsed));
  const bool is_given = candidate.offer == Offer::kSeed;
  web::UrlFilterLimits limits = limits_;
  limits.allow_intranet = allow_intranet_ || is_given;
  limits.year_now = year_now;
  if (const auto refusal = web::check(url, limits)) return reason_of(*refusal);
  if (candidate.depth > depth_max_) return UrlReason::kDepth;
  if (candidate.hops > hops_max_) return UrlReason::kHops;
  if (candidate.offer == Offer::kEmbed && !embeds_) return UrlReason::kEmbed;
  if (!is_near(candidate, url)) return UrlReason::kScope;
  if (!includes_.empty() && !is_found(includes_, url.href())) return UrlReason::kNotIncluded;
  if (is_found(excludes_, url.href())) return UrlReason::kExcluded;
  if (candidate.url != url.href()) candidate.url = url.href();
  return std::nullopt;
}

}  // namespace meguri::crawl
