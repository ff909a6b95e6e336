#include "archive/removals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "archive/index_entry.h"
#include "base/text.h"
#include "web/canonical.h"
#include "web/host.h"
#include "web/surt.h"

namespace meguri::archive {

namespace {

using base::ErrorCode;
using Json = nlohmann::ordered_json;

constexpr std::array kKinds = {RemovalKind::kUrl, RemovalKind::kPrefix, RemovalKind::kHost,
                               RemovalKind::kDomain};

std::string_view without_scheme(const web::Url& url) {
  return url.without_fragment().substr(url.scheme().size() + 1);
}

std::optional<web::Url> canonical_of(std::string_view text) {
  auto url = web::Url::parse(text);
  if (!url || !url->is_http()) return std::nullopt;
  return web::canonical(*std::move(url));
}

std::string path_in(const std::string& archive) {
  return fmt::format("{}/{}", archive, kRemovalsFile);
}

// The text of a list that may not be there.
base::Result<std::string> text_of(env::FileSystem& files, const std::string& archive) {
  ASSIGN_OR_RETURN(const bool exists, files.exists(path_in(archive)));
  if (!exists) return std::string();
  return env::read_file(files, path_in(archive));
}

}  // namespace

std::string_view name_of(RemovalKind kind) {
  switch (kind) {
    case RemovalKind::kUrl: return "url";
    case RemovalKind::kPrefix: return "prefix";
    case RemovalKind::kHost: return "host";
    case RemovalKind::kDomain: return "domain";
  }
  return "url";
}

base::Result<Removal> Removal::make(RemovalKind kind, std::string_view text) {
  Removal removal{.kind = kind, .what = {}};
  if (kind == RemovalKind::kUrl || kind == RemovalKind::kPrefix) {
    const auto url = canonical_of(text);
    if (!url) {
      return base::fail(ErrorCode::kInvalid, "{} is no http or https URL", base::quoted(text));
    }
    removal.what = url->without_fragment();
    return removal;
  }
  const bool is_name = web::append_host(text, /*special=*/true, &removal.what);
  if (removal.what.ends_with('.')) removal.what.pop_back();
  if (!is_name || removal.what.empty()) {
    return base::fail(ErrorCode::kInvalid, "{} is no name of a host", base::quoted(text));
  }
  return removal;
}

// Keys begin with the host turned round, and a "www." before it is left out of them.
std::string Removal::key_front() const {
  if (kind == RemovalKind::kUrl) {
    std::string front = page_key_of(what);
    front.resize(front.size() - sizeof(std::uint64_t));  // the hash of the exact URL
    return front;
  }
  const bool is_url = kind == RemovalKind::kPrefix;
  std::string host = is_url ? std::string(web::Url::parse(what)->host()) : what;
  std::string surt = web::surt_key(fmt::format("http://{}/", host));
  return kEntryKeyPrefix + surt.substr(0, surt.find(')'));
}

std::string Removal::exclusion_rule() const {
  switch (kind) {
    case RemovalKind::kUrl: return "=" + what;
    case RemovalKind::kPrefix:
    case RemovalKind::kHost: return what;
    case RemovalKind::kDomain: return "*." + what;
  }
  return what;
}

std::string Removal::to_json() const {
  Json json = {{"date", date.to_rfc3339()}, {std::string(name_of(kind)), what}};
  if (!by.empty()) json["by"] = by;
  if (!reason.empty()) json["reason"] = reason;
  if (rewrites) json["rewrite"] = true;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

base::Result<Removal> Removal::parse(std::string_view line) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return base::fail(ErrorCode::kCorrupt, "it is no JSON object");
  const auto text = [&json](std::string_view name) {
    const auto found = json.find(std::string(name));
    const bool is_text = found != json.end() && found->is_string();
    return is_text ? found->get<std::string>() : std::string();
  };
  std::optional<Removal> removal;
  for (const RemovalKind kind : kKinds) {
    if (!json.contains(std::string(name_of(kind)))) continue;
    auto made = make(kind, text(name_of(kind)));
    if (!made || removal) return base::fail(ErrorCode::kCorrupt, "it does not say what is removed");
    removal = *std::move(made);
  }
  if (!removal) return base::fail(ErrorCode::kCorrupt, "it does not say what is removed");
  if (const auto date = base::Instant::parse_rfc3339(text("date"))) removal->date = *date;
  removal->by = text("by");
  removal->reason = text("reason");
  const auto rewrites = json.find("rewrite");
  removal->rewrites = rewrites != json.end() && *rewrites == true;
  return *std::move(removal);
}

base::Result<Removals> Removals::parse(std::string_view text) {
  Removals removals;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto removal = Removal::parse(line);
    if (!removal) {
      return base::fail(ErrorCode::kCorrupt, "line {}: {}", number, removal.error().message());
    }
    removals.add(*std::move(removal));
  }
  return removals;
}

base::Result<Removals> Removals::load(env::FileSystem& files, const std::string& archive) {
  ASSIGN_OR_RETURN(const std::string text, text_of(files, archive));
  auto removals = parse(text);
  if (!removals) return std::unexpected(removals.error().with_context(path_in(archive)));
  return removals;
}

base::Status Removals::append(env::FileSystem& files, const std::string& archive,
                              const Removal& removal) {
  ASSIGN_OR_RETURN(std::string text, text_of(files, archive));
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += removal.to_json() + "\n";
  return env::write_file_atomically(files, path_in(archive), text);
}

void Removals::add(Removal removal) {
  switch (removal.kind) {
    case RemovalKind::kUrl: urls_.emplace(without_scheme(*web::Url::parse(removal.what))); break;
    case RemovalKind::kPrefix: {
      const std::string prefix(without_scheme(*web::Url::parse(removal.what)));
      if (has_prefix_of(prefix)) break;
      std::erase_if(prefixes_, [&](const std::string& one) { return one.starts_with(prefix); });
      prefixes_.insert(prefix);
      break;
    }
    case RemovalKind::kHost: hosts_.insert(removal.what); break;
    case RemovalKind::kDomain: domains_.insert(removal.what); break;
  }
  all_.push_back(std::move(removal));
}

// Only the greatest that is not behind the text can begin it.
bool Removals::has_prefix_of(std::string_view text) const {
  const auto behind = prefixes_.upper_bound(text);
  return behind != prefixes_.begin() && text.starts_with(*std::prev(behind));
}

bool Removals::has(std::string_view text) const {
  if (all_.empty()) return false;
  const auto url = canonical_of(text);
  if (!url) return false;
  if (hosts_.contains(url->host())) return true;
  for (std::string_view domain = url->host(); !domain.empty() && !domains_.empty();) {
    if (domains_.contains(domain)) return true;
    const std::size_t dot = domain.find('.');
    domain.remove_prefix(dot == std::string_view::npos ? domain.size() : dot + 1);
  }
  const std::string_view page = without_scheme(*url);
  return urls_.contains(page) || has_prefix_of(page);
}

Removals Removals::rewriting() const {
  Removals some;
  for (const Removal& removal : all_) {
    if (removal.rewrites) some.add(removal);
  }
  return some;
}

}  // namespace meguri::archive
