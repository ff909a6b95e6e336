// DamageReport: what is not as it should be in an archive, gathered by many threads and told in
// order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/output.h"
#include "archive/file_verifier.h"
#include "base/mutex.h"

namespace meguri::app {

// Thread-safe.
class DamageReport {
 public:
  // Further ones are counted, and not kept.
  static constexpr std::size_t kKeptMax = 100'000;

  void add(const std::string& file, const archive::Damage& damage);
  std::uint64_t count() const;

  // By file and place.
  void print(Output& out) const;
  void put(nlohmann::ordered_json& json) const;

 private:
  struct Told {
    std::string file;
    std::optional<std::uint64_t> offset;
    std::string what;
  };
  std::vector<Told> sorted() const REQUIRES(mutex_);

  mutable base::Mutex mutex_;
  std::vector<Told> told_ GUARDED_BY(mutex_);
  std::uint64_t count_ GUARDED_BY(mutex_) = 0;
};

}  // namespace meguri::app
