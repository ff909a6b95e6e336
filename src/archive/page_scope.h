// PageScope: which pages are meant, by their URLs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "archive/index_entry.h"
#include "archive/key_range.h"
#include "base/result.h"

namespace meguri::archive {

// Any of what was added; all pages if nothing was. Hosts are meant as SURT keys have them: with and
// without "www.", by http and https. Thread-compatible.
class PageScope {
 public:
  // kInvalid: the text is none; the sentence says so.
  base::Status add_host(std::string_view host);      // "example.com", "example.com:8080"
  base::Status add_domain(std::string_view domain);  // a host with all below it
  // All URLs that begin so, as they are written: "https://example.com/docs/". Without a scheme,
  // "example.com/docs/", as SURT keys have it.
  base::Status add_prefix(std::string_view prefix);
  base::Status add_url(std::string_view url);  // exactly one page

  bool is_all() const { return rules_.empty(); }
  // Where the pages meant stand in an index, and perhaps others.
  std::vector<KeyRange> ranges() const;
  // Whether the page of an entry is meant.
  bool holds(const EntryView& entry) const;

 private:
  struct Rule {
    std::vector<std::string> fronts;  // of SURT keys
    std::string url = {};             // that the URL must begin with, or be; empty: nothing more
    bool is_exact = false;
    bool ends_segment = false;  // the front is to be followed by an end of a segment
  };
  static bool holds(const Rule& rule, const EntryView& entry);

  std::vector<Rule> rules_;
};

}  // namespace meguri::archive
