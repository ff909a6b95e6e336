#include "crawl/exclusion_list.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "web/ascii.h"
#include "web/canonical.h"

namespace meguri::crawl {

namespace {

// One expression that needs more is refused; all together may have the second.
constexpr std::int64_t kExpressionBytesMax = 1 << 20;
constexpr std::int64_t kAllExpressionsBytesMax = 64 << 20;

re2::RE2::Options expression_options(std::int64_t bytes_max) {
  re2::RE2::Options options(re2::RE2::Latin1);  // canonical URLs are ASCII
  options.set_log_errors(false);
  options.set_max_mem(bytes_max);
  return options;
}

re2::StringPiece piece_of(std::string_view text) { return {text.data(), text.size()}; }

std::string_view without_scheme(const web::Url& url) {
  return url.without_fragment().substr(url.scheme().size() + 1);
}

base::Result<web::Url> canonical_url(std::string_view text) {
  auto url = web::Url::parse(text);
  if (!url || !url->is_http()) {
    return base::fail(base::ErrorCode::kInvalid, "{} is no http or https URL", base::quoted(text));
  }
  return web::canonical(*std::move(url));
}

}  // namespace

// All of them at once, and one by one for the day when the automaton of all has no room for a URL.
struct ExclusionList::Expressions {
  re2::RE2::Set all{expression_options(kAllExpressionsBytesMax), re2::RE2::UNANCHORED};
  std::vector<std::unique_ptr<re2::RE2>> each;

  base::Status add(std::string_view text) {
    auto one = std::make_unique<re2::RE2>(piece_of(text), expression_options(kExpressionBytesMax));
    if (!one->ok()) {
      return base::fail(base::ErrorCode::kInvalid, "{} is no regular expression: {}",
                        base::quoted(text), one->error());
    }
    all.Add(piece_of(text), nullptr);
    each.push_back(std::move(one));
    return {};
  }

  bool is_found_in(std::string_view url) const {
    re2::RE2::Set::ErrorInfo error{};
    if (all.Match(piece_of(url), nullptr, &error)) return true;
    if (error.kind == re2::RE2::Set::kNoError) return false;
    return std::ranges::any_of(
        each, [&](const auto& one) { return re2::RE2::PartialMatch(piece_of(url), *one); });
  }
};

void ExclusionList::Names::add(std::string_view name) {
  if (contains(name)) return;
  const auto index = static_cast<Index>(ends_.size());
  texts_ += name;
  ends_.push_back(texts_.size());
  hashes_.push_back(base::hash64(name));
  table_.insert(hashes_.back(), index);
}

std::string_view ExclusionList::Names::at(Index i) const {
  const std::uint64_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::string_view(texts_).substr(begin, ends_[i] - begin);
}

// Should two names have one hash, the later is not found: once in 10^13 lists of a million.
bool ExclusionList::Names::contains(std::string_view name) const {
  if (ends_.empty()) return false;
  const Index found = table_.find(base::hash64(name), [this](Index i) { return hashes_[i]; });
  return found != kNoIndex && at(found) == name;
}

ExclusionList::ExclusionList() = default;
ExclusionList::~ExclusionList() = default;

base::Result<std::shared_ptr<const ExclusionList>> ExclusionList::parse(
    std::string_view text, std::shared_ptr<const ExclusionList> also) {
  auto list = std::make_shared<ExclusionList>();
  list->also_ = std::move(also);
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = web::trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    if (const auto status = list->add_line(line); !status) {
      return base::fail(status.error().code(), "line {}: {}", number, status.error().message());
    }
  }
  RETURN_IF_ERROR(list->finish());
  return list;
}

base::Status ExclusionList::add_line(std::string_view line) {
  ++rules_;
  if (line.starts_with('/')) {
    if (line.size() < 3 || !line.ends_with('/')) {
      return base::fail(base::ErrorCode::kInvalid,
                        "{} begins as a regular expression and has no '/' at its end",
                        base::quoted(line));
    }
    if (!expressions_) expressions_ = std::make_unique<Expressions>();
    return expressions_->add(line.substr(1, line.size() - 2));
  }
  if (line.starts_with('=')) return add_page(web::trim(line.substr(1)));
  return line.contains("://") ? add_prefix(line) : add_host(line);
}

base::Status ExclusionList::add_host(std::string_view text) {
  const bool is_domain = text.starts_with("*.");
  const std::string_view name = is_domain ? text.substr(2) : text;
  const bool is_plain = name.find_first_of("/:@?#\\*") == std::string_view::npos;
  const auto url = is_plain || name.starts_with('[')
                       ? web::Url::parse("http://" + std::string(name) + "/")
                       : std::nullopt;
  if (!url || url->host().empty() || url->path() != "/") {
    return base::fail(base::ErrorCode::kInvalid, "{} is no host, *.domain, URL or /expression/",
                      base::quoted(text));
  }
  const web::Url canonical = web::canonical(*url);
  (is_domain ? domains_ : hosts_).add(canonical.host());
  return {};
}

base::Status ExclusionList::add_prefix(std::string_view text) {
  ASSIGN_OR_RETURN(const web::Url url, canonical_url(text));
  prefixes_.emplace_back(without_scheme(url));
  return {};
}

base::Status ExclusionList::add_page(std::string_view text) {
  ASSIGN_OR_RETURN(const web::Url url, canonical_url(text));
  pages_.add(without_scheme(url));
  return {};
}

// Of prefixes that begin with each other only the shortest counts. In what is left, only the
// greatest that is not behind a text can begin it.
base::Status ExclusionList::finish() {
  std::ranges::sort(prefixes_);
  std::size_t kept = 0;
  for (std::string& prefix : prefixes_) {
    if (kept > 0 && prefix.starts_with(prefixes_[kept - 1])) continue;
    if (&prefix != &prefixes_[kept]) prefixes_[kept] = std::move(prefix);
    ++kept;
  }
  prefixes_.resize(kept);
  prefixes_.shrink_to_fit();
  if (expressions_ && !expressions_->all.Compile()) {
    return base::fail(base::ErrorCode::kInvalid,
                      "the regular expressions together need more than {} bytes",
                      kAllExpressionsBytesMax);
  }
  return {};
}

bool ExclusionList::has_prefix_of(std::string_view text) const {
  const auto behind = std::ranges::upper_bound(prefixes_, text, std::less<>());
  return behind != prefixes_.begin() && text.starts_with(*std::prev(behind));
}

bool ExclusionList::excludes(const web::Url& url) const {
  if (also_ && also_->excludes(url)) return true;
  if (rules_ == 0) return false;
  const std::string_view host = url.host();
  if (hosts_.contains(host)) return true;
  for (std::string_view domain = host; !domain.empty();) {
    if (domains_.contains(domain)) return true;
    const std::size_t dot = domain.find('.');
    domain.remove_prefix(dot == std::string_view::npos ? domain.size() : dot + 1);
  }
  if (pages_.contains(without_scheme(url))) return true;
  if (!prefixes_.empty() && has_prefix_of(without_scheme(url))) return true;
  return expressions_ && expressions_->is_found_in(url.without_fragment());
}

}  // namespace meguri::crawl
