#include "flow/graph.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "flow/testing.h"

namespace meguri::flow {
namespace {

using testing::Relay;
using testing::Sink;
using testing::Source;

TEST(Graph, AcceptsAChain) {
  Graph graph;
  auto source = graph.add<Source>("source", {}, 1);
  auto sink = graph.add<Sink>("sink", {});
  graph.connect(source, &Source::output, sink, &Sink::input);
  EXPECT_TRUE(graph.validate());
}

TEST(Graph, RefusesACycleOfBoundedEdgesAndNamesIt) {
  Graph graph;
  auto a = graph.add<Relay>("alpha", {}, 1);
  auto b = graph.add<Relay>("beta", {}, 2);
  auto c = graph.add<Relay>("gamma", {}, 3);
  graph.connect(a, &Relay::output, b, &Relay::input);
  graph.connect(b, &Relay::output, c, &Relay::input);
  graph.connect(c, &Relay::output, b, &Relay::input);
  const auto status = graph.validate();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), base::ErrorCode::kInvalid);
  EXPECT_NE(status.error().message().find("beta → gamma → beta"), std::string::npos)
      << status.error().message();
}

TEST(Graph, RefusesAModuleThatFeedsItself) {
  Graph graph;
  auto a = graph.add<Relay>("alpha", {}, 1);
  graph.connect(a, &Relay::output, a, &Relay::input);
  EXPECT_FALSE(graph.validate());
}

TEST(Graph, AcceptsACycleOverASpillingOrACreditEdge) {
  for (const Edge edge : {Edge::spilling(), Edge::credit(10)}) {
    Graph graph;
    auto a = graph.add<Relay>("alpha", {}, 1);
    auto b = graph.add<Relay>("beta", {}, 2);
    graph.connect(a, &Relay::output, b, &Relay::input);
    graph.connect(b, &Relay::output, a, &Relay::input, edge);
    EXPECT_TRUE(graph.validate());
  }
}

TEST(Graph, RefusesAnEdgeUnderCreditThatNobodyGivesCredits) {
  Graph graph;
  auto a = graph.add<Relay>("alpha", {}, 1);
  auto b = graph.add<Relay>("beta", {}, 2);
  graph.connect(a, &Relay::output, b, &Relay::input, Edge::under_credit());
  EXPECT_FALSE(graph.validate());
}

// `join` has the marker of `late` and reads it no more until that of `first` comes; `first` waits
// for room in `late`, through an edge on which no marker passes.
TEST(Graph, RefusesMarkersThatCouldWaitForEachOther) {
  Graph graph;
  auto first = graph.add<Relay>("first", {}, 1);
  auto late = graph.add<Relay>("late", {}, 2);
  auto join = graph.add<Sink>("join", {});
  graph.connect(first, &Relay::output, join, &Sink::input);
  graph.connect(late, &Relay::output, join, &Sink::input);
  EXPECT_TRUE(graph.validate());
  graph.connect(first, &Relay::output, late, &Relay::input, Edge::bounded().in_flight());
  const auto status = graph.validate();
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message().find("join"), std::string::npos) << status.error().message();
}

TEST(Graph, RefusesBadNamesAndCounts) {
  {
    Graph graph;
    graph.add<Sink>("a b", {});
    EXPECT_FALSE(graph.validate());
  }
  {
    Graph graph;
    graph.add<Sink>("a", {});
    graph.add<Sink>("a", {});
    EXPECT_FALSE(graph.validate());
  }
  {
    Graph graph;
    graph.add<Sink>("a", {Kind::kCpu, Split::kSingle, 2});
    EXPECT_FALSE(graph.validate());
  }
}

TEST(Graph, SetsInstancesFromAConfiguration) {
  Graph graph;
  graph.add<Sink>("free", {});
  graph.add<Sink>("single", {Kind::kCpu, Split::kSingle, 1});
  EXPECT_TRUE(graph.set_instances("free", 4));
  EXPECT_EQ(graph.nodes()[0].options.instances, 4U);
  EXPECT_FALSE(graph.set_instances("free", 0));
  EXPECT_FALSE(graph.set_instances("free", 5000));
  EXPECT_FALSE(graph.set_instances("single", 2));
  EXPECT_EQ(graph.set_instances("none", 2).error().code(), base::ErrorCode::kNotFound);
}

TEST(Graph, PrintsItselfAsMermaid) {
  Graph graph;
  auto source = graph.add<Source>("source", {}, 1);
  auto relay = graph.add<Relay>("relay", {Kind::kCpu, Split::kKey, 3}, 1);
  auto relay_again = graph.again(relay);
  auto sink = graph.add<Sink>("sink", {});
  graph.connect(source, &Source::output, relay, &Relay::input);
  graph.connect(relay, &Relay::output, relay_again, &Relay::input, Edge::spilling());
  graph.switch_by(relay_again, &Relay::output, [](const testing::Item&) { return 0; })
      .to(sink, &Sink::input, Edge::bounded().in_flight());
  EXPECT_EQ(graph.mermaid(),
            "flowchart LR\n"
            "  n0[\"source\"]\n"
            "  n1[\"relay ×3\"]\n"
            "  n1p1[\"relay ×3\"]:::again\n"
            "  n2[\"sink\"]\n"
            "  n3[(\"relay-relay\")]\n"
            "  n0 -->|\"items → items\"| n1\n"
            "  n1 -->|\"items → in\"| n3\n"
            "  n3 -->|\"out → items\"| n1p1\n"
            "  n1p1 -.->|\"? items → items\"| n2\n"
            "  classDef again stroke-dasharray: 5 5\n");
}

}  // namespace
}  // namespace meguri::flow
