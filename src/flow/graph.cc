#include "flow/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace meguri::flow {

using base::ErrorCode;
using base::fail;
using base::Status;

std::size_t Graph::add_node(NodeSpec spec) {
  nodes_.push_back(std::move(spec));
  return nodes_.size() - 1;
}

std::size_t Graph::next_link(std::size_t node, std::size_t place,
                             const std::string& output_key) const {
  std::size_t next = 0;
  for (const EdgeSpec& edge : edges_) {
    if (edge.from == node && edge.from_place == place && edge.output_key == output_key) {
      next = std::max(next, edge.link + 1);
    }
  }
  return next;
}

std::string Graph::spill_name(std::size_t from, std::size_t to) const {
  const std::string name = nodes_[from].name + "-" + nodes_[to].name;
  std::string unique = name;
  for (int n = 2; std::ranges::find(nodes_, unique, &NodeSpec::name) != nodes_.end(); ++n) {
    unique = fmt::format("{}-{}", name, n);
  }
  return unique;
}

Status Graph::set_instances(std::string_view module, std::size_t instances) {
  const auto node = std::ranges::find(nodes_, module, &NodeSpec::name);
  if (node == nodes_.end()) return fail(ErrorCode::kNotFound, "there is no module '{}'", module);
  if (instances == 0 || instances > base::kPartitions) {
    return fail(ErrorCode::kInvalid, "module '{}' cannot have {} instances: 1 to {}", module,
                instances, base::kPartitions);
  }
  if (node->options.split == Split::kSingle && instances != 1) {
    return fail(ErrorCode::kInvalid, "module '{}' can have only one instance", module);
  }
  node->options.instances = instances;
  return {};
}

namespace {

// A directed graph over the nodes, for the checks below.
using Successors = std::vector<std::vector<std::size_t>>;

// The nodes of some cycle in order, or nullopt.
std::optional<std::vector<std::size_t>> find_cycle(const Successors& next) {
  enum class Mark : std::uint8_t { kNew, kOpen, kDone };
  std::vector<Mark> marks(next.size(), Mark::kNew);
  for (std::size_t root = 0; root < next.size(); ++root) {
    if (marks[root] != Mark::kNew) continue;
    std::vector<std::pair<std::size_t, std::size_t>> path{{root, 0}};  // node, next successor
    marks[root] = Mark::kOpen;
    while (!path.empty()) {
      auto& [node, position] = path.back();
      if (position == next[node].size()) {
        marks[node] = Mark::kDone;
        path.pop_back();
        continue;
      }
      const std::size_t successor = next[node][position++];
      if (marks[successor] == Mark::kOpen) {
        std::vector<std::size_t> cycle;
        auto it = std::ranges::find(path, successor, &std::pair<std::size_t, std::size_t>::first);
        for (; it != path.end(); ++it) cycle.push_back(it->first);
        return cycle;
      }
      if (marks[successor] == Mark::kNew) {
        marks[successor] = Mark::kOpen;
        path.emplace_back(successor, 0);
      }
    }
  }
  return std::nullopt;
}

std::vector<bool> reachable_from(const Successors& next, std::size_t start) {
  std::vector<bool> seen(next.size(), false);
  std::vector<std::size_t> open{start};
  seen[start] = true;
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    for (const std::size_t successor : next[node]) {
      if (seen[successor]) continue;
      seen[successor] = true;
      open.push_back(successor);
    }
  }
  return seen;
}

// Edges on which a producer may have to wait for its consumer. A spill always takes items.
bool can_wait(const Graph& graph, const EdgeSpec& edge) {
  return edge.edge.can_fill() && !graph.nodes()[edge.to].spills;
}

Successors waiting_edges(const Graph& graph) {
  Successors next(graph.nodes().size());
  for (const EdgeSpec& edge : graph.edges()) {
    if (can_wait(graph, edge)) next[edge.from].push_back(edge.to);
  }
  return next;
}

Status check_names(const Graph& graph) {
  for (const NodeSpec& node : graph.nodes()) {
    const bool plain = !node.name.empty() && std::ranges::all_of(node.name, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
    if (!plain) {
      return fail(ErrorCode::kInvalid, "'{}' is no module name: use a-z, 0-9, '-' and '_'",
                  node.name);
    }
    if (std::ranges::count(graph.nodes(), node.name, &NodeSpec::name) > 1) {
      return fail(ErrorCode::kInvalid, "two modules are named '{}'", node.name);
    }
    if (node.options.instances == 0 ||
        (node.options.split == Split::kSingle && node.options.instances != 1)) {
      return fail(ErrorCode::kInvalid, "module '{}' cannot have {} instances", node.name,
                  node.options.instances);
    }
  }
  return {};
}

Status check_cycles(const Graph& graph) {
  const auto cycle = find_cycle(waiting_edges(graph));
  if (!cycle) return {};
  std::string path;
  for (const std::size_t node : *cycle) path += graph.nodes()[node].name + " → ";
  path += graph.nodes()[cycle->front()].name;
  return fail(ErrorCode::kInvalid,
              "the cycle {} would come to a stand when its queues are full: "
              "make one of its edges spilling or give it credits",
              path);
}

Status check_credits(const Graph& graph) {
  Successors next(graph.nodes().size());
  for (const EdgeSpec& edge : graph.edges()) next[edge.from].push_back(edge.to);
  std::vector<bool> under(graph.nodes().size(), false);
  for (const EdgeSpec& edge : graph.edges()) {
    if (edge.edge.credits() == 0) continue;
    const std::vector<bool> below = reachable_from(next, edge.to);
    for (std::size_t i = 0; i < under.size(); ++i) under[i] = under[i] || below[i];
  }
  for (const EdgeSpec& edge : graph.edges()) {
    const bool needs = edge.edge.type() == Edge::Type::kCredit && edge.edge.credits() == 0;
    if (needs && !under[edge.from]) {
      return fail(ErrorCode::kInvalid,
                  "the edge {} → {} is under credit, but no credit edge leads to it",
                  graph.nodes()[edge.from].name, graph.nodes()[edge.to].name);
    }
  }
  return {};
}

// A consumer that has the marker of p1 stops reading p1 until it has the marker of p2. If p2 can
// be held up by p1 through edges that carry no markers, both would wait for ever.
Status check_markers(const Graph& graph) {
  const Successors waiting = waiting_edges(graph);
  std::vector<std::vector<bool>> reach;
  for (std::size_t i = 0; i < waiting.size(); ++i) reach.push_back(reachable_from(waiting, i));
  const auto held_up = [&](std::size_t p2, std::size_t p1) {
    return std::ranges::any_of(graph.edges(), [&](const EdgeSpec& edge) {
      return can_wait(graph, edge) && !edge.edge.carries_epochs() && reach[p2][edge.from] &&
             reach[edge.to][p1];
    });
  };
  for (const EdgeSpec& a : graph.edges()) {
    for (const EdgeSpec& b : graph.edges()) {
      const bool aligned = a.to == b.to && a.edge.carries_epochs() && b.edge.carries_epochs();
      if (!aligned || a.from == b.from || !held_up(b.from, a.from)) continue;
      return fail(ErrorCode::kInvalid,
                  "epochs could come to a stand: {} waits for markers of {} and {}, which are "
                  "joined by an in-flight edge: give that edge credits",
                  graph.nodes()[a.to].name, graph.nodes()[a.from].name, graph.nodes()[b.from].name);
    }
  }
  return {};
}

}  // namespace

Status Graph::validate() const {
  RETURN_IF_ERROR(check_names(*this));
  RETURN_IF_ERROR(check_cycles(*this));
  RETURN_IF_ERROR(check_credits(*this));
  return check_markers(*this);
}

std::string Graph::mermaid() const {
  std::vector<std::unique_ptr<Module>> samples;
  std::string text = "flowchart LR\n";
  const auto id = [](std::size_t node, std::size_t place) {
    return place == 0 ? fmt::format("n{}", node) : fmt::format("n{}p{}", node, place);
  };
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const NodeSpec& node = nodes_[i];
    samples.push_back(node.make());
    const std::size_t n = node.options.instances;
    const std::string label = n == 1 ? node.name : fmt::format("{} ×{}", node.name, n);
    text += node.spills ? fmt::format("  {}[(\"{}\")]\n", id(i, 0), label)
                        : fmt::format("  {}[\"{}\"]\n", id(i, 0), label);
    for (std::size_t place = 1; place < node.places; ++place) {
      text += fmt::format("  {}[\"{}\"]:::again\n", id(i, place), label);
    }
  }
  for (const EdgeSpec& edge : edges_) {
    const char* arrow = edge.edge.carries_epochs() ? "-->" : "-.->";
    text += fmt::format(
        "  {} {}|\"{}{}\"| {}\n", id(edge.from, edge.from_place), arrow, edge.switched ? "? " : "",
        edge.label(*samples[edge.from], *samples[edge.to]), id(edge.to, edge.to_place));
  }
  if (std::ranges::any_of(nodes_, [](const NodeSpec& node) { return node.places > 1; })) {
    text += "  classDef again stroke-dasharray: 5 5\n";
  }
  return text;
}

}  // namespace meguri::flow
