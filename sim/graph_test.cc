#include "sim/graph.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "env/memory_file_system.h"
#include "sim/world.h"
#include "web/page.h"

namespace meguri::sim {
namespace {

constexpr base::Instant kStart = base::Instant::from_ms(1'767'225'600'000);  // 2026-01-01

base::Result<Graph> read(std::string_view bytes) {
  env::MemoryFileSystem fs;
  EXPECT_TRUE((*fs.create("graph"))->append(bytes));
  return Graph::read(fs, "graph");
}

using Lists = std::vector<std::vector<NodeNumber>>;

Lists lists_of(const base::Result<Graph>& graph) {
  EXPECT_TRUE(graph) << graph.error().message();
  Lists lists;
  for (NodeNumber node = 0; graph && node < graph->nodes(); ++node) {
    const auto all = graph->successors(node);
    lists.emplace_back(all.begin(), all.end());
  }
  return lists;
}

TEST(Graph, AllFormsAreRead) {
  const Lists expected = {{1, 3}, {}, {0}, {3, 2, 3}, {}};
  EXPECT_EQ(lists_of(read("# Nodes: 5\n#\n\n0 1\n3\t3\n2 \t 0\n0\t3\r\n3 2\n# c\n3 3\n4 4")),
            (Lists{{1, 3}, {}, {0}, {3, 2, 3}, {4}}));
  EXPECT_EQ(lists_of(read("0: 1 3\n\n4:\n3: 3 2\n# c\n2:0\n 3 : 3 \n")), expected);
  EXPECT_EQ(lists_of(read("5\n1 3\n\n0\n3 2 3\n\n")), expected);
  EXPECT_EQ(lists_of(read("5\n1 3\n\n0\n3 2 3\n\n\n \n")), expected);
  EXPECT_EQ(lists_of(read("1\n\n")), Lists{{}});
}

TEST(Graph, ErrorsNameTheLine) {
  const auto message = [](std::string_view bytes) {
    const auto graph = read(bytes);
    return graph ? std::string() : graph.error().message();
  };
  EXPECT_EQ(message(""), "graph: no graph");
  EXPECT_EQ(message("# nothing\n"), "graph: no graph");
  EXPECT_EQ(message("0 1\n# c\n0 x\n"), "graph, line 3: \"x\" is no number of a node");
  EXPECT_EQ(message("0 1\n2\n"), "graph, line 2: \"\" is no number of a node");
  EXPECT_EQ(message("0 1\n1 -1\n"), "graph, line 2: \"-1\" is no number of a node");
  EXPECT_EQ(message("0 1 2\n"), "graph, line 1: more than two numbers");
  EXPECT_EQ(message("0 4294967295\n"), "graph, line 1: \"4294967295\" is no number of a node");
  EXPECT_EQ(message("0 99999999999999\n"),
            "graph, line 1: \"99999999999999\" is no number of a node");
  EXPECT_EQ(message("0 3000000000\n"),
            "graph: a node has the number 3000000000, which is too large for 1 edges");
  EXPECT_EQ(message("0: 1\n1 2\n"), "graph, line 2: no colon behind the first number");
  EXPECT_EQ(message("0: 1\n1 2: 3\n"), "graph, line 2: more than one number before the colon");
  EXPECT_EQ(message("0: 1\n: 3\n"), "graph, line 2: \"\" is no number of a node");
  EXPECT_EQ(message("x\n"), "graph, line 1: \"x\" is no number of nodes");
  EXPECT_EQ(message("0\n"), "graph, line 1: there are no nodes");
  EXPECT_EQ(message("2\n1\n2\n"), "graph, line 3: there is no node 2");
  EXPECT_EQ(message("3\n1\n\n"), "graph, line 3: only 2 of 3 nodes");
  EXPECT_EQ(message("1\n0\n0\n"), "graph, line 3: more than 1 nodes");
}

TEST(Graph, NodesAndPagesMeet) {
  CensusOptions options;
  options.hosts = 37;
  options.pages = 1001;
  const Census census(options);
  const NodeMap map(census);
  std::set<NodeNumber> seen;
  for (HostNumber host = 0; host < census.hosts(); ++host) {
    for (std::uint64_t page = 0; page < census.pages_of(host); ++page) {
      const NodeNumber node = map.node_of(census, host, page);
      EXPECT_TRUE(seen.insert(node).second);
      EXPECT_EQ(map.page_of(census, node), std::pair(host, page));
    }
  }
  EXPECT_EQ(*seen.rbegin(), census.pages() - 1);
}

// A ring with chords, as an ASCII graph.
std::shared_ptr<const Graph> ring(std::uint64_t nodes) {
  std::string text = std::to_string(nodes) + "\n";
  for (std::uint64_t i = 0; i < nodes; ++i) {
    text += fmt::format("{} {} {}\n", (i + 1) % nodes, i * i % nodes, i);
  }
  return std::make_shared<const Graph>(*read(text));
}

TEST(Graph, PagesOfAWorldLinkAsItsNodes) {
  WorldOptions options;
  options.census.hosts = 20;
  options.start = kStart;
  options.use_graph(ring(777));
  ASSERT_TRUE(options.check());
  const World world(options);
  const Census& census = world.census();
  EXPECT_EQ(census.pages(), 777U);
  const NodeMap map(census);
  int documents = 0;
  for (NodeNumber node = 0; node < 777; ++node) {
    const auto [host, number] = map.page_of(census, node);
    const Site site(census, host);
    const Page page = world.page(site, number);
    std::set<std::string> expected;
    std::vector<NodeNumber> found;
    for (const OutLink& link : page.links({1, kStart})) {
      found.push_back(map.node_of(census, link.host, link.page));
      EXPECT_EQ(link.form == LinkForm::kNext, found.back() == node + 1 && link.host == host);
      expected.insert("http://" + census.name_of(link.host) +
                      link.target_on(Site(census, link.host)));
    }
    std::vector<NodeNumber> successors = {(node + 1) % 777};
    if (const NodeNumber chord = node * node % 777; chord != node) successors.push_back(chord);
    EXPECT_EQ(found, successors) << node;
    if (!page.history().exists(kStart) || page.robots().says_anything()) continue;
    const std::string name = census.name_of(host);
    const std::string html =
        page.html(page.history().recent(kStart, Page::kVersionsSeen), kStart, {.host = name});
    const auto url = web::Url::parse("http://" + census.name_of(host) + site.address_of(number));
    web::PageContext context;
    context.url = &*url;
    std::set<std::string> written;
    for (const web::PageLink& link : web::read_page(html, context).links) {
      const std::string href = link.url.href();
      const bool is_file = href.find("/static/") != std::string::npos ||
                           href.find("/img/") != std::string::npos || href.ends_with("/feed.xml");
      if (!is_file) written.insert(href);
    }
    EXPECT_EQ(written, expected);
    ++documents;
  }
  EXPECT_GT(documents, 400);
}

TEST(Graph, AWorldMustFitIt) {
  WorldOptions options;
  options.graph = ring(500);
  EXPECT_EQ(options.check().error().message(),
            "a web with a graph of 500 nodes has exactly as many pages and no copies");
  options.use_graph(ring(500));
  EXPECT_TRUE(options.check());
  options.census.hosts = 501;
  EXPECT_FALSE(options.check());
}

}  // namespace
}  // namespace meguri::sim
