// IdleList: small numbers in the order in which they were last touched. All wait for the same time,
// so this is all a time-out needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace meguri::sim {

// Every call takes constant time. Thread-compatible. Grows to the largest number, and stays.
class IdleList {
 public:
  static constexpr std::uint32_t kNone = 0xffff'ffff;

  IdleList() { links_.resize(1); }

  // Adds it, or moves it to the end.
  void touch(std::uint32_t item, std::int64_t now_ns) {
    if (item + 1 >= links_.size()) links_.resize(std::size_t{item} + 2);
    remove(item);
    Link& link = links_[item + 1];
    link = {links_[0].before, 0, now_ns, true};
    links_[link.before].after = item + 1;
    links_[0].before = item + 1;
  }

  void remove(std::uint32_t item) {
    Link& link = links_[item + 1];
    if (!link.is_in) return;
    links_[link.before].after = link.after;
    links_[link.after].before = link.before;
    link.is_in = false;
  }

  // The one that was touched longest ago, and the one that was so after `item`; or kNone.
  std::uint32_t first() const { return links_[0].after - 1; }
  std::uint32_t after(std::uint32_t item) const { return links_[item + 1].after - 1; }
  std::int64_t touched_ns(std::uint32_t item) const { return links_[item + 1].touched_ns; }

 private:
  // Places in links_: 0 is both ends of the list, item + 1 is the item's own.
  struct Link {
    std::uint32_t before = 0;
    std::uint32_t after = 0;
    std::int64_t touched_ns = 0;
    bool is_in = false;
  };

  std::vector<Link> links_;
};

}  // namespace meguri::sim
