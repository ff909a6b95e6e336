// Reads any bytes as a graph and as a trace: what is accepted holds together.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "env/memory_file_system.h"
#include "sim/graph.h"
#include "sim/trace.h"

namespace {

using namespace meguri::sim;

void check_graph(const Graph& graph) {
  std::uint64_t edges = 0;
  for (std::uint64_t node = 0; node < graph.nodes(); ++node) {
    for (const NodeNumber next : graph.successors(static_cast<NodeNumber>(node))) {
      CHECK(next < graph.nodes());
      ++edges;
    }
  }
  CHECK(edges == graph.edges());
}

void check_trace(const Trace& trace) {
  constexpr std::uint32_t kDeletion = RecordedChanges::kDeletion;
  for (std::size_t page = 0; page < trace.pages(); ++page) {
    std::int64_t last = -1;
    bool is_there = false;
    for (const std::uint32_t event : trace.events_of(page)) {
      const bool is_deletion = (event & kDeletion) != 0;
      CHECK(is_there || !is_deletion);
      is_there = !is_deletion;
      CHECK((event & ~kDeletion) > last);
      last = event & ~kDeletion;
      CHECK(last * 1000 <= trace.span().ms());
    }
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  meguri::env::MemoryFileSystem fs;
  const auto file = fs.create("file");
  CHECK(file && (*file)->append({reinterpret_cast<const char*>(data), size}));
  if (const auto graph = Graph::read(fs, "file")) check_graph(*graph);
  if (const auto trace = Trace::read(fs, "file")) check_trace(*trace);
  return 0;
}
