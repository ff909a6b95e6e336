// Graph: who links to whom, from a file, for a virtual web to have the links of a real one.
//
// Plain or gzip, in one of three forms, told apart by the first line that is neither empty nor a
// comment (`#` at its beginning):
//   two numbers       edges, "FROM TO" a line, as SNAP has them;
//   a colon           lists, "FROM: TO TO TO" a line, "FROM:" for none;
//   a single number   WebGraph's ASCII graph: the number of nodes N, then N lines, each with the
//                     successors of the next node, empty for none.
// Numbers are separated by blanks or tabs. In the first two forms lines may be in any order, empty
// lines and comments may stand anywhere, and there are as many nodes as the largest number says.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "env/file_system.h"
#include "sim/census.h"

namespace meguri::sim {

using NodeNumber = std::uint32_t;

// Keeps four bytes for each node and each edge; reading edges and lists takes twelve for an edge.
// Edges keep the order they have in the file, and may repeat themselves. Const calls from any
// thread.
class Graph {
 public:
  static constexpr std::uint64_t kNodesMax = 4'000'000'000;
  static constexpr std::uint64_t kEdgesMax = 0xffffffff;
  // The largest number is at most so many times the number of edges, and a million: a file with one
  // wild number must not take all memory.
  static constexpr std::uint64_t kNodesPerEdgeMax = 100;

  // Errors name the line that is not so written.
  static base::Result<Graph> read(env::FileSystem& fs, const std::string& path);

  std::uint64_t nodes() const { return ends_.size(); }
  std::uint64_t edges() const { return successors_.size(); }
  // Requires node < nodes(). Borrowed.
  std::span<const NodeNumber> successors(NodeNumber node) const;

 private:
  friend class GraphReader;
  Graph() = default;

  std::vector<std::uint32_t> ends_;  // where the successors of each node end
  std::vector<NodeNumber> successors_;
};

// Which page is which node: hosts in the order of their rank have nodes that follow each other, and
// pages the order of their numbers. Real graphs are sorted by URL, so neighbours share a host.
// Keeps four bytes for each host. Const calls from any thread.
class NodeMap {
 public:
  NodeMap() = default;                     // of no pages
  explicit NodeMap(const Census& census);  // requires at most Graph::kNodesMax pages

  // Requires a host of the census, and a page that it has.
  NodeNumber node_of(const Census& census, HostNumber host, std::uint64_t page) const;
  // Host and page. Requires node < pages of the census.
  std::pair<HostNumber, std::uint64_t> page_of(const Census& census, NodeNumber node) const;

 private:
  std::vector<NodeNumber> firsts_;  // by rank
};

}  // namespace meguri::sim
