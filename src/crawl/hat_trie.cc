#include "crawl/hat_trie.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "flow/codec.h"

namespace meguri::crawl {

using base::ErrorCode;
using base::fail;

// A child for every byte, most of them none; a narrow branch has only those that are usual in host
// names. A key that ends here has its value here.
struct HatTrie::Branch {
  static constexpr unsigned char kNarrowLow = ',';
  static constexpr std::size_t kNarrowWidth = 'z' - kNarrowLow + 1;
  static constexpr std::size_t kWideWidth = 256;

  std::uint32_t value = 0;
  bool has_value = false;

  Ref* children() { return reinterpret_cast<Ref*>(this + 1); }

  static std::size_t width(bool narrow) { return narrow ? kNarrowWidth : kWideWidth; }
  static unsigned char low(bool narrow) { return narrow ? kNarrowLow : 0; }
  static bool is_usual(unsigned char byte) {
    return static_cast<std::size_t>(byte) - kNarrowLow < kNarrowWidth;  // wraps below the first
  }
  static std::size_t bytes_of(bool narrow) { return sizeof(Branch) + width(narrow) * sizeof(Ref); }
};

// Bytes that all keys below have, at least one.
struct HatTrie::Chain {
  Ref child;
  std::uint16_t length = 0;

  char* bytes() { return reinterpret_cast<char*>(this + 1); }
  std::string_view text() { return {bytes(), length}; }
  static std::size_t bytes_of(std::size_t length) { return sizeof(Chain) + length; }
};

HatTrie::Ref::Ref(Branch* branch, Kind kind) : tagged_(reinterpret_cast<char*>(branch) + kind) {}
HatTrie::Ref::Ref(Chain* chain) : tagged_(reinterpret_cast<char*>(chain) + kChain) {}
HatTrie::Ref::Ref(SuffixBlock* block)
    : tagged_(reinterpret_cast<char*>(block) + kBlock + block->bucket_bits()) {
  static_assert(kBlock + SuffixBlock::kBucketBitsMax < BlockPool::kAlignment);
}

HatTrie::Branch* HatTrie::Ref::branch() const { return reinterpret_cast<Branch*>(tagged_ - tag()); }
HatTrie::Chain* HatTrie::Ref::chain() const { return reinterpret_cast<Chain*>(tagged_ - tag()); }
SuffixBlock* HatTrie::Ref::block() const { return reinterpret_cast<SuffixBlock*>(tagged_ - tag()); }

namespace {

constexpr std::uint32_t kMagic = 0x5448474d;  // "MGHT"
constexpr std::uint32_t kVersion = 1;

unsigned char first_byte(std::string_view text) { return static_cast<unsigned char>(text[0]); }

std::size_t common_length(std::string_view a, std::string_view b) {
  const auto end = std::ranges::mismatch(a, b).in1;
  return static_cast<std::size_t>(end - a.begin());
}

}  // namespace

void HatTrie::swap(HatTrie& other) noexcept {
  pool_.swap(other.pool_);
  std::swap(root_, other.root_);
  std::swap(size_, other.size_);
}

HatTrie::Ref HatTrie::make_branch(bool narrow) {
  auto* const branch = new (pool_.take(Branch::bytes_of(narrow))) Branch;
  std::uninitialized_fill_n(branch->children(), Branch::width(narrow), Ref());
  return {branch, narrow ? Ref::kNarrow : Ref::kWide};
}

HatTrie::Ref HatTrie::make_chain(std::string_view bytes, Ref child) {
  auto* const chain = new (pool_.take(Chain::bytes_of(bytes.size()))) Chain;
  chain->length = static_cast<std::uint16_t>(bytes.size());
  chain->child = child;
  std::ranges::copy(bytes, chain->bytes());
  return Ref(chain);
}

// `block` may be none yet.
HatTrie::Ref HatTrie::insert(Ref block, std::string_view suffix, std::uint32_t value) {
  SuffixBlock* const at = block ? block.block() : SuffixBlock::make(pool_);
  return Ref(SuffixBlock::insert(pool_, at, suffix, value));
}

void HatTrie::free_node(Ref node) {
  if (node.is_block()) {
    SuffixBlock::free(pool_, node.block());
  } else if (node.is_branch()) {
    pool_.give_back(reinterpret_cast<char*>(node.branch()), Branch::bytes_of(node.is_narrow()));
  } else {
    Chain* const chain = node.chain();
    pool_.give_back(reinterpret_cast<char*>(chain), Chain::bytes_of(chain->length));
  }
}

void HatTrie::clear() {
  HatTrie empty;
  swap(empty);
}

std::optional<std::uint32_t> HatTrie::get(std::string_view key) const {
  Ref node = root_;
  while (node) {
    if (node.is_block()) {
      // Its page is looked for while the key is hashed.
      __builtin_prefetch(node.block());
      return node.block()->find(key, node.bucket_bits());
    }
    if (node.is_branch()) {
      Branch& branch = *node.branch();
      if (key.empty()) return branch.has_value ? std::optional(branch.value) : std::nullopt;
      const unsigned char byte = first_byte(key);
      if (node.is_narrow() && !Branch::is_usual(byte)) return {};
      node = branch.children()[byte - Branch::low(node.is_narrow())];
      key.remove_prefix(1);
    } else {
      Chain& chain = *node.chain();
      if (!key.starts_with(chain.text())) return {};
      key.remove_prefix(chain.length);
      node = chain.child;
    }
  }
  return {};
}

bool HatTrie::put(std::string_view key, std::uint32_t value) {
  CHECK(key.size() <= kKeyBytesMax);
  Ref* slot = &root_;
  while (*slot) {
    if (slot->is_block()) {
      if (slot->block()->set(key, value)) return false;
      if (slot->block()->has_room(key)) break;
      *slot = burst(*slot);
    } else if (slot->is_branch()) {
      if (key.empty()) {
        Branch& branch = *slot->branch();
        branch.value = value;
        const bool is_new = !std::exchange(branch.has_value, true);
        size_ += is_new ? 1 : 0;
        return is_new;
      }
      slot = &child_of(*slot, first_byte(key));
      key.remove_prefix(1);
    } else {
      const std::size_t common = common_length(slot->chain()->text(), key);
      if (common < slot->chain()->length) {
        *slot = split(*slot, common);
      } else {
        key.remove_prefix(common);
        slot = &slot->chain()->child;
      }
    }
  }
  *slot = insert(*slot, key, value);
  ++size_;
  return true;
}

// The place for the child of the branch in `slot`, which is made wide if it must be.
HatTrie::Ref& HatTrie::child_of(Ref& slot, unsigned char byte) {
  if (slot.is_narrow() && !Branch::is_usual(byte)) {
    const Ref wide = make_branch(false);
    Branch& narrow = *slot.branch();
    wide.branch()->has_value = narrow.has_value;
    wide.branch()->value = narrow.value;
    std::copy_n(narrow.children(), Branch::kNarrowWidth,
                wide.branch()->children() + Branch::kNarrowLow);
    free_node(slot);
    slot = wide;
  }
  return slot.branch()->children()[byte - Branch::low(slot.is_narrow())];
}

// A branch after the first `at` bytes of a chain, which is less than all.
HatTrie::Ref HatTrie::split(Ref chain, std::size_t at) {
  const std::string_view text = chain.chain()->text();
  const Ref child = chain.chain()->child;
  const std::string_view after = text.substr(at + 1);
  Ref branch = make_branch(true);
  child_of(branch, first_byte(text.substr(at))) = after.empty() ? child : make_chain(after, child);
  const Ref made = at == 0 ? branch : make_chain(text.substr(0, at), branch);
  free_node(chain);
  return made;
}

// A branch with the entries of a full block, behind a chain if they begin alike.
HatTrie::Ref HatTrie::burst(Ref block) {
  std::vector<std::pair<std::string_view, std::uint32_t>> entries;
  entries.reserve(block.block()->count());
  block.block()->for_each(
      [&](std::string_view suffix, std::uint32_t value) { entries.emplace_back(suffix, value); });
  const std::string_view model = entries.front().first;
  std::size_t common = model.size();
  for (const auto& [suffix, value] : entries) {
    common = std::min(common, common_length(model, suffix));
  }
  Ref branch = make_branch(true);
  for (const auto& [suffix, value] : entries) {
    if (suffix.size() == common) {
      branch.branch()->has_value = true;
      branch.branch()->value = value;
      continue;
    }
    Ref& child = child_of(branch, first_byte(suffix.substr(common)));
    child = insert(child, suffix.substr(common + 1), value);
  }
  const Ref made = common == 0 ? branch : make_chain(model.substr(0, common), branch);
  free_node(block);
  return made;
}

bool HatTrie::erase(std::string_view key) {
  if (!erase_at(root_, key)) return false;
  --size_;
  return true;
}

// Takes away on its way back what has become empty.
bool HatTrie::erase_at(Ref& slot, std::string_view rest) {
  if (!slot) return false;
  bool empty = false;
  if (slot.is_block()) {
    if (!slot.block()->erase(rest)) return false;
    empty = slot.block()->count() == 0;
  } else if (slot.is_branch()) {
    Branch& branch = *slot.branch();
    const bool narrow = slot.is_narrow();
    if (rest.empty()) {
      if (!std::exchange(branch.has_value, false)) return false;
    } else {
      const unsigned char byte = first_byte(rest);
      if (narrow && !Branch::is_usual(byte)) return false;
      if (!erase_at(branch.children()[byte - Branch::low(narrow)], rest.substr(1))) return false;
    }
    Ref* const end = branch.children() + Branch::width(narrow);
    empty = !branch.has_value && std::none_of(branch.children(), end,
                                              [](Ref child) { return static_cast<bool>(child); });
  } else {
    Chain& chain = *slot.chain();
    if (!rest.starts_with(chain.text())) return false;
    if (!erase_at(chain.child, rest.substr(chain.length))) return false;
    empty = !chain.child;
  }
  if (empty) free_node(std::exchange(slot, Ref()));
  return true;
}

void HatTrie::for_each(std::string_view prefix, const Visit& visit) const {
  std::string path;
  walk(root_, path, prefix, visit);
}

// False: the visitor has had enough. `path` is what leads to the node; it either begins with
// `prefix` or is a beginning of it.
bool HatTrie::walk(Ref node, std::string& path, std::string_view prefix, const Visit& visit) const {
  if (!node) return true;
  if (node.is_block()) return walk_block(*node.block(), path, prefix, visit);
  const std::size_t depth = path.size();
  bool go_on = true;
  if (!node.is_branch()) {
    path += node.chain()->text();
    const std::size_t both = std::min(path.size(), prefix.size());
    if (std::string_view(path).substr(0, both) == prefix.substr(0, both)) {
      go_on = walk(node.chain()->child, path, prefix, visit);
    }
    path.resize(depth);
    return go_on;
  }
  Branch& branch = *node.branch();
  const bool all = depth >= prefix.size();
  if (all && branch.has_value) go_on = visit(path, branch.value);
  for (std::size_t i = 0; go_on && i < Branch::width(node.is_narrow()); ++i) {
    const char byte = static_cast<char>(Branch::low(node.is_narrow()) + i);
    if (!all && byte != prefix[depth]) continue;
    path.push_back(byte);
    go_on = walk(branch.children()[i], path, prefix, visit);
    path.resize(depth);
  }
  return go_on;
}

bool HatTrie::walk_block(const SuffixBlock& block, std::string& path, std::string_view prefix,
                         const Visit& visit) {
  const std::size_t depth = path.size();
  const std::string_view rest = prefix.substr(std::min(depth, prefix.size()));
  std::vector<std::pair<std::string_view, std::uint32_t>> entries;
  block.for_each([&](std::string_view suffix, std::uint32_t value) {
    if (suffix.starts_with(rest)) entries.emplace_back(suffix, value);
  });
  std::ranges::sort(entries);
  bool go_on = true;
  for (std::size_t i = 0; go_on && i < entries.size(); ++i) {
    path += entries[i].first;
    go_on = visit(path, entries[i].second);
    path.resize(depth);
  }
  return go_on;
}

std::string HatTrie::encode() const {
  std::string out;
  flow::put_fixed(out, kMagic);
  flow::put_fixed(out, kVersion);
  flow::put_fixed(out, static_cast<std::uint64_t>(size_));
  std::string last;
  for_each([&](std::string_view key, std::uint32_t value) {
    const std::size_t common = common_length(last, key);
    flow::put_fixed(out, static_cast<std::uint16_t>(common));
    flow::put_fixed(out, static_cast<std::uint16_t>(key.size() - common));
    out += key.substr(common);
    flow::put_fixed(out, value);
    last = key;
    return true;
  });
  flow::put_fixed(out, base::hash64(out));
  return out;
}

base::Result<HatTrie> HatTrie::decode(std::string_view bytes) {
  const auto damaged = fail(ErrorCode::kCorrupt, "the table of hosts is damaged");
  if (bytes.size() < sizeof(std::uint64_t)) return damaged;
  std::string_view sum = bytes.substr(bytes.size() - sizeof(std::uint64_t));
  bytes.remove_suffix(sizeof(std::uint64_t));
  std::uint64_t expected = 0;
  if (!flow::take_fixed(sum, expected) || expected != base::hash64(bytes)) return damaged;
  std::uint32_t magic = 0;
  std::uint32_t version = 0;
  std::uint64_t count = 0;
  if (!flow::take_fixed(bytes, magic) || magic != kMagic) return damaged;
  if (!flow::take_fixed(bytes, version) || !flow::take_fixed(bytes, count)) return damaged;
  if (version != kVersion) {
    return fail(ErrorCode::kUnsupported, "the table of hosts has version {}, this program reads {}",
                version, kVersion);
  }
  HatTrie trie;
  std::string key;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint16_t common = 0;
    std::uint16_t length = 0;
    std::uint32_t value = 0;
    if (!flow::take_fixed(bytes, common) || !flow::take_fixed(bytes, length)) return damaged;
    if (common > key.size() || length > bytes.size()) return damaged;
    const std::string_view end = bytes.substr(0, length);
    // Every key is larger than the one before it, and says truly what they share.
    if (i > 0 && (end.empty() ||
                  (common < key.size() && first_byte(end) <= first_byte(key.substr(common))))) {
      return damaged;
    }
    key.resize(common);
    key += end;
    bytes.remove_prefix(length);
    if (key.size() > kKeyBytesMax || !flow::take_fixed(bytes, value)) return damaged;
    trie.put(key, value);
  }
  if (!bytes.empty()) return damaged;
  return trie;
}

}  // namespace meguri::crawl
