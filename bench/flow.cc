// Items per second through the flow runtime, against oneTBB's bounded queue doing the same.
#include <oneapi/tbb/concurrent_queue.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "bench/benches.h"
#include "bench/timing.h"
#include "env/clock.h"
#include "env/posix_file_system.h"
#include "flow/graph.h"
#include "flow/simulation_engine.h"
#include "flow/thread_engine.h"

namespace meguri::bench {

namespace {

// About the size of a message that names a page and says when: an id, a time, a few flags.
struct Message {
  base::Id id;
  std::uint64_t number = 0;
  std::uint64_t flags = 0;
};

constexpr std::size_t kCapacity = flow::Edge::kCapacity;  // of every queue, ours and theirs

}  // namespace
}  // namespace meguri::bench

template <>
struct meguri::flow::Codec<meguri::bench::Message> {
  static void encode(const bench::Message& m, std::string& out) {
    put_fixed(out, m.id.high);
    put_fixed(out, m.id.low);
    put_fixed(out, m.number);
    put_fixed(out, m.flags);
  }
  static bool decode(std::string_view bytes, bench::Message& m) {
    return take_fixed(bytes, m.id.high) && take_fixed(bytes, m.id.low) &&
           take_fixed(bytes, m.number) && take_fixed(bytes, m.flags) && bytes.empty();
  }
};

namespace meguri::bench {
namespace {

using flow::Edge;
using flow::Graph;
using flow::In;
using flow::Out;

Message make_message(std::uint64_t n) { return {{n, ~n}, n, 0}; }

class Producer final : public flow::Module {
 public:
  explicit Producer(std::uint64_t items) : items_(items) {}
  Out<Message> output = out<Message>("out");

 private:
  bool produce() override {
    for (int i = 0; i < 256 && next_ < items_ && !output.full(); ++i) {
      output.emit(make_message(next_++));
    }
    return next_ < items_;
  }
  std::uint64_t items_;
  std::uint64_t next_ = 0;
};

class Stage final : public flow::Module {
 public:
  In<Message> input = in<&Stage::on_message>("in");
  Out<Message> output = out<Message>("out");

 private:
  void on_message(Message&& message) {
    ++message.flags;
    output.emit(std::move(message));
  }
};

class Consumer final : public flow::Module {
 public:
  In<Message> input = in<&Consumer::on_message>("in");
  std::uint64_t sum = 0;

 private:
  void on_message(Message&& message) { sum += message.number + message.flags; }
};

std::uint64_t expected_sum(std::uint64_t items, std::size_t stages) {
  return items * (items - 1) / 2 + items * stages;
}

struct Chain {
  Graph graph;
  flow::Node<Consumer> consumer;
};

// A producer, `stages` stages and a consumer.
Chain chain_of(std::uint64_t items, std::size_t stages, const Edge& edge) {
  Chain chain;
  Graph& g = chain.graph;
  const auto producer = g.add<Producer>("producer", {}, items);
  chain.consumer = g.add<Consumer>("consumer", {});
  if (stages == 0) {
    g.connect(producer, &Producer::output, chain.consumer, &Consumer::input, edge);
    return chain;
  }
  auto last = g.add<Stage>("stage-0", {});
  g.connect(producer, &Producer::output, last, &Stage::input, edge);
  for (std::size_t i = 1; i < stages; ++i) {
    const auto next = g.add<Stage>("stage-" + std::to_string(i), {});
    g.connect(last, &Stage::output, next, &Stage::input, edge);
    last = next;
  }
  g.connect(last, &Stage::output, chain.consumer, &Consumer::input, edge);
  return chain;
}

double run_engine(flow::Engine& engine, const Chain& chain, std::uint64_t items,
                  std::size_t stages) {
  const double seconds = seconds_of([&] {
    CHECK(engine.start());
    CHECK(engine.run_until_quiet());
  });
  CHECK(engine.stop());
  CHECK(engine.module(chain.consumer).sum == expected_sum(items, stages));
  return seconds;
}

double run_threads(std::uint64_t items, std::size_t stages, std::size_t threads) {
  const env::RealClock clock;
  Chain chain = chain_of(items, stages, Edge::bounded(kCapacity));
  flow::EngineOptions options;
  options.clock = &clock;
  flow::ThreadEngine engine(std::move(chain.graph), options, threads);
  return run_engine(engine, chain, items, stages);
}

double run_simulation(std::uint64_t items, std::size_t stages) {
  env::VirtualClock clock;
  Chain chain = chain_of(items, stages, Edge::bounded(kCapacity));
  flow::SimulationEngine engine(std::move(chain.graph), {}, clock);
  return run_engine(engine, chain, items, stages);
}

// --- The same chain by hand on oneTBB: threads that move elements from queue to queue, each
// serving an equal share of the modules. Nothing is scheduled, so it pays for the queues alone.
template <typename Element>
class TbbChain {
 public:
  using Queue = tbb::concurrent_bounded_queue<Element>;

  TbbChain(std::size_t stages, std::size_t capacity) : queues_(stages + 1) {
    for (Queue& queue : queues_) {
      queue.set_capacity(static_cast<typename Queue::size_type>(capacity));
    }
  }

  // Runs until the last module has said that all is done. `produce(queue)` and `consume(queue)`
  // move what they can.
  double run(std::size_t threads, const std::function<void(Queue&)>& produce,
             const std::function<void(Element&)>& work,
             const std::function<bool(Queue&)>& consume) {
    const std::size_t modules = queues_.size() + 1;
    std::atomic<bool> done{false};
    const auto serve = [&](std::size_t first, std::size_t end) {
      while (!done.load(std::memory_order_relaxed)) {
        for (std::size_t m = first; m < end; ++m) {
          if (m == 0) {
            produce(queues_.front());
          } else if (m + 1 == modules) {
            if (consume(queues_.back())) done = true;
          } else {
            move(queues_[m - 1], queues_[m], work);
          }
        }
      }
    };
    return seconds_of([&] {
      std::vector<std::thread> crew;
      for (std::size_t i = 0; i < threads; ++i) {
        crew.emplace_back(serve, modules * i / threads, modules * (i + 1) / threads);
      }
      for (std::thread& thread : crew) thread.join();
    });
  }

 private:
  static void move(Queue& from, Queue& to, const std::function<void(Element&)>& work) {
    Element element;
    while (to.size() < to.capacity() && from.try_pop(element)) {
      work(element);
      to.push(std::move(element));
    }
  }

  std::vector<Queue> queues_;
};

// One hop between two threads as oneTBB means it: blocking push and pop. Polling would be slower.
double run_tbb_blocking(std::uint64_t items) {
  tbb::concurrent_bounded_queue<Message> queue;
  queue.set_capacity(static_cast<std::ptrdiff_t>(kCapacity));
  std::uint64_t sum = 0;
  const double seconds = seconds_of([&] {
    std::thread producer([&] {
      for (std::uint64_t n = 0; n < items; ++n) queue.push(make_message(n));
    });
    Message message;
    for (std::uint64_t n = 0; n < items; ++n) {
      queue.pop(message);
      sum += message.number + message.flags;
    }
    producer.join();
  });
  CHECK(sum == expected_sum(items, 0));
  return seconds;
}

double run_tbb(std::uint64_t items, std::size_t stages, std::size_t threads) {
  if (stages == 0 && threads == 2) return run_tbb_blocking(items);
  using Tbb = TbbChain<Message>;
  Tbb chain(stages, kCapacity);
  std::uint64_t next = 0;
  std::uint64_t seen = 0;
  std::uint64_t sum = 0;
  const double seconds = chain.run(
      threads,
      [&](Tbb::Queue& queue) {
        while (next < items && queue.try_push(make_message(next))) ++next;
      },
      [](Message& message) { ++message.flags; },
      [&](Tbb::Queue& queue) {
        Message message;
        while (queue.try_pop(message)) {
          ++seen;
          sum += message.number + message.flags;
        }
        return seen == items;
      });
  CHECK(sum == expected_sum(items, stages));
  return seconds;
}

// What a careful user of oneTBB would write: the same queue, holding batches.
double run_tbb_batched(std::uint64_t items, std::size_t stages, std::size_t threads) {
  using Batch = std::vector<Message>;
  using Tbb = TbbChain<Batch>;
  Tbb chain(stages, kCapacity / Edge::kBatch);
  std::uint64_t next = 0;
  std::uint64_t seen = 0;
  std::uint64_t sum = 0;
  const double seconds = chain.run(
      threads,
      [&](Tbb::Queue& queue) {
        while (next < items && queue.size() < queue.capacity()) {
          Batch batch;
          batch.reserve(Edge::kBatch);
          while (batch.size() < Edge::kBatch && next < items) batch.push_back(make_message(next++));
          queue.push(std::move(batch));
        }
      },
      [](Batch& batch) {
        for (Message& message : batch) ++message.flags;
      },
      [&](Tbb::Queue& queue) {
        Batch batch;
        while (queue.try_pop(batch)) {
          seen += batch.size();
          for (const Message& message : batch) sum += message.number + message.flags;
        }
        return seen == items;
      });
  CHECK(sum == expected_sum(items, stages));
  return seconds;
}

// --- Spilling edges, against writing and reading the same bytes once.
double run_spill(std::uint64_t items, const std::string& dir) {
  env::PosixFileSystem files;
  const env::RealClock clock;
  Chain chain = chain_of(items, 0, Edge::spilling(1));
  flow::EngineOptions options;
  options.clock = &clock;
  options.files = &files;
  options.state_dir = dir + "/state";
  flow::ThreadEngine engine(std::move(chain.graph), options, 1);
  return run_engine(engine, chain, items, 0);
}

double run_sequential_io(std::uint64_t items, const std::string& dir) {
  env::PosixFileSystem files;
  const std::string path = dir + "/sequential";
  const std::string block(64U << 10U, 'x');
  const std::uint64_t blocks = items * sizeof(Message) / block.size() + 1;
  const double seconds = seconds_of([&] {
    auto file = files.create(path);
    CHECK(file);
    for (std::uint64_t i = 0; i < blocks; ++i) CHECK((*file)->append(block));
    auto reader = files.open_read(path);
    CHECK(reader);
    std::string bytes;
    for (std::uint64_t i = 0; i < blocks; ++i) {
      CHECK((*reader)->read_at(i * block.size(), block.size(), &bytes));
    }
  });
  CHECK(files.remove(path));
  return seconds;
}

// A chain of `stages` modules between a producer and a consumer, with one thread and with two.
void measure_chain(const std::string& name, std::size_t stages, std::uint64_t items,
                   Report& report) {
  const std::uint64_t hops = stages + 1;
  const std::uint64_t n = items / hops;
  for (const std::size_t threads : {std::size_t{1}, std::size_t{2}}) {
    const std::string where =
        name + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
    const auto rate = [&](double (*run)(std::uint64_t, std::size_t, std::size_t)) {
      return best_rate(static_cast<double>(n * hops), [&] { return run(n, stages, threads); });
    };
    const double tbb = report.add("oneTBB queue, " + where, rate(&run_tbb), "items/s/hop");
    report.add("oneTBB queue of batches, " + where, rate(&run_tbb_batched), "items/s/hop");
    const double ours =
        report.add("flow, " + where, rate(&run_threads), "items/s/hop", Goal::at_least(10e6));
    report.add("flow / oneTBB queue, " + where, ours / tbb, "ratio", Goal::at_least(2));
  }
  report.add("flow simulation, " + name,
             best_rate(static_cast<double>(n * hops), [&] { return run_simulation(n, stages); }),
             "items/s/hop");
}

void measure_spill(std::uint64_t items, const std::string& dir, Report& report) {
  const double limit = report.add(
      "bytes of the items written and read once, sequentially",
      best_rate(static_cast<double>(items), [&] { return run_sequential_io(items, dir); }),
      "items/s");
  const double spill = report.add(
      "flow, spilling edge with one item in memory",
      best_rate(static_cast<double>(items), [&] { return run_spill(items, dir); }), "items/s");
  report.add("spilling edge / sequential i/o", spill / limit, "ratio");
}

}  // namespace

base::Status run_flow(const Options& options, Report& report) {
  const std::uint64_t items = options.quick ? 2'000'000 : 10'000'000;
  measure_chain("one hop", 0, items, report);
  measure_chain("8 modules", 6, items, report);
  measure_spill(items / 3, options.dir, report);
  return {};
}

}  // namespace meguri::bench
