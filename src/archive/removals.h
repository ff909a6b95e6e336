// Removals: the takedowns of an archive: pages that its index must never have, whatever the files
// hold. docs/formats/removals.md describes the file.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "env/file_system.h"
#include "web/url.h"

namespace meguri::archive {

// In the archive's folder.
inline constexpr std::string_view kRemovalsFile = "removals.jsonl";

enum class RemovalKind : std::uint8_t {
  kUrl,     // one page, by http and https
  kPrefix,  // all URLs that begin so, by http and https
  kHost,    // all of a host, on any port
  kDomain,  // the host of that name and all below it
};

std::string_view name_of(RemovalKind kind);  // "url"

struct Removal {
  RemovalKind kind = RemovalKind::kUrl;
  std::string what;  // a canonical URL, or the name of a host as URLs have it
  base::Instant date = {};
  std::string by = {};
  std::string reason = {};
  bool rewrites = false;  // the records are to leave the files too

  // kInvalid: the text is no http or https URL, or no name of a host.
  static base::Result<Removal> make(RemovalKind kind, std::string_view text);

  // The front that the keys of all entries it may mean begin with.
  std::string key_front() const;
  // What keeps a crawl from visiting it, as a line of an exclusion list.
  std::string exclusion_rule() const;
  std::string to_json() const;  // a line without its end
  static base::Result<Removal> parse(std::string_view line);

  bool is_same(const Removal& other) const { return kind == other.kind && what == other.what; }
  friend bool operator==(const Removal&, const Removal&) = default;
};

// A question costs the canonical form of the URL and a few lookups, however many removals there
// are. Any thread, while nobody adds.
class Removals {
 public:
  // kCorrupt, with the number of the line, for one that is none: no takedown is overlooked.
  static base::Result<Removals> parse(std::string_view text);
  // Of the archive in this folder. None if it has no list.
  static base::Result<Removals> load(env::FileSystem& files, const std::string& archive);

  void add(Removal removal);
  // Durable when it returns: the archive's list with one more. One writer.
  static base::Status append(env::FileSystem& files, const std::string& archive,
                             const Removal& removal);

  // Whether the page of this URL was taken down; `text` is as a record has it.
  bool has(std::string_view text) const;
  bool empty() const { return all_.empty(); }
  const std::vector<Removal>& all() const { return all_; }
  // Those whose records are to leave the files too.
  Removals rewriting() const;

 private:
  bool has_prefix_of(std::string_view text) const;

  std::vector<Removal> all_;
  // Of URLs without their scheme: "//host/path?query".
  std::set<std::string, std::less<>> urls_;
  std::set<std::string, std::less<>> prefixes_;  // none begins with another
  std::set<std::string, std::less<>> hosts_;
  std::set<std::string, std::less<>> domains_;
};

}  // namespace meguri::archive
