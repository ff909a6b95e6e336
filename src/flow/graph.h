// Graph: modules and the edges between them, as built in code. An engine runs it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "flow/codec.h"
#include "flow/edge.h"
#include "flow/instance.h"
#include "flow/module.h"
#include "flow/port.h"
#include "flow/spill.h"

namespace meguri::flow {

// A place of module M in a graph.
template <typename M>
struct Node {
  std::size_t index = 0;
  std::size_t place = 0;
};

// An edge that carries T, for taps.
template <typename T>
struct EdgeRef {
  std::size_t index = 0;
};

struct ModuleOptions {
  Kind kind = Kind::kCpu;
  Split split = Split::kFree;
  std::size_t instances = 1;
};

// What an engine needs to know of a module and of an edge; made by Graph alone.
struct NodeSpec {
  std::string name;
  ModuleOptions options;
  std::function<std::unique_ptr<Module>()> make;
  std::size_t places = 1;
  bool spills = false;
};

struct EdgeSpec {
  // The producer's end at one instance, with a lane to each consuming instance.
  struct Ends {
    std::unique_ptr<EdgeEndBase> end;
    std::vector<std::unique_ptr<LaneBase>> lanes;
  };
  std::size_t from = 0, from_place = 0, to = 0, to_place = 0;
  std::size_t link = 0;    // which successor of its output; a switcher's branches share one
  std::string output_key;  // identifies the output port within its module
  Edge edge = Edge::bounded();
  bool switched = false;
  std::function<std::unique_ptr<TapPointBase>()> make_taps;
  std::function<Ends(const EdgeSpec&, std::size_t index, Instance& from,
                     std::span<const std::unique_ptr<Instance>> to, Split, TapPointBase&)>
      build;
  std::function<bool(const Module&)> has_key;  // of the input
  std::function<std::string(const Module& from, const Module& to)> label;
};

template <typename M, typename T>
class SwitchBuilder;

// Built by one thread, then given to an engine. Module constructors only store their arguments:
// they are also called to print the graph.
class Graph {
 public:
  // Adds a module; each of its instances is made from copies of `args`.
  template <std::derived_from<Module> M, typename... Args>
  Node<M> add(std::string name, ModuleOptions options, Args... args) {
    return {add_node({std::move(name), options, [args...] { return std::make_unique<M>(args...); },
                      1, false}),
            0};
  }

  // A virtual module: the same instances at a further place in the graph. What they emit while
  // handling an item that came in at this place leaves at this place.
  template <typename M>
  Node<M> again(Node<M> node) {
    return {node.index, nodes_[node.index].places++};
  }

  // Joins an output to an input. Several edges from one output: each gets a copy.
  template <typename M, typename B, typename T, typename N, typename C>
    requires std::derived_from<M, B> && std::derived_from<N, C>
  EdgeRef<T> connect(Node<M> from, Out<T> B::* out, Node<N> to, In<T> C::* in,
                     Edge edge = Edge::bounded()) {
    const std::string key = key_of<M>(out);
    return join<M, T>(from, out, to, in, edge, next_link(from.index, from.place, key), {});
  }

  // A switcher: `choose` maps each item of the output to one of the branches added by to():
  //   graph.switch_by(check, &Check::out, [](const Url& u) { return u.known ? 1 : 0; })
  //       .to(fetch, &Fetch::in).to(drop, &Drop::in);
  template <typename M, typename B, typename T>
    requires std::derived_from<M, B>
  SwitchBuilder<M, T> switch_by(Node<M> from, Out<T> B::* out,
                                std::type_identity_t<typename Out<T>::Switcher> choose) {
    return {*this, from, static_cast<Out<T> M::*>(out),
            next_link(from.index, from.place, key_of<M>(out)), std::move(choose)};
  }

  // The number of instances of a module, from a configuration.
  base::Status set_instances(std::string_view module, std::size_t instances);

  // Refuses what could never run: a cycle of bounded edges, which would come to a stand when full;
  // edges under credit with no credit above them; markers that could wait for each other.
  base::Status validate() const;

  std::string mermaid() const;

  const std::vector<NodeSpec>& nodes() const { return nodes_; }
  const std::vector<EdgeSpec>& edges() const { return edges_; }

 private:
  template <typename M, typename T>
  friend class SwitchBuilder;

  // Identifies an output within its module by the bytes of its member pointer.
  template <typename M, typename T>
  static std::string key_of(Out<T> M::* out) {
    std::string bytes(sizeof(out), '\0');
    std::memcpy(bytes.data(), &out, sizeof(out));
    return bytes;
  }

  std::size_t add_node(NodeSpec spec);
  std::size_t next_link(std::size_t node, std::size_t place, const std::string& output_key) const;
  std::string spill_name(std::size_t from, std::size_t to) const;

  template <typename M, typename T, typename N>
  EdgeRef<T> join(Node<M> from, Out<T> M::* out, Node<N> to, In<T> N::* in, Edge edge,
                  std::size_t link, const typename Out<T>::Switcher& choose) {
    if (edge.type() != Edge::Type::kSpilling) return attach(from, out, to, in, edge, link, choose);
    if constexpr (Encodable<T>) {
      auto spill = add<Spill<T>>(spill_name(from.index, to.index),
                                 {Kind::kBlocking, Split::kSingle, 1}, edge.capacity());
      nodes_[spill.index].spills = true;
      const Edge half = Edge::bounded().batched(edge.batch());
      const auto tapped = attach(from, out, spill, &Spill<T>::input, half, link, choose);
      attach(spill, &Spill<T>::output, to, in, half, 0, {});
      return tapped;
    } else {
      CHECK(false, "a spilling edge needs a Codec for its items");
      return {};
    }
  }

  template <typename M, typename T, typename N>
  EdgeRef<T> attach(Node<M> from, Out<T> M::* out, Node<N> to, In<T> N::* in, Edge edge,
                    std::size_t link, typename Out<T>::Switcher choose) {
    EdgeSpec spec;
    spec.from = from.index;
    spec.from_place = from.place;
    spec.to = to.index;
    spec.to_place = to.place;
    spec.link = link;
    spec.output_key = key_of<M>(out);
    spec.edge = edge;
    spec.switched = static_cast<bool>(choose);
    spec.make_taps = [] { return std::make_unique<TapPoint<T>>(); };
    spec.has_key = [in](const Module& module) {
      return (static_cast<const N&>(module).*in).key() != nullptr;
    };
    spec.label = [out, in](const Module& source, const Module& target) {
      return (static_cast<const M&>(source).*out).name() + " → " +
             (static_cast<const N&>(target).*in).name();
    };
    spec.build = [out, in, choose](const EdgeSpec& self, std::size_t index, Instance& source,
                                   std::span<const std::unique_ptr<Instance>> targets, Split split,
                                   TapPointBase& taps) {
      return build_ends<M, T, N>(self, index, source, targets, split, taps, out, in, choose);
    };
    edges_.push_back(std::move(spec));
    return {edges_.size() - 1};
  }

  template <typename M, typename T, typename N>
  static EdgeSpec::Ends build_ends(const EdgeSpec& spec, std::size_t index, Instance& from,
                                   std::span<const std::unique_ptr<Instance>> to, Split split,
                                   TapPointBase& taps, Out<T> M::* out, In<T> N::* in,
                                   const typename Out<T>::Switcher& choose) {
    auto& source = static_cast<M&>(from.module()).*out;
    const auto key = (static_cast<N&>(to.front()->module()).*in).key();
    auto end = std::make_unique<EdgeEnd<T>>(from.output(), split, key, spec.edge.batch(),
                                            !spec.edge.can_fill());
    EdgeSpec::Ends ends;
    for (const auto& target : to) {
      auto lane =
          std::make_unique<Lane<T>>(from, *target, index, spec.edge.capacity(),
                                    spec.edge.carries_epochs(), static_cast<TapPoint<T>*>(&taps));
      (static_cast<N&>(target->module()).*in).attach(*lane, spec.to_place, target->place());
      end->add_lane(lane.get());
      ends.lanes.push_back(std::move(lane));
    }
    source.add_edge(spec.from_place, spec.link, choose, end.get());
    if (spec.edge.credits() > 0) source.limit_credits(spec.edge.credits());
    ends.end = std::move(end);
    return ends;
  }

  std::vector<NodeSpec> nodes_;
  std::vector<EdgeSpec> edges_;
};

// The branches of a switcher, in the order its function numbers them.
template <typename M, typename T>
class SwitchBuilder {
 public:
  SwitchBuilder(Graph& graph, Node<M> from, Out<T> M::* out, std::size_t link,
                typename Out<T>::Switcher choose)
      : graph_(graph), from_(from), out_(out), link_(link), choose_(std::move(choose)) {}

  template <typename N, typename C>
    requires std::derived_from<N, C>
  SwitchBuilder& to(Node<N> node, In<T> C::* in, Edge edge = Edge::bounded()) {
    graph_.join<M, T>(from_, out_, node, static_cast<In<T> N::*>(in), edge, link_, choose_);
    return *this;
  }

 private:
  Graph& graph_;
  Node<M> from_;
  Out<T> M::* out_;
  std::size_t link_;
  typename Out<T>::Switcher choose_;
};

}  // namespace meguri::flow
