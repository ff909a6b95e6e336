#include "crawl/control_messages.h"

#include <array>

namespace meguri::crawl {

namespace {

constexpr std::array<std::string_view, 4> kOrders = {"waiting", "errors", "pages", "delay"};

}  // namespace

// The first partition of that instance: see flow::EdgeEnd.
std::uint64_t key_of_part(std::size_t part, std::size_t parts) {
  const std::uint64_t partition = (part * base::kPartitions + parts - 1) / parts;
  return partition << (64U - base::kPartitionBits);
}

std::string_view name_of(HostOrder order) { return kOrders[static_cast<std::size_t>(order)]; }

std::optional<HostOrder> host_order_of(std::string_view name) {
  for (std::size_t i = 0; i < kOrders.size(); ++i) {
    if (kOrders[i] == name) return static_cast<HostOrder>(i);
  }
  return std::nullopt;
}

std::string_view name_of(RobotsStanding standing) {
  constexpr std::array<std::string_view, 4> kNames = {"unknown", "asking", "known", "failing"};
  return kNames[static_cast<std::size_t>(standing)];
}

}  // namespace meguri::crawl

FLOW_DEFINE_QUEUES(meguri::crawl::RegistryQuestion)
FLOW_DEFINE_QUEUES(meguri::crawl::RegistryAnswer)
FLOW_DEFINE_QUEUES(meguri::crawl::FilterQuestion)
FLOW_DEFINE_QUEUES(meguri::crawl::FilterAnswer)
FLOW_DEFINE_QUEUES(meguri::crawl::HostQuestion)
FLOW_DEFINE_QUEUES(meguri::crawl::HostAnswer)
FLOW_DEFINE_QUEUES(meguri::crawl::SchedulerQuestion)
FLOW_DEFINE_QUEUES(meguri::crawl::SchedulerAnswer)
FLOW_DEFINE_QUEUES(meguri::crawl::SeedQuestion)
FLOW_DEFINE_QUEUES(meguri::crawl::SeedAnswer)
