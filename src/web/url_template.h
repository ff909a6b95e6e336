// URL templates: which pages of a host are made by the same program. "/item/4711/photos?page=2" is
// an instance of "/item/{id}/photos?page={n}". Templates group pages for budgets and estimates;
// they never decide what a page is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "web/url.h"

namespace meguri::web {

// Path segments and query arguments looked at; what follows them is "{rest}".
inline constexpr std::size_t kTemplateFieldsMax = 32;
// A longer segment or value is "{long}".
inline constexpr std::size_t kTemplateFieldBytesMax = 128;

// Path and query of `url` with the parts that look like parameters replaced, each alone by its
// form:
//   {date}     2024-07-15, 20240715, and the segments 2024/07 or 2024/07/15
//   {session}  a session id, by the name of its argument or as ASP.NET writes it
//   {id}       a number in a path; anywhere a UUID, eight or more hexadecimal digits of both kinds,
//              or 16 or more letters and digits with at least four digits
//   {n}        a number in a query
// Words stay, and so does what separates them: "/news-{id}.html". Pure; linear in the URL.
std::string lexical_template(const Url& url);

struct TemplateLimits {
  std::size_t nodes_max = 4096;  // of the tree below; 4,096 take about 400 KB
  std::size_t values_max = 32;   // distinct values of one field before it becomes "{*}"
};

// Learns the templates of one host from its URLs. Beyond forms, a field that took more than
// `values_max` values in the same surrounding becomes "{*}": the same number of segments, names of
// arguments, file extension, and fields before it. What was learned behind such a field is
// forgotten and learned again for all its values together.
//
// The same URLs in the same order give the same templates. Memory is bounded by the limits: when
// all nodes are taken, URLs of unknown shape are "{other}" and unknown values "{*}", so the number
// of templates is bounded too. Thread-compatible.
class TemplateLearner {
 public:
  explicit TemplateLearner(TemplateLimits limits = {});

  void observe(const Url& url);

  // The template of `url` by what has been observed so far.
  std::string template_of(const Url& url) const;
  std::uint64_t hash_of(const Url& url) const;  // of template_of(url)

  std::size_t node_count() const { return nodes_.size() - free_.size(); }
  bool is_full() const { return node_count() >= limits_.nodes_max; }

 private:
  // A field in its surrounding. Invariant: an open node has at most one child, for all values.
  struct Node {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> children;  // by hash of value; in order
    bool open = false;
  };

  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  std::uint32_t child_of(std::uint32_t node, std::uint64_t value) const;
  std::uint32_t add_child(std::uint32_t node, std::uint64_t value);
  void open(std::uint32_t node);

  TemplateLimits limits_;
  std::vector<Node> nodes_;  // the first is the root; its children are shapes
  std::vector<std::uint32_t> free_;
};

}  // namespace meguri::web
