#include "web/url_template.h"

#include <algorithm>
#include <iterator>

#include "base/hash.h"
#include "web/url_fields.h"

namespace meguri::web {

namespace {

// Stands for all values of an open node.
constexpr std::uint64_t kAnyValue = 0;

std::string any_value(const UrlField& field) { return "{*}" + field.extension; }

}  // namespace

std::string lexical_template(const Url& url) {
  std::string out;
  for (const UrlField& field : fields_of(url)) out.append(field.before).append(field.form);
  return out;
}

TemplateLearner::TemplateLearner(TemplateLimits limits) : limits_(limits), nodes_(1) {}

std::uint32_t TemplateLearner::child_of(std::uint32_t node, std::uint64_t value) const {
  const auto& children = nodes_[node].children;
  const auto at = std::ranges::lower_bound(children, value, {},
                                           &std::pair<std::uint64_t, std::uint32_t>::first);
  return at != children.end() && at->first == value ? at->second : kNone;
}

std::uint32_t TemplateLearner::add_child(std::uint32_t node, std::uint64_t value) {
  if (is_full()) return kNone;
  std::uint32_t child = static_cast<std::uint32_t>(nodes_.size());
  if (free_.empty()) {
    nodes_.emplace_back();
  } else {
    child = free_.back();
    free_.pop_back();
    nodes_[child] = Node();
  }
  auto& children = nodes_[node].children;
  const auto at = std::ranges::lower_bound(children, value, {},
                                           &std::pair<std::uint64_t, std::uint32_t>::first);
  children.insert(at, {value, child});
  return child;
}

// Makes `node` one for all values and gives back all nodes below it.
void TemplateLearner::open(std::uint32_t node) {
  std::vector<std::uint32_t> pending = {node};
  while (!pending.empty()) {
    Node& current = nodes_[pending.back()];
    pending.pop_back();
    for (const auto& [value, child] : current.children) {
      pending.push_back(child);
      free_.push_back(child);
    }
    current = Node();
  }
  nodes_[node].open = true;
}

void TemplateLearner::observe(const Url& url) {
  const std::vector<UrlField> fields = fields_of(url);
  const std::uint64_t shape = shape_of(fields);
  std::uint32_t node = child_of(0, shape);
  if (node == kNone) node = add_child(0, shape);
  for (std::size_t i = 0; i < fields.size() && node != kNone; ++i) {
    const std::uint64_t value = base::hash64(fields[i].form);
    std::uint32_t next = child_of(node, nodes_[node].open ? kAnyValue : value);
    if (next == kNone && !nodes_[node].open && nodes_[node].children.size() >= limits_.values_max) {
      open(node);
    }
    if (next == kNone) next = add_child(node, nodes_[node].open ? kAnyValue : value);
    node = next;
  }
}

std::string TemplateLearner::template_of(const Url& url) const {
  const std::vector<UrlField> fields = fields_of(url);
  std::uint32_t node = child_of(0, shape_of(fields));
  if (node == kNone && is_full()) return "{other}";
  std::string out;
  for (const UrlField& field : fields) {
    const bool is_open = node != kNone && nodes_[node].open;
    if (node != kNone) node = child_of(node, is_open ? kAnyValue : base::hash64(field.form));
    const bool is_unknown = node == kNone && is_full();
    out.append(field.before).append(is_open || is_unknown ? any_value(field) : field.form);
  }
  return out;
}

std::uint64_t TemplateLearner::hash_of(const Url& url) const {
  return base::hash64(template_of(url));
}

}  // namespace meguri::web
