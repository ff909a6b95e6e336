#include "sat/known_ids.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace meguri::sat {

using base::ErrorCode;

namespace {

constexpr std::uint64_t kIdsOfWaiting = 40;
constexpr std::uint64_t kIdsOfFresh = 512;
constexpr double kFreshFilterBits = 8;
constexpr std::size_t kLookups = 1024;  // that are sieved together
constexpr std::size_t kAhead = 8;       // answers whose places in the cache are fetched
// Runs are merged when the older ones have less than so many times the ids of the younger ones.
constexpr std::uint64_t kTierFactor = 2;
// All merges together take about eight ids for each one added.
constexpr std::uint64_t kMergedForAdded = 16;
constexpr std::uint64_t kMergeStep = 4096;
constexpr std::size_t kRunsMax = 24;  // beyond that a merge is finished at once

}  // namespace

KnownIds::KnownIds(env::FileSystem& files, std::string dir, const KnownIdsOptions& options)
    : files_(files), dir_(std::move(dir)), options_(options), cache_(options.cache_bytes) {
  CHECK(options.block_ids > 0 && options.block_ids <= kBlockIdsMax);
  CHECK(options.filter_bits > 0);
  size_by_ids();
}

KnownIds::~KnownIds() = default;

std::uint64_t KnownIds::ids() const {
  std::uint64_t ids = fresh_.size();
  for (const auto& run : runs_) ids += run->mark().ids;
  return ids;
}

void KnownIds::size_by_ids() {
  const std::uint64_t all = ids();
  // One that has begun keeps its size, for which there is room.
  if (waiting_.empty()) {
    batch_ids_ = std::max<std::uint64_t>({1, options_.batch_min, all / kIdsOfWaiting});
  }
  fresh_ids_ = std::max<std::uint64_t>({1, options_.fresh_min, all / kIdsOfFresh});
  fresh_filter_ = BloomFilter(fresh_ids_, kFreshFilterBits);
}

bool KnownIds::may_contain(const FilterKey& key) const {
  return std::ranges::any_of(runs_, [&](const auto& run) { return run->may_contain(key); });
}

const Seq* KnownIds::fresh_seq(const base::Id& id, const FilterKey& key) const {
  if (!fresh_filter_.may_contain(key)) return nullptr;
  const auto found = fresh_.find(id);
  return found == fresh_.end() ? nullptr : &found->second;
}

// --- Asking.

std::optional<IdAnswer> KnownIds::ask(const base::Id& id, std::uint64_t tag) {
  ++counts_.asked;
  if (const std::optional<Seq> seq = cache_.find(id)) {
    ++counts_.in_cache;
    return IdAnswer{tag, true, *seq};
  }
  const FilterKey key = FilterKey::of(id);
  if (const Seq* seq = fresh_seq(id, key)) {
    ++counts_.in_cache;
    if (*seq == kRemovedSeq) return IdAnswer{tag, false, kNoSeq};
    return IdAnswer{tag, true, *seq};
  }
  if (!may_contain(key)) {
    ++counts_.in_filter;
    return IdAnswer{tag, false, kNoSeq};
  }
  if (!options_.is_exact) return IdAnswer{tag, true, kNoSeq};
  ++counts_.waited;
  if (waiting_.empty()) waiting_.reserve(batch_ids_);
  waiting_.push_back({id, tag});
  return std::nullopt;
}

void KnownIds::settle() { must_settle_ = true; }

base::Result<std::optional<IdAnswer>> KnownIds::next_answer() {
  if (lookup_at_ == lookups_.size()) {
    RETURN_IF_ERROR(sieve_some());
    if (lookups_.empty()) return std::nullopt;
  }
  const Lookup& lookup = lookups_[lookup_at_];
  const std::size_t at = sieved_until_ - lookups_.size() + lookup_at_;
  ++lookup_at_;
  const bool is_known = lookup.is_found && lookup.seq != kRemovedSeq;
  if (is_known) cache_.put(lookup.id, lookup.seq);
  if (lookup_at_ + kAhead < lookups_.size()) cache_.prefetch(lookups_[lookup_at_ + kAhead].id);
  return IdAnswer{sieved_[at].tag, is_known, is_known ? lookup.seq : kNoSeq};
}

base::Status KnownIds::sieve_some() {
  lookups_.clear();
  lookup_at_ = 0;
  if (sieved_until_ == sieved_.size()) {
    sieved_ = std::vector<Waiting>();  // with its memory
    sieved_until_ = 0;
    if (waiting_.empty() || (!must_settle_ && !has_full_batch())) {
      must_settle_ = false;
      return {};
    }
    must_settle_ = false;
    sieved_ = std::exchange(waiting_, {});
    std::ranges::sort(sieved_, {}, &Waiting::id);
    ++counts_.sieves;
  }
  const std::size_t end = std::min(sieved_.size(), sieved_until_ + kLookups);
  for (std::size_t i = sieved_until_; i < end; ++i) {
    Lookup& lookup = lookups_.emplace_back(sieved_[i].id);
    const Seq* seq = fresh_seq(lookup.id, FilterKey::of(lookup.id));
    if (seq == nullptr) continue;
    lookup.seq = *seq;
    lookup.is_found = true;
  }
  for (std::size_t i = runs_.size(); i > 0; --i) {
    const base::Status status = runs_[i - 1]->look_up(lookups_, scratch_);
    if (status) continue;
    lookups_.clear();
    return status;
  }
  sieved_until_ = end;
  return {};
}

base::Result<std::optional<Seq>> KnownIds::find(const base::Id& id) {
  const auto known = [](Seq seq) {
    return seq == kRemovedSeq ? std::nullopt : std::optional<Seq>(seq);
  };
  if (const auto found = fresh_.find(id); found != fresh_.end()) return known(found->second);
  for (std::size_t i = runs_.size(); i > 0; --i) {
    ASSIGN_OR_RETURN(const std::optional<Seq> seq, runs_[i - 1]->find(id));
    if (seq) return known(*seq);
  }
  return std::nullopt;
}

// --- Changes.

base::Status KnownIds::check_usable() const {
  if (status_) return {};
  return std::unexpected(status_.error().with_context("the known ids must be opened again"));
}

base::Status KnownIds::note(base::Status status) {
  if (!status) status_ = status;
  return status;
}

base::Status KnownIds::add(const base::Id& id, Seq seq) {
  if (seq == kRemovedSeq) return base::fail(ErrorCode::kInvalid, "{} is no sequence number", seq);
  RETURN_IF_ERROR(check_usable());
  cache_.put(id, seq);
  return note(put({id, seq}));
}

base::Status KnownIds::remove(const base::Id& id) {
  RETURN_IF_ERROR(check_usable());
  cache_.erase(id);
  return note(put({id, kRemovedSeq}));
}

base::Status KnownIds::put(const KnownId& known) {
  tell_lookups(known);
  put_fresh(known);
  RETURN_IF_ERROR(log_->add(known));
  if (fresh_.size() >= fresh_ids_) RETURN_IF_ERROR(flush());
  if (!merge_) return {};
  merge_due_ += kMergedForAdded;
  if (merge_due_ < kMergeStep && runs_.size() <= kRunsMax) return {};
  return merge_some(std::exchange(merge_due_, 0));
}

void KnownIds::put_fresh(const KnownId& known) {
  fresh_.insert_or_assign(known.id, known.seq);
  fresh_filter_.add(FilterKey::of(known.id));
}

// What was sieved and not answered yet must be told of what changes.
void KnownIds::tell_lookups(const KnownId& known) {
  const auto begin = lookups_.begin() + static_cast<std::ptrdiff_t>(lookup_at_);
  auto at =
      std::lower_bound(begin, lookups_.end(), known.id,
                       [](const Lookup& lookup, const base::Id& id) { return lookup.id < id; });
  for (; at != lookups_.end() && at->id == known.id; ++at) {
    at->seq = known.seq;
    at->is_found = true;
  }
}

base::Status KnownIds::flush() {
  std::vector<KnownId> sorted;
  sorted.reserve(fresh_.size());
  for (const auto& [id, seq] : fresh_) {
    if (seq != kRemovedSeq || !runs_.empty()) sorted.push_back({id, seq});
  }
  std::ranges::sort(sorted, {}, &KnownId::id);
  if (!sorted.empty()) {
    ASSIGN_OR_RETURN(const auto writer,
                     IdRunWriter::create(files_, dir_, next_run_++, sorted.size(),
                                         options_.filter_bits, options_.block_ids, traffic_));
    for (const KnownId& known : sorted) RETURN_IF_ERROR(writer->add(known));
    ASSIGN_OR_RETURN(auto run, writer->finish());
    runs_.push_back(std::move(run));
  }
  runs_changed_ = true;
  fresh_.clear();
  size_by_ids();
  return merge_ ? base::Status() : begin_merge();
}

// The youngest runs become one with the older ones that are not much larger than all of them
// together: so there are few runs, and an id is written a few times only.
base::Status KnownIds::begin_merge() {
  std::uint64_t younger = 0;
  std::size_t begin = runs_.size();
  for (std::size_t i = runs_.size(); i > 0; --i) {
    const std::uint64_t ids = runs_[i - 1]->mark().ids;
    if (ids <= younger * kTierFactor) begin = i - 1;
    younger += ids;
  }
  if (begin == runs_.size()) return {};
  std::vector<const IdRun*> runs;
  std::uint64_t ids = 0;
  for (std::size_t i = begin; i < runs_.size(); ++i) {
    runs.push_back(runs_[i].get());
    ids += runs_[i]->mark().ids;
  }
  ASSIGN_OR_RETURN(auto writer,
                   IdRunWriter::create(files_, dir_, next_run_++, ids, options_.filter_bits,
                                       options_.block_ids, traffic_));
  ASSIGN_OR_RETURN(merge_, IdMerge::begin(std::move(runs), begin == 0, std::move(writer)));
  merge_begin_ = begin;
  merge_end_ = runs_.size();
  merge_due_ = 0;
  return {};
}

base::Status KnownIds::merge_some(std::uint64_t ids) {
  if (runs_.size() > kRunsMax) ids = ~std::uint64_t{0};
  ASSIGN_OR_RETURN(const bool is_done, merge_->step(ids));
  return is_done ? finish_merge() : base::Status();
}

base::Status KnownIds::finish_merge() {
  ASSIGN_OR_RETURN(auto run, merge_->finish());
  merge_.reset();
  for (std::size_t i = merge_begin_; i < merge_end_; ++i) {
    released_.push_back(runs_[i]->mark().number);
  }
  const auto begin = runs_.begin() + static_cast<std::ptrdiff_t>(merge_begin_);
  runs_.erase(begin + 1, runs_.begin() + static_cast<std::ptrdiff_t>(merge_end_));
  if (run->mark().ids > 0) {
    *begin = std::move(run);
  } else {
    released_.push_back(run->mark().number);
    runs_.erase(begin);
  }
  runs_changed_ = true;
  ++counts_.merges;
  return begin_merge();
}

// --- Figures.

KnownIdsCounts KnownIds::counts() const {
  KnownIdsCounts counts = counts_;
  counts.ids = ids();
  counts.runs = runs_.size();
  counts.traffic = traffic_;
  return counts;
}

KnownIdsMemory KnownIds::memory() const {
  // A node has a pointer and what malloc adds.
  constexpr std::size_t kNodeBytes = sizeof(KnownId) + 3 * sizeof(void*);
  KnownIdsMemory memory;
  memory.cache = cache_.memory_bytes();
  for (const auto& run : runs_) memory.runs += run->memory_bytes();
  if (merge_) memory.runs += merge_->memory_bytes();
  memory.fresh = fresh_.size() * kNodeBytes + fresh_.bucket_count() * sizeof(void*) +
                 fresh_filter_.memory_bytes();
  memory.batch = (waiting_.capacity() + sieved_.capacity()) * sizeof(Waiting);
  memory.buffers = lookups_.capacity() * sizeof(Lookup) + scratch_.memory_bytes() +
                   (log_ ? log_->memory_bytes() : 0);
  return memory;
}

}  // namespace meguri::sat
