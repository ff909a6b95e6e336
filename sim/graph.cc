#include "sim/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "sim/line_file.h"

namespace meguri::sim {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::uint64_t kNodesAlways = 1'000'000;

bool is_comment(std::string_view line) { return line.starts_with('#'); }

bool is_empty(std::string_view line) {
  return line.find_first_not_of(kBlanks) == std::string_view::npos;
}

// The next word of a line; empty at its end.
std::string_view take_word(std::string_view* line) {
  line->remove_prefix(std::min(line->find_first_not_of(kBlanks), line->size()));
  const std::string_view word = line->substr(0, line->find_first_of(kBlanks));
  line->remove_prefix(word.size());
  return word;
}

std::optional<NodeNumber> number_of(std::string_view word) {
  NodeNumber number = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  if (error != std::errc() || stop != end || number >= Graph::kNodesMax) return std::nullopt;
  return number;
}

}  // namespace

// Reads one file. Each step returns an error that names its line.
class GraphReader {
 public:
  explicit GraphReader(LineFile* lines) : lines_(*lines) {}

  base::Result<Graph> read() {
    std::string_view first;
    while (is_empty(first) || is_comment(first)) {
      ASSIGN_OR_RETURN(const auto line, lines_.next());
      if (!line) return base::fail(base::ErrorCode::kCorrupt, "{}: no graph", lines_.path());
      first = *line;
    }
    std::string_view rest = first;
    take_word(&rest);
    const bool has_colon = first.find(':') != std::string_view::npos;
    if (!has_colon && is_empty(rest)) {
      RETURN_IF_ERROR(read_ascii(first));
      return std::move(graph_);
    }
    std::optional<std::string_view> line = first;
    while (line) {
      if (!is_empty(*line) && !is_comment(*line)) {
        RETURN_IF_ERROR(has_colon ? add_list(*line) : add_edge(*line));
        RETURN_IF_ERROR(check_size());
      }
      ASSIGN_OR_RETURN(line, lines_.next());
    }
    RETURN_IF_ERROR(check_density());
    sort_edges();
    return std::move(graph_);
  }

 private:
  base::Result<NodeNumber> node_of(std::string_view word) {
    const auto node = number_of(word);
    if (!node) return lines_.fail(fmt::format("{} is no number of a node", base::quoted(word)));
    nodes_ = std::max<std::uint64_t>(nodes_, std::uint64_t{*node} + 1);
    return *node;
  }

  base::Status check_size() const {
    const std::uint64_t edges = std::max(graph_.successors_.size(), targets_.size());
    if (edges > Graph::kEdgesMax) return lines_.fail("there are too many edges");
    return {};
  }

  base::Status check_density() const {
    const std::uint64_t limit = kNodesAlways + Graph::kNodesPerEdgeMax * targets_.size();
    if (nodes_ <= limit) return {};
    return base::fail(base::ErrorCode::kCorrupt,
                      "{}: a node has the number {}, which is too large for {} edges",
                      lines_.path(), nodes_ - 1, targets_.size());
  }

  base::Status add_edge(std::string_view line) {
    ASSIGN_OR_RETURN(const NodeNumber from, node_of(take_word(&line)));
    ASSIGN_OR_RETURN(const NodeNumber to, node_of(take_word(&line)));
    if (!is_empty(line)) return lines_.fail("more than two numbers");
    sources_.push_back(from);
    targets_.push_back(to);
    return {};
  }

  base::Status add_list(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return lines_.fail("no colon behind the first number");
    std::string_view front = line.substr(0, colon);
    ASSIGN_OR_RETURN(const NodeNumber from, node_of(take_word(&front)));
    if (!is_empty(front)) return lines_.fail("more than one number before the colon");
    line.remove_prefix(colon + 1);
    while (!is_empty(line)) {
      ASSIGN_OR_RETURN(const NodeNumber to, node_of(take_word(&line)));
      sources_.push_back(from);
      targets_.push_back(to);
    }
    return {};
  }

  base::Status read_ascii(std::string_view first) {
    const std::string_view word = take_word(&first);
    const auto count = number_of(word);
    if (!count) return lines_.fail(fmt::format("{} is no number of nodes", base::quoted(word)));
    if (*count == 0) return lines_.fail("there are no nodes");
    for (NodeNumber node = 0; node < *count; ++node) {
      ASSIGN_OR_RETURN(const auto line, lines_.next());
      if (!line) return lines_.fail(fmt::format("only {} of {} nodes", node, *count));
      for (std::string_view rest = *line; !is_empty(rest);) {
        ASSIGN_OR_RETURN(const NodeNumber to, node_of(take_word(&rest)));
        if (to >= *count) return lines_.fail(fmt::format("there is no node {}", to));
        graph_.successors_.push_back(to);
      }
      RETURN_IF_ERROR(check_size());
      graph_.ends_.push_back(static_cast<std::uint32_t>(graph_.successors_.size()));
    }
    while (true) {
      ASSIGN_OR_RETURN(const auto line, lines_.next());
      if (!line) return {};
      if (!is_empty(*line)) return lines_.fail(fmt::format("more than {} nodes", *count));
    }
  }

  // By their sources, each in the order of the file.
  void sort_edges() {
    std::vector<std::uint32_t>& ends = graph_.ends_;
    ends.assign(nodes_, 0);
    for (const NodeNumber from : sources_) ++ends[from];
    std::uint32_t sum = 0;
    for (std::uint32_t& end : ends) sum = std::exchange(end, sum) + sum;  // now where each begins
    graph_.successors_.resize(targets_.size());
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      graph_.successors_[ends[sources_[i]]++] = targets_[i];
    }
  }

  LineFile& lines_;
  Graph graph_;
  std::uint64_t nodes_ = 0;
  std::vector<NodeNumber> sources_;
  std::vector<NodeNumber> targets_;
};

base::Result<Graph> Graph::read(env::FileSystem& fs, const std::string& path) {
  ASSIGN_OR_RETURN(LineFile lines, LineFile::open(fs, path));
  return GraphReader(&lines).read();
}

std::span<const NodeNumber> Graph::successors(NodeNumber node) const {
  CHECK(node < ends_.size());
  const std::size_t first = node == 0 ? 0 : ends_[node - 1];
  return std::span(successors_).subspan(first, ends_[node] - first);
}

NodeMap::NodeMap(const Census& census) {
  CHECK(census.pages() <= Graph::kNodesMax);
  firsts_.reserve(census.hosts());
  NodeNumber next = 0;
  for (std::uint64_t rank = 0; rank < census.hosts(); ++rank) {
    firsts_.push_back(next);
    next += static_cast<NodeNumber>(census.pages_of(census.host_of_rank(rank)));
  }
}

NodeNumber NodeMap::node_of(const Census& census, HostNumber host, std::uint64_t page) const {
  return firsts_[census.rank_of(host)] + static_cast<NodeNumber>(page);
}

std::pair<HostNumber, std::uint64_t> NodeMap::page_of(const Census& census, NodeNumber node) const {
  const auto next = std::ranges::upper_bound(firsts_, node);
  const auto rank = static_cast<std::uint64_t>(next - firsts_.begin()) - 1;
  return {census.host_of_rank(rank), node - firsts_[rank]};
}

}  // namespace meguri::sim
