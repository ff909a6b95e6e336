#include "app/damage_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "app/figures.h"

namespace meguri::app {

using base::MutexLock;

void DamageReport::add(const std::string& file, const archive::Damage& damage) {
  const MutexLock lock(mutex_);
  ++count_;
  if (told_.size() >= kKeptMax) return;
  told_.push_back({.file = file, .offset = damage.offset, .what = damage.what});
}

std::uint64_t DamageReport::count() const {
  const MutexLock lock(mutex_);
  return count_;
}

std::vector<DamageReport::Told> DamageReport::sorted() const {
  std::vector<Told> told = told_;
  std::ranges::sort(told, [](const Told& a, const Told& b) {
    return std::tie(a.file, a.offset, a.what) < std::tie(b.file, b.offset, b.what);
  });
  return told;
}

void DamageReport::print(Output& out) const {
  const MutexLock lock(mutex_);
  for (const Told& told : sorted()) {
    const std::string where = told.offset ? fmt::format(" at {}", *told.offset) : "";
    out.print("{}{}: {}.\n", printable(told.file), where, printable(told.what));
  }
  if (count_ > told_.size()) out.print("… and {} more.\n", grouped(count_ - told_.size()));
}

void DamageReport::put(nlohmann::ordered_json& json) const {
  const MutexLock lock(mutex_);
  json["damages"] = count_;
  json["damaged"] = nlohmann::ordered_json::array();
  for (const Told& told : sorted()) {
    nlohmann::ordered_json one = {{"file", told.file}};
    if (told.offset) one["offset"] = *told.offset;
    one["what"] = told.what;
    json["damaged"].push_back(std::move(one));
  }
}

}  // namespace meguri::app
