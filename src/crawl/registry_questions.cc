// What people ask of the Registry.
#include <algorithm>
#include <utility>
#include <vector>

#include "crawl/registry.h"

namespace meguri::crawl {

HostPages Registry::pages_of(Index host) const {
  const HostPageCounts::Host& counts = (*host_counts_)[host];
  HostPages pages;
  pages.host = counts.name;
  pages.pages = counts.pages;
  const std::uint64_t again = host < again_out_.size() ? again_out_[host] : 0;
  pages.out = queue_->out_of(host) - again;
  pages.waiting = counts.pages - counts.done - pages.out;
  pages.load = counts.load;
  pages.hints = revisit::faded(counts.hints, clock().utc());
  pages.due_again = queue_->known_waiting_of(host) + again;
  return pages;
}

// Linear in the number of hosts: a question of people, now and then.
std::vector<HostPages> Registry::first_hosts(HostOrder order, std::size_t limit) const {
  std::vector<std::pair<std::uint64_t, Index>> all;
  all.reserve(queue_->hosts());
  for (Index i = 0; i < queue_->hosts(); ++i) {
    const HostPageCounts::Host& host = (*host_counts_)[i];
    all.emplace_back(order == HostOrder::kPages ? host.pages : host.pages - host.done, i);
  }
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(limit, all.size()));
  std::ranges::partial_sort(all, end, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<HostPages> first;
  for (auto it = all.begin(); it != end; ++it) first.push_back(pages_of(it->second));
  return first;
}

void Registry::on_question(RegistryQuestion&& question) {
  RegistryAnswer answer{.ticket = question.ticket};
  if (question.page) {
    auto record = pages_->find(*question.page);
    if (!record) {
      fail(record.error());
      return;
    }
    if (*record) {
      const std::size_t lane = lane_of(**record);
      answer.page = {**std::move(record), lane, in_flight_.contains(*question.page)};
    }
    const Index host = question.hosts.empty() ? kNoIndex : queue_->find_host(question.hosts[0]);
    answer.is_full = counts_.known >= pages_max_;
    answer.is_host_full = host != kNoIndex && (*host_counts_)[host].pages >=
                                                  host_limit_of(rules_.of(question.page_host));
  }
  for (const std::uint64_t hash : question.hosts) {
    const Index host = queue_->find_host(hash);
    if (host != kNoIndex) answer.hosts.push_back(pages_of(host));
  }
  if (question.order) answer.hosts = first_hosts(*question.order, question.limit);
  answers.emit(std::move(answer));
}

}  // namespace meguri::crawl
