#include "env/memory_tree.h"

#include <algorithm>
#include <ranges>
#include <span>

#include "base/check.h"

namespace meguri::env {

namespace {

using base::ErrorCode;
using base::fail;

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (const auto part : std::views::split(std::string_view(path), '/')) {
    const std::string_view name(part.begin(), part.end());
    if (name.empty() || name == ".") continue;
    if (name != "..") {
      parts.emplace_back(name);
    } else if (!parts.empty()) {
      parts.pop_back();
    }
  }
  return parts;
}

void assign(std::map<std::string, MemoryNodePtr>* names, const std::string& name,
            const MemoryNodePtr& node) {
  if (node) {
    (*names)[name] = node;
  } else {
    names->erase(name);
  }
}

bool contains(const MemoryNode& folder, const MemoryNode* node) {
  return std::ranges::any_of(folder.names, [&](const auto& entry) {
    return entry.second.get() == node || contains(*entry.second, node);
  });
}

// What the medium would hold if every byte written so far reached it.
std::string written_bytes(const MemoryNode& file) {
  std::string bytes = file.bytes;
  for (const auto& [begin, end] : file.lost) std::fill(&bytes[begin], &bytes[0] + end, '\0');
  return bytes;
}

void fill_with_garbage(char* begin, std::size_t length, Random* random) {
  std::generate_n(begin, length, [&] { return static_cast<char>(random->below(256)); });
}

std::string surviving_bytes(const MemoryNode& file, Random* random) {
  std::string bytes = written_bytes(file);
  const std::size_t unsynced = bytes.size() - file.synced;
  if (random == nullptr || unsynced == 0) {
    bytes.resize(file.synced);
    return bytes;
  }
  // All and nothing are as likely as everything between them, because they are what happens.
  const std::uint64_t choice = random->below(4);
  const std::size_t kept = choice == 0 ? 0 : choice == 1 ? unsynced : random->between(0, unsynced);
  const std::size_t good = file.synced + kept;
  const std::size_t torn = random->between(0, unsynced - kept);
  switch (random->below(4)) {
    case 0:  // cut
      bytes.resize(good);
      break;
    case 1:  // zeros behind
      bytes.resize(good + torn);
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(good), torn, '\0');
      break;
    case 2:  // garbage behind
      bytes.resize(good + torn);
      fill_with_garbage(bytes.data() + good, torn, random);
      break;
    default:  // a hole, then the true bytes
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(good), torn, '\0');
      break;
  }
  return bytes;
}

}  // namespace

MemoryTree::MemoryTree() : root_(std::make_shared<MemoryNode>()) { root_->is_folder = true; }

base::Result<MemoryNodePtr> MemoryTree::find(const std::string& path) const {
  MemoryNodePtr node = root_;
  for (const std::string& name : parts_of(path)) {
    const auto entry = node->names.find(name);
    if (entry == node->names.end()) return fail(ErrorCode::kNotFound, "{} does not exist", path);
    node = entry->second;
  }
  return node;
}

base::Result<MemoryNodePtr> MemoryTree::find_file(const std::string& path) const {
  ASSIGN_OR_RETURN(MemoryNodePtr node, find(path));
  if (node->is_folder) return fail(ErrorCode::kInvalid, "{} is a folder", path);
  return node;
}

base::Result<MemoryNodePtr> MemoryTree::find_folder(const std::string& path) const {
  ASSIGN_OR_RETURN(MemoryNodePtr node, find(path));
  if (!node->is_folder) return fail(ErrorCode::kNotFound, "{} is not a folder", path);
  return node;
}

// The folder and name that `path` means, and the node there, if any.
base::Result<MemoryTree::Assignment> MemoryTree::place_of(const std::string& path) const {
  std::vector<std::string> parts = parts_of(path);
  if (parts.empty()) return fail(ErrorCode::kInvalid, "{} is the root folder", path);
  MemoryNodePtr folder = root_;
  for (const std::string& name : std::span(parts).first(parts.size() - 1)) {
    const auto entry = folder->names.find(name);
    if (entry == folder->names.end() || !entry->second->is_folder) {
      return fail(ErrorCode::kNotFound, "the folder of {} does not exist", path);
    }
    folder = entry->second;
  }
  const auto entry = folder->names.find(parts.back());
  MemoryNodePtr node = entry == folder->names.end() ? nullptr : entry->second;
  return Assignment{std::move(folder), std::move(parts.back()), std::move(node)};
}

base::Result<MemoryNodePtr> MemoryTree::create(const std::string& path) {
  ASSIGN_OR_RETURN(Assignment place, place_of(path));
  if (place.node) return fail(ErrorCode::kExists, "{} exists", path);
  place.node = std::make_shared<MemoryNode>();
  place.node->changed = ++changes_;
  MemoryNodePtr node = place.node;
  apply({{std::move(place)}});
  return node;
}

base::Status MemoryTree::check_rename(const Assignment& from, const Assignment& to,
                                      const std::string& what) const {
  if (!from.node) return fail(ErrorCode::kNotFound, "cannot {}: it does not exist", what);
  if (from.node->is_folder && (from.node == to.folder || contains(*from.node, to.folder.get()))) {
    return fail(ErrorCode::kInvalid, "cannot {}: a folder cannot move into itself", what);
  }
  if (!to.node) return {};
  if (from.node->is_folder && !to.node->is_folder) {
    return fail(ErrorCode::kNotFound, "cannot {}: the target is not a folder", what);
  }
  if (!from.node->is_folder && to.node->is_folder) {
    return fail(ErrorCode::kInvalid, "cannot {}: the target is a folder", what);
  }
  if (to.node->is_folder && !to.node->names.empty()) {
    return fail(ErrorCode::kExists, "cannot {}: the target is not empty", what);
  }
  return {};
}

base::Status MemoryTree::rename(const std::string& from, const std::string& to) {
  const std::string what = fmt::format("rename {} to {}", from, to);
  ASSIGN_OR_RETURN(Assignment source, place_of(from));
  auto target_place = place_of(to);
  if (!target_place) {
    return std::unexpected(target_place.error().with_context(fmt::format("cannot {}", what)));
  }
  Assignment& target = *target_place;
  RETURN_IF_ERROR(check_rename(source, target, what));
  if (source.node == target.node) return {};
  if (target.node) unlink(target.node.get());
  // A folder that moves must not overtake the moves of folders above or below it; otherwise the
  // medium could come to hold a folder inside itself.
  const bool moves_folder = source.node->is_folder && source.folder != target.folder;
  target.node = std::exchange(source.node, nullptr);
  apply({{std::move(source), std::move(target)}, moves_folder});
  return {};
}

base::Status MemoryTree::remove(const std::string& path) {
  ASSIGN_OR_RETURN(Assignment place, place_of(path));
  if (!place.node) return fail(ErrorCode::kNotFound, "cannot remove {}: it does not exist", path);
  if (place.node->is_folder) {
    return fail(ErrorCode::kInvalid, "cannot remove {}: it is a folder", path);
  }
  unlink(place.node.get());
  place.node = nullptr;
  apply({{std::move(place)}});
  return {};
}

base::Status MemoryTree::make_dirs(const std::string& path) {
  MemoryNodePtr folder = root_;
  for (const std::string& name : parts_of(path)) {
    const auto entry = folder->names.find(name);
    MemoryNodePtr child;
    if (entry != folder->names.end()) {
      child = entry->second;
      if (!child->is_folder) {
        return fail(ErrorCode::kExists, "cannot make folder {}: {} is a file", path, name);
      }
    } else {
      child = std::make_shared<MemoryNode>();
      child->is_folder = true;
      apply({{{folder, name, child}}});
      sync_folder(folder.get());
    }
    folder = std::move(child);
  }
  return {};
}

base::Status MemoryTree::sync_dir(const std::string& path) {
  ASSIGN_OR_RETURN(const MemoryNodePtr folder, find_folder(path));
  sync_folder(folder.get());
  return {};
}

std::set<const MemoryNode*> MemoryTree::folders_of(const Change& change) {
  std::set<const MemoryNode*> folders;
  for (const Assignment& a : change.assignments) folders.insert(a.folder.get());
  return folders;
}

void MemoryTree::apply(Change change) {
  for (const Assignment& a : change.assignments) assign(&a.folder->names, a.name, a.node);
  pending_.push_back(std::move(change));
}

void MemoryTree::unlink(MemoryNode* node) {
  used_ -= node->bytes.size();
  node->is_linked = false;
}

// Takes to the medium every change in `folder`, and before it whatever came earlier in any folder
// such a change touches too.
void MemoryTree::sync_folder(const MemoryNode* folder) {
  std::set<const MemoryNode*> folders = {folder};
  std::vector<bool> is_wanted(pending_.size());
  bool wants_all = false;
  for (std::size_t i = pending_.size(); i-- > 0;) {
    const Change& change = pending_[i];
    is_wanted[i] = wants_all || std::ranges::any_of(change.assignments, [&](const auto& a) {
                     return folders.contains(a.folder.get());
                   });
    if (!is_wanted[i]) continue;
    for (const Assignment& a : change.assignments) folders.insert(a.folder.get());
    wants_all = wants_all || change.after_all_before;
  }
  std::vector<Change> rest;
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (is_wanted[i]) {
      for (const Assignment& a : pending_[i].assignments) {
        assign(&a.folder->durable_names, a.name, a.node);
      }
    } else {
      rest.push_back(std::move(pending_[i]));
    }
  }
  pending_ = std::move(rest);
}

void MemoryTree::append(MemoryNode* file, std::string_view bytes) {
  file->bytes.append(bytes);
  file->changed = ++changes_;
  if (file->is_linked) used_ += bytes.size();
}

void MemoryTree::truncate(MemoryNode* file, std::size_t size) {
  CHECK(size <= file->bytes.size());
  if (file->is_linked) used_ -= file->bytes.size() - size;
  file->bytes.resize(size);
  file->changed = ++changes_;
  file->synced = size;
  for (auto& [begin, end] : file->lost) {
    begin = std::min(begin, size);
    end = std::min(end, size);
  }
  std::erase_if(file->lost, [](const auto& range) { return range.first == range.second; });
}

void MemoryTree::punch(MemoryNode* file, std::size_t offset, std::size_t length) {
  constexpr char kHole = '\xa5';
  std::fill_n(file->bytes.begin() + static_cast<std::ptrdiff_t>(offset), length, kHole);
}

MemoryTree::ChangedFolders MemoryTree::surviving_changes(Random* random) const {
  ChangedFolders changed;
  if (random == nullptr) return changed;
  std::map<const MemoryNode*, std::uint64_t> left;  // changes of a folder that reach the medium
  for (const Change& change : pending_) {
    for (const MemoryNode* folder : folders_of(change)) ++left[folder];
  }
  std::set<const MemoryNode*> drawn;
  for (const Change& change : pending_) {  // in this order, so that a seed gives the same again
    for (const Assignment& a : change.assignments) {
      const MemoryNode* const folder = a.folder.get();
      if (drawn.insert(folder).second) left[folder] = random->between(0, left[folder]);
    }
  }
  bool all_survived = true;
  for (const Change& change : pending_) {
    const std::set<const MemoryNode*> folders = folders_of(change);
    const bool survives = (all_survived || !change.after_all_before) &&
                          std::ranges::all_of(folders, [&](auto* f) { return left[f] > 0; });
    all_survived = all_survived && survives;
    for (const MemoryNode* folder : folders) left[folder] = survives ? left[folder] - 1 : 0;
    if (!survives) continue;
    for (const Assignment& a : change.assignments) {
      const auto entry = changed.try_emplace(a.folder.get(), a.folder->durable_names).first;
      assign(&entry->second, a.name, a.node);
    }
  }
  return changed;
}

MemoryNodePtr MemoryTree::survivor_of(const MemoryNode& node, const ChangedFolders& changed,
                                      Random* random, std::uint64_t* used) const {
  auto copy = std::make_shared<MemoryNode>();
  copy->is_folder = node.is_folder;
  copy->bytes = surviving_bytes(node, random);
  copy->synced = copy->bytes.size();
  *used += copy->bytes.size();
  const auto entry = changed.find(&node);
  const Names& names = entry == changed.end() ? node.durable_names : entry->second;
  for (const auto& [name, child] : names) {
    copy->names[name] = survivor_of(*child, changed, random, used);
  }
  copy->durable_names = copy->names;
  return copy;
}

MemoryTree MemoryTree::after_crash(Random* random) const {
  MemoryTree tree;
  const ChangedFolders changed = surviving_changes(random);
  tree.root_ = survivor_of(*root_, changed, random, &tree.used_);
  return tree;
}

}  // namespace meguri::env
