// PageStore: the records of all pages of a Registry, of which it holds in memory those that are
// out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"
#include "crawl/durable_map.h"
#include "crawl/page_record.h"
#include "env/file_system.h"
#include "flow/lane.h"
#include "sat/folder_scan.h"
#include "sat/id_store.h"

namespace meguri::crawl {

// Whether a page is known may need a look at the disk, which is worth it for many at a time: until
// then its candidate is kept here, durably.
//
// A page is out from when it is due, or was added so, until it is rescheduled. Durable by epochs,
// as sat::Store is. Thread-compatible.
class PageStore {
 public:
  static base::Result<std::unique_ptr<PageStore>> open(env::FileSystem& files,
                                                       const std::string& dir,
                                                       const sat::IdStoreOptions& options,
                                                       std::string_view position,
                                                       base::Instant now);

  // Every page of a store at a position, in any order, for who only looks: nothing on disk changes
  // but the scratch folder. kCorrupt or kNotFound: files are damaged, or those of a store that has
  // gone on since. Needs memory for the store's index, not for its pages.
  using UsePage = std::function<base::Status(const PageRecord& record)>;
  static base::Status for_each(env::FileSystem& files, const std::string& dir,
                               std::string_view position, const sat::Scratch& scratch,
                               const UsePage& use);

  // --- Which pages are known.
  enum class Answer : std::uint8_t { kNew, kKnown, kLater };
  struct Decision {
    base::Id id;
    Candidate candidate;
    bool is_known = false;
  };

  // kLater: next_decision() will say. A known page that is due, and not out, will know what it was
  // offered as. One that is not due, and that the candidate says was modified, is brought forward
  // by serve_hints(), with the latest such date.
  base::Result<Answer> ask(const base::Id& id, const Candidate& candidate, base::Instant now);
  // Candidates that have no answer yet.
  std::size_t undecided() const { return asked_.size(); }
  bool has_decisions() const { return !answered_.empty() || store_->known().has_full_batch(); }
  // next_decision() decides all of them, be they few or many.
  void settle() { store_->known().settle(); }
  base::Result<std::optional<Decision>> next_decision(base::Instant now);

  // --- Pages, all of which must not be known before.
  base::Status add(const base::Id& id, const PageRecord& record, base::Instant due);
  base::Status add_out(const base::Id& id, const PageRecord& record);

  // --- Pages that are out.
  std::size_t out() const { return out_.size(); }
  bool is_out(const base::Id& id) const { return out_.contains(id); }
  std::optional<PageRecord> get(const base::Id& id) const;  // nullopt: it is not out
  // Without reading more of it than is asked for.
  std::optional<PageGlance> glance(const base::Id& id) const;

  struct Due {
    base::Id id;
    PageRecord record;
    std::optional<base::Instant> modified;  // as it was told since it was stored
  };
  // The next that is due, with the nearest of the candidates that it was offered as.
  base::Result<std::optional<Due>> next_due(base::Instant now);
  // When something can be due next that is not now.
  base::Instant next_due_at() const;
  base::Status hold(const base::Id& id, const PageRecord& record);
  base::Status reschedule(const base::Id& id, const PageRecord& record, base::Instant due);

  // Lets pages be due now that were said to be modified, those of one bucket with each call, which
  // reads it. False: there are none left.
  base::Result<bool> serve_hints() { return store_->store().serve_pulls(); }

  // --- Any page.
  base::Result<std::optional<PageRecord>> find(const base::Id& id);

  base::Result<std::string> commit(flow::EpochId epoch);
  base::Status on_durable(flow::EpochId epoch);

 private:
  struct Out {
    sat::Record record;  // without its body
    std::string body;
  };
  struct IdHash {
    std::size_t operator()(const base::Id& id) const { return id.low; }
  };

  static base::Result<PageRecord> decode(const base::Id& id, std::string_view body);
  std::string_view encode(const PageRecord& record);
  void begin_asking(const base::Id& id);
  void keep(const PageKey& key, const Candidate& candidate);
  base::Status offer(const base::Id& id, sat::Seq seq, const Candidate& candidate,
                     base::Instant now);

  std::unique_ptr<sat::IdStore> store_;
  std::unordered_map<base::Id, Out, IdHash> out_;
  std::unique_ptr<DurableMap> candidates_;             // that wait for an answer, by page key
  std::unordered_map<std::uint64_t, base::Id> asked_;  // by tag
  std::uint64_t next_tag_ = 0;
  std::vector<sat::IdAnswer> answered_;  // at the start, at once
  std::string encoded_;
};

// The nearer of the two to the seeds; of two at the same place the seed, because the scope follows
// where it redirects to.
bool is_nearer(const Candidate& offered, const PageGlance& known);

}  // namespace meguri::crawl
