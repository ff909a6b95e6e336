#include "sim/hostile.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "sim/world.h"
#include "web/ascii.h"
#include "web/http_date.h"

namespace meguri::sim {
namespace {

constexpr std::string_view kAll = "all";
constexpr std::string_view kRobotsTarget = "/robots.txt";
constexpr int kRobotsHopsMax = 5;

std::vector<HostileHabit> collected() {
  std::vector<HostileHabit> all;
  for (const auto& kind :
       {hostile_wire_habits(), hostile_content_habits(), hostile_place_habits()}) {
    std::ranges::copy(kind, std::back_inserter(all));
  }
  return all;
}

const HostileHabit* find_habit(std::string_view name) {
  const auto habits = hostile_habits();
  const auto found = std::ranges::find(habits, name, &HostileHabit::name);
  return found == habits.end() ? nullptr : &*found;
}

void add_common_fields(base::Instant now, Answer* answer) {
  answer->fields.insert(answer->fields.begin(), {"Date", web::format_http_date(now)});
}

}  // namespace

std::span<const HostileHabit> hostile_habits() {
  static const std::vector<HostileHabit> all = collected();
  return all;
}

base::Status HostileWeb::check(std::span<const std::string> names) {
  for (const std::string& name : names) {
    if (name == kAll || find_habit(name) != nullptr) continue;
    return base::fail(base::ErrorCode::kInvalid, "no hostile host is called {}",
                      base::quoted(name));
  }
  return {};
}

HostileWeb::HostileWeb(std::span<const std::string> names) {
  const bool has_all = std::ranges::find(names, kAll) != names.end();
  for (const HostileHabit& habit : hostile_habits()) {
    if (has_all || std::ranges::find(names, habit.name) != names.end()) habits_.push_back(&habit);
  }
}

std::string HostileWeb::host_of(const HostileHabit& habit) {
  return std::string(habit.name).append(kHostileZone);
}

Address HostileWeb::address_of(const HostileHabit& habit) {
  const auto index = &habit - hostile_habits().data();
  return kFirstHostileAddress + static_cast<Address>(index);
}

const HostileHabit* HostileWeb::of_host(std::string_view host) const {
  if (habits_.empty()) return nullptr;
  if (host.ends_with('.')) host.remove_suffix(1);
  std::string name = web::lower_copy(host);
  if (!name.ends_with(kHostileZone)) return nullptr;
  name.resize(name.size() - kHostileZone.size());
  const auto found = std::ranges::find(habits_, std::string_view(name), &HostileHabit::name);
  return found == habits_.end() ? nullptr : *found;
}

const HostileHabit* HostileWeb::at(Address address) const {
  const auto found = std::ranges::find_if(
      habits_, [&](const HostileHabit* habit) { return address_of(*habit) == address; });
  return found == habits_.end() ? nullptr : *found;
}

std::vector<Address> HostileWeb::addresses_of(const HostileHabit& habit, std::uint64_t count) {
  const Address own = address_of(habit);
  if (habit.addresses == nullptr) return {own};
  return habit.addresses(own, count);
}

void HostileWeb::answer(const HostileHabit& habit, const Request& request, base::Instant now,
                        Answer* answer) {
  if (request.target == kRobotsTarget && !habit.has_robots) {
    answer->status = 404;
    answer->fields.push_back({"Content-Type", "text/plain"});
    answer->body = "there is none\n";
  } else {
    habit.answer(request, now, answer);
  }
  if (answer->script == nullptr) add_common_fields(now, answer);
}

std::string HostileWeb::robots_of(const HostileHabit& habit, base::Instant now) {
  const std::string host = host_of(habit);
  std::string target(kRobotsTarget);
  for (int hop = 0; hop <= kRobotsHopsMax; ++hop) {
    Answer given;
    answer(habit, {.origin = {.scheme = "http", .host = host, .port = {}}, .target = target}, now,
           &given);
    if (given.script != nullptr) return "";
    if (given.status == 200) return given.body;
    if (given.status >= 500) return "User-agent: *\nDisallow: /\n";
    const auto location = given.field("Location");
    if (!location) return "";
    target = *location;
  }
  return "";
}

}  // namespace meguri::sim
