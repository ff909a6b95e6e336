// ExclusionList: what must not be visited, by rules that people write: one a line.
//
//   # takedown requests                   a remark; empty lines count as that
//   example.org                           this host
//   *.example.org                         this domain: the host and all below it
//   https://example.org/private/          what begins so, by http or https
//   =https://example.org/a                that page alone, by http or https
//   /\.(exe|zip)$/                        URLs in which this regular expression (RE2) is found
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "crawl/index_table.h"
#include "web/url.h"

namespace meguri::crawl {

// Immutable once made; any thread. A question costs a lookup for each label of the host, one search
// in the sorted prefixes, and one pass over the URL for all expressions together, so that a million
// rules are asked as fast as ten. Memory: the texts, and some 20 bytes a rule.
class ExclusionList {
 public:
  ExclusionList();  // excludes nothing
  ~ExclusionList();

  // kInvalid, with the number of the line, for a line that is no rule. What `also` excludes, if it
  // is not null, is excluded too.
  static base::Result<std::shared_ptr<const ExclusionList>> parse(
      std::string_view text, std::shared_ptr<const ExclusionList> also = nullptr);

  // `url` is canonical.
  bool excludes(const web::Url& url) const;
  std::size_t rules() const { return rules_ + (also_ ? also_->rules() : 0); }

 private:
  struct Expressions;

  // Strings in one buffer, found by their hash and compared in full.
  class Names {
   public:
    void add(std::string_view name);
    bool contains(std::string_view name) const;

   private:
    std::string_view at(Index i) const;

    std::string texts_;
    std::vector<std::uint64_t> ends_;
    std::vector<std::uint64_t> hashes_;
    IndexTable table_;
  };

  base::Status add_line(std::string_view line);
  base::Status add_host(std::string_view text);
  base::Status add_prefix(std::string_view text);
  base::Status add_page(std::string_view text);
  base::Status finish();
  bool has_prefix_of(std::string_view text) const;

  Names hosts_;
  Names domains_;
  Names pages_;                        // "//host/path?query"
  std::vector<std::string> prefixes_;  // "//host/path?query", sorted; none begins with another
  std::unique_ptr<Expressions> expressions_;
  std::size_t rules_ = 0;
  std::shared_ptr<const ExclusionList> also_;
};

}  // namespace meguri::crawl
