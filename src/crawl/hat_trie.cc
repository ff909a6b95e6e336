#include "crawl/hat_trie.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "flow/codec.h"

namespace meguri::crawl {

using base::ErrorCode;
using base::fail;

// One child for every byte from `low` on, most of them none. A key that ends here has its value
// here.
struct HatTrie::Branch : TrieNode {
  unsigned char low = 0;
  unsigned char last = 0;  // the children are one more than this
  bool has_value = false;
  std::uint32_t value = 0;

  std::size_t width() const { return std::size_t{last} + 1; }
  TrieNode** children() { return reinterpret_cast<TrieNode**>(this + 1); }
  TrieNode* const* children() const { return reinterpret_cast<TrieNode* const*>(this + 1); }
  TrieNode* child(unsigned char byte) const {
    const auto at = static_cast<unsigned>(byte) - low;
    return at <= last ? children()[at] : nullptr;  // wraps below `low`
  }
  static std::size_t bytes_of(std::size_t width) {
    return allocated_bytes(sizeof(Branch) + width * sizeof(TrieNode*));
  }
};

// Bytes that all keys below have, at least one.
struct HatTrie::Chain : TrieNode {
  std::uint16_t length = 0;
  TrieNode* child = nullptr;

  char* bytes() { return reinterpret_cast<char*>(this + 1); }
  std::string_view text() const { return {reinterpret_cast<const char*>(this + 1), length}; }
  static std::size_t bytes_of(std::size_t length) {
    return allocated_bytes(sizeof(Chain) + length);
  }
};

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
  std::swap(root_, other.root_);
  std::swap(size_, other.size_);
  std::swap(memory_bytes_, other.memory_bytes_);
}

HatTrie::Branch* HatTrie::make_branch(unsigned char low, unsigned char high) {
  const std::size_t width = std::size_t{high} - low + 1;
  memory_bytes_ += Branch::bytes_of(width);
  void* const memory = ::operator new(sizeof(Branch) + width * sizeof(TrieNode*));
  auto* const branch = new (memory) Branch;
  branch->kind = TrieNode::Kind::kBranch;
  branch->low = low;
  branch->last = static_cast<unsigned char>(width - 1);
  std::fill_n(branch->children(), width, nullptr);
  return branch;
}

HatTrie::Chain* HatTrie::make_chain(std::string_view bytes, TrieNode* child) {
  memory_bytes_ += Chain::bytes_of(bytes.size());
  auto* const chain = new (::operator new(sizeof(Chain) + bytes.size())) Chain;
  chain->kind = TrieNode::Kind::kChain;
  chain->length = static_cast<std::uint16_t>(bytes.size());
  chain->child = child;
  std::ranges::copy(bytes, chain->bytes());
  return chain;
}

// `block` may be none yet.
SuffixBlock* HatTrie::insert(SuffixBlock* block, std::string_view suffix, std::uint32_t value) {
  if (block == nullptr) {
    block = SuffixBlock::make();
  } else {
    memory_bytes_ -= block->memory_bytes();
  }
  block = SuffixBlock::insert(block, suffix, value);
  memory_bytes_ += block->memory_bytes();
  return block;
}

void HatTrie::free_node(TrieNode* node) {
  switch (node->kind) {
    case TrieNode::Kind::kBlock: {
      auto* const block = static_cast<SuffixBlock*>(node);
      memory_bytes_ -= block->memory_bytes();
      return SuffixBlock::free(block);
    }
    case TrieNode::Kind::kBranch:
      memory_bytes_ -= Branch::bytes_of(static_cast<Branch*>(node)->width());
      break;
    case TrieNode::Kind::kChain:
      memory_bytes_ -= Chain::bytes_of(static_cast<Chain*>(node)->length);
      break;
  }
  ::operator delete(node);
}

void HatTrie::free_tree(TrieNode* node) {
  if (node == nullptr) return;
  if (node->kind == TrieNode::Kind::kChain) free_tree(static_cast<Chain*>(node)->child);
  if (node->kind == TrieNode::Kind::kBranch) {
    auto* const branch = static_cast<Branch*>(node);
    for (std::size_t i = 0; i < branch->width(); ++i) free_tree(branch->children()[i]);
  }
  free_node(node);
}

void HatTrie::clear() {
  free_tree(root_);
  root_ = nullptr;
  size_ = 0;
}

std::optional<std::uint32_t> HatTrie::get(std::string_view key) const {
  const TrieNode* node = root_;
  while (node != nullptr) {
    if (node->kind == TrieNode::Kind::kBlock) {
      return static_cast<const SuffixBlock*>(node)->find(key);
    }
    if (node->kind == TrieNode::Kind::kBranch) {
      const auto& branch = *static_cast<const Branch*>(node);
      if (key.empty()) return branch.has_value ? std::optional(branch.value) : std::nullopt;
      node = branch.child(first_byte(key));
      key.remove_prefix(1);
      continue;
    }
    const auto& chain = *static_cast<const Chain*>(node);
    if (!key.starts_with(chain.text())) return {};
    key.remove_prefix(chain.length);
    node = chain.child;
  }
  return {};
}

bool HatTrie::put(std::string_view key, std::uint32_t value) {
  CHECK(key.size() <= kKeyBytesMax);
  TrieNode** slot = &root_;
  while (*slot != nullptr) {
    if ((*slot)->kind == TrieNode::Kind::kBlock) {
      auto* const block = static_cast<SuffixBlock*>(*slot);
      if (block->set(key, value)) return false;
      if (block->has_room(key)) break;
      *slot = burst(block);
    } else if ((*slot)->kind == TrieNode::Kind::kBranch) {
      if (key.empty()) {
        auto& branch = *static_cast<Branch*>(*slot);
        branch.value = value;
        const bool is_new = !std::exchange(branch.has_value, true);
        size_ += is_new ? 1 : 0;
        return is_new;
      }
      slot = &child_of(*slot, first_byte(key));
      key.remove_prefix(1);
    } else {
      auto* const chain = static_cast<Chain*>(*slot);
      const std::size_t common = common_length(chain->text(), key);
      if (common < chain->length) {
        *slot = split(chain, common);
      } else {
        key.remove_prefix(common);
        slot = &chain->child;
      }
    }
  }
  *slot = insert(static_cast<SuffixBlock*>(*slot), key, value);
  ++size_;
  return true;
}

// The place for the child of the branch in `slot`, which is made wide enough.
TrieNode*& HatTrie::child_of(TrieNode*& slot, unsigned char byte) {
  auto* branch = static_cast<Branch*>(slot);
  const auto high = static_cast<unsigned char>(branch->low + branch->last);
  if (byte < branch->low || byte > high) {
    Branch* const wider = make_branch(std::min(branch->low, byte), std::max(high, byte));
    wider->has_value = branch->has_value;
    wider->value = branch->value;
    std::copy_n(branch->children(), branch->width(),
                wider->children() + (branch->low - wider->low));
    free_node(branch);
    slot = wider;
    branch = wider;
  }
  return branch->children()[byte - branch->low];
}

// A branch after the first `at` bytes of a chain, which is less than all.
TrieNode* HatTrie::split(Chain* chain, std::size_t at) {
  const std::string_view text = chain->text();
  const unsigned char byte = first_byte(text.substr(at));
  const std::string_view after = text.substr(at + 1);
  Branch* const branch = make_branch(byte, byte);
  branch->children()[0] = after.empty() ? chain->child : make_chain(after, chain->child);
  TrieNode* const made =
      at == 0 ? static_cast<TrieNode*>(branch) : make_chain(text.substr(0, at), branch);
  free_node(chain);
  return made;
}

// A branch with the entries of a full block, behind a chain if they begin alike.
TrieNode* HatTrie::burst(SuffixBlock* block) {
  std::vector<std::pair<std::string_view, std::uint32_t>> entries;
  entries.reserve(block->count());
  block->for_each(
      [&](std::string_view suffix, std::uint32_t value) { entries.emplace_back(suffix, value); });
  const std::string_view model = entries.front().first;
  std::size_t common = model.size();
  for (const auto& [suffix, value] : entries) {
    common = std::min(common, common_length(model, suffix));
  }
  unsigned char low = 0xff;
  unsigned char high = 0;
  for (const auto& [suffix, value] : entries) {
    if (suffix.size() == common) continue;
    low = std::min(low, first_byte(suffix.substr(common)));
    high = std::max(high, first_byte(suffix.substr(common)));
  }
  Branch* const branch = make_branch(low, high);
  for (const auto& [suffix, value] : entries) {
    if (suffix.size() == common) {
      branch->has_value = true;
      branch->value = value;
      continue;
    }
    TrieNode*& child = branch->children()[first_byte(suffix.substr(common)) - low];
    child = insert(static_cast<SuffixBlock*>(child), suffix.substr(common + 1), value);
  }
  TrieNode* const made =
      common == 0 ? static_cast<TrieNode*>(branch) : make_chain(model.substr(0, common), branch);
  free_node(block);
  return made;
}

bool HatTrie::erase(std::string_view key) {
  if (!erase_at(root_, key)) return false;
  --size_;
  return true;
}

// Takes away on its way back what has become empty.
bool HatTrie::erase_at(TrieNode*& slot, std::string_view rest) {
  if (slot == nullptr) return false;
  bool empty = false;
  if (slot->kind == TrieNode::Kind::kBlock) {
    auto* const block = static_cast<SuffixBlock*>(slot);
    if (!block->erase(rest)) return false;
    empty = block->count() == 0;
  } else if (slot->kind == TrieNode::Kind::kBranch) {
    auto* const branch = static_cast<Branch*>(slot);
    if (rest.empty()) {
      if (!std::exchange(branch->has_value, false)) return false;
    } else {
      if (branch->child(first_byte(rest)) == nullptr) return false;
      if (!erase_at(child_of(slot, first_byte(rest)), rest.substr(1))) return false;
    }
    TrieNode** const children = branch->children();
    empty =
        !branch->has_value && std::all_of(children, children + branch->width(),
                                          [](const TrieNode* child) { return child == nullptr; });
  } else {
    auto* const chain = static_cast<Chain*>(slot);
    if (!rest.starts_with(chain->text())) return false;
    if (!erase_at(chain->child, rest.substr(chain->length))) return false;
    empty = chain->child == nullptr;
  }
  if (empty) free_node(std::exchange(slot, nullptr));
  return true;
}

void HatTrie::for_each(std::string_view prefix, const Visit& visit) const {
  std::string path;
  walk(root_, path, prefix, visit);
}

// False: the visitor has had enough. `path` is what leads to the node; it either begins with
// `prefix` or is a beginning of it.
bool HatTrie::walk(const TrieNode* node, std::string& path, std::string_view prefix,
                   const Visit& visit) const {
  if (node == nullptr) return true;
  if (node->kind == TrieNode::Kind::kBlock) {
    return walk_block(*static_cast<const SuffixBlock*>(node), path, prefix, visit);
  }
  const std::size_t depth = path.size();
  bool go_on = true;
  if (node->kind == TrieNode::Kind::kChain) {
    const auto& chain = *static_cast<const Chain*>(node);
    path += chain.text();
    const std::size_t both = std::min(path.size(), prefix.size());
    if (std::string_view(path).substr(0, both) == prefix.substr(0, both)) {
      go_on = walk(chain.child, path, prefix, visit);
    }
    path.resize(depth);
    return go_on;
  }
  const auto& branch = *static_cast<const Branch*>(node);
  const bool all = depth >= prefix.size();
  if (all && branch.has_value) go_on = visit(path, branch.value);
  for (std::size_t i = 0; go_on && i < branch.width(); ++i) {
    const char byte = static_cast<char>(branch.low + i);
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
