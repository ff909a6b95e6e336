// A table of host names: how large, how fast, against hash maps and the HAT-trie that Debian has.
#include <absl/container/flat_hash_map.h>
#include <absl/strings/string_view.h>
#include <hat-trie/hat-trie.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "bench/benches.h"
#include "bench/memory.h"
#include "bench/timing.h"
#include "crawl/hat_trie.h"
#include "crawl/host_key.h"
#include "env/random.h"
#include "sim/census.h"

namespace meguri::bench {
namespace {

// The names of hosts one after another, in an order of no meaning, so that they take little
// themselves and are read ahead by the processor: what is measured is the table.
class Names {
 public:
  Names(std::uint32_t count, std::uint64_t seed) : numbers_(count) {
    sim::CensusOptions options;
    options.hosts = count;
    options.pages = count;
    const sim::Census census(options);
    std::iota(numbers_.begin(), numbers_.end(), 0U);
    env::Random random(seed);
    for (std::uint64_t i = count - 1; i > 0; --i) {
      std::swap(numbers_[i], numbers_[random.below(i + 1)]);
    }
    starts_.reserve(count + 1);
    for (const std::uint32_t host : numbers_) {
      starts_.push_back(text_.size());
      text_ += in_a_zone(census.name_of(host));
    }
    starts_.push_back(text_.size());
  }

  std::size_t size() const { return numbers_.size(); }
  std::size_t bytes() const { return text_.size(); }
  std::string_view operator[](std::size_t i) const {
    return std::string_view(text_).substr(starts_[i], starts_[i + 1] - starts_[i]);
  }
  // The host that has the name, whatever the order.
  std::uint32_t number(std::size_t i) const { return numbers_[i]; }

 private:
  // The census has all hosts under .test; here all of a domain go under one of the zones of the
  // web, some of which are blog services.
  static std::string in_a_zone(std::string name) {
    static constexpr std::array<std::string_view, 16> kZones = {
        "com", "com", "com",   "com",   "com",   "net", "org",          "de",
        "jp",  "jp",  "co.jp", "co.jp", "ac.jp", "ru",  "blogspot.com", "cocolog-nifty.com"};
    name.resize(name.size() - std::string_view("test").size());
    const std::size_t before = name.find('.') == name.size() - 1 ? 0 : name.find('.') + 1;
    const std::uint64_t hash = base::hash64(std::string_view(name).substr(before));
    return name.append(kZones[hash % kZones.size()]);
  }

  std::string text_;
  std::vector<std::size_t> starts_;
  std::vector<std::uint32_t> numbers_;
};

class Table {
 public:
  virtual ~Table() = default;
  virtual void put(std::string_view name, std::uint32_t value) = 0;
  virtual std::uint32_t get(std::string_view name) const = 0;  // that is there
  // Nullopt: what malloc gave is all it has.
  virtual std::optional<std::size_t> memory_bytes() const { return {}; }
};

// Ours, with the names turned round on every call.
class TrieTable final : public Table {
 public:
  void put(std::string_view name, std::uint32_t value) override {
    crawl::host_key(name, &key_);
    trie_.put(key_, value);
  }
  std::uint32_t get(std::string_view name) const override {
    crawl::host_key(name, &key_);
    return *trie_.get(key_);
  }
  std::optional<std::size_t> memory_bytes() const override { return trie_.memory_bytes(); }
  const crawl::HatTrie& trie() const { return trie_; }

 private:
  crawl::HatTrie trie_;
  mutable std::string key_;
};

class PackagedTrieTable final : public Table {
 public:
  PackagedTrieTable() : trie_(::hattrie_create()) {}
  PackagedTrieTable(const PackagedTrieTable&) = delete;
  PackagedTrieTable& operator=(const PackagedTrieTable&) = delete;
  ~PackagedTrieTable() override { ::hattrie_free(trie_); }
  void put(std::string_view name, std::uint32_t value) override {
    crawl::host_key(name, &key_);
    *::hattrie_get(trie_, key_.data(), key_.size()) = value;
  }
  std::uint32_t get(std::string_view name) const override {
    crawl::host_key(name, &key_);
    return static_cast<std::uint32_t>(*::hattrie_tryget(trie_, key_.data(), key_.size()));
  }

 private:
  ::hattrie_t* trie_;
  mutable std::string key_;
};

struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const {
    return std::hash<std::string_view>()(name);
  }
};

// `View` is what the map looks strings up by without making one; Debian's absl has its own.
template <typename Map, typename View>
class MapTable final : public Table {
 public:
  void put(std::string_view name, std::uint32_t value) override {
    map_.insert_or_assign(std::string(name), value);
  }
  std::uint32_t get(std::string_view name) const override {
    return map_.find(View(name.data(), name.size()))->second;
  }

 private:
  Map map_;
};

using FlatTable = MapTable<absl::flat_hash_map<std::string, std::uint32_t>, absl::string_view>;
using StdMap = std::unordered_map<std::string, std::uint32_t, NameHash, std::equal_to<>>;
using StdTable = MapTable<StdMap, std::string_view>;

struct Figures {
  double puts_per_second = 0;
  double gets_per_second = 0;
  double bytes = 0;
};

template <typename T>
void fill(T& table, const Names& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    table.put(names[i], names.number(i));
  }
}

// Puts into an empty table; gets of all names, `asked` in another order than they came.
template <typename T>
Figures measure(const Names& names, const Names& asked, T& table) {
  Figures figures;
  const auto count = static_cast<double>(names.size());
  const std::size_t before = allocated_now();
  figures.puts_per_second = count / cpu_seconds_of([&] { fill(table, names); });
  figures.bytes = static_cast<double>(table.memory_bytes().value_or(allocated_now() - before));
  figures.gets_per_second = best_rate(count, [&] {
    std::uint64_t wrong = 0;
    const double seconds = cpu_seconds_of([&] {
      for (std::size_t i = 0; i < asked.size(); ++i) {
        wrong += table.get(asked[i]) != asked.number(i) ? 1 : 0;
      }
    });
    CHECK(wrong == 0);
    return seconds;
  });
  for (std::size_t i = 1; i < kRounds; ++i) {
    T again;
    const double seconds = cpu_seconds_of([&] { fill(again, names); });
    figures.puts_per_second = std::max(figures.puts_per_second, count / seconds);
  }
  return figures;
}

// Rates to reach, in names a second.
struct Rates {
  double put = 0;
  double get = 0;
};
constexpr Rates kGoals = {1e6, 3e6};
// What paper 004 has at its peak, for a table far larger than the processor's caches.
constexpr Rates kPaper = {0.3e6, 1e6};

// Peers have no goals.
void report_figures(Report& report, const Names& names, const std::string& name,
                    const Figures& figures, std::optional<Rates> goals) {
  const auto goal = [&](Goal value) { return goals ? std::optional(value) : std::nullopt; };
  const Rates rates = goals.value_or(Rates());
  const auto count = static_cast<double>(names.size());
  report.add(name + ", put", figures.puts_per_second, "names/s", goal(Goal::at_least(rates.put)));
  report.add(name + ", get", figures.gets_per_second, "names/s", goal(Goal::at_least(rates.get)));
  report.add(name + ", memory", figures.bytes / count, "bytes/name");
  report.add(name + ", memory without values, of the names' bytes",
             (figures.bytes - 4 * count) / static_cast<double>(names.bytes()), "ratio",
             goal(Goal::at_most(1.1)));
}

void report_snapshot(Report& report, const crawl::HatTrie& trie) {
  std::string bytes;
  const double encoding = cpu_seconds_of([&] { bytes = trie.encode(); });
  bool read = false;
  const double decoding = cpu_seconds_of([&] { read = crawl::HatTrie::decode(bytes).has_value(); });
  CHECK(read);
  const auto count = static_cast<double>(trie.size());
  report.add("HatTrie, encode", count / encoding, "names/s");
  report.add("HatTrie, decode", count / decoding, "names/s");
  report.add("HatTrie, encoded", static_cast<double>(bytes.size()) / count, "bytes/name");
}

void measure_tables(Report& report, std::uint32_t count, Rates goals) {
  const Names names(count, 1);
  const Names asked(count, 2);
  report.add("names", count, "names");
  report.add("their bytes", static_cast<double>(names.bytes()) / count, "bytes/name");
  {
    TrieTable ours;
    report_figures(report, names, "HatTrie", measure(names, asked, ours), goals);
    report_snapshot(report, ours.trie());
  }
  const auto peer = [&](const std::string& name, auto table) {
    report_figures(report, names, name, measure(names, asked, *table), {});
  };
  peer("libhat-trie", std::make_unique<PackagedTrieTable>());
  peer("absl::flat_hash_map", std::make_unique<FlatTable>());
  peer("std::unordered_map", std::make_unique<StdTable>());
}

}  // namespace

base::Status run_hosts(const Options& options, Report& report) {
  measure_tables(report, 1'000'000, kGoals);
  if (!options.quick) measure_tables(report, 10'000'000, kPaper);
  return {};
}

}  // namespace meguri::bench
