// Store: the state of every page, ordered by the time of its next visit.
//
// Records due in one slice of time lie together, in the order they came; what comes due is read
// front to back, and what is scheduled anew is appended elsewhere. docs/formats/sat.md describes
// the files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "env/file_system.h"
#include "sat/bucket_buffers.h"
#include "sat/bucket_index.h"
#include "sat/bucket_reader.h"
#include "sat/operation_log.h"
#include "sat/record.h"
#include "sat/segments.h"
#include "sat/sorted_bucket.h"
#include "sat/time_layout.h"

namespace meguri::sat {

struct StoreOptions {
  TimeLayout layout = TimeLayout::mixed();  // of a store that exists, its own is taken
  // What buffers grow by. Smaller ones leave less of the pool unused when there are many buckets;
  // how much is written at once does not depend on it, but with writes_single_pages.
  std::size_t page_bytes = 512;
  std::size_t pool_bytes = std::size_t{32} << 20U;
  // Larger ones are refused. The pool has room for one at least, so a small pool needs a small
  // limit. Requires kBodyBytesMax at most, and nothing larger in a store that exists.
  std::size_t body_bytes_max = kBodyBytesMax;
  // The paper's SAT/Naive: a buffer is one page. The paper had a file for each bucket, too.
  bool writes_single_pages = false;
  // The paper's: what is due is sorted with its messages. Otherwise these are looked up by hash,
  // and records are handed out in the order in which they came.
  bool sorts_buckets = false;
  // False: the paper's SAT/Basic, where nobody knows which bucket a record is in. It is rescheduled
  // before the next one is asked for, and nothing else is done to it: add_out(), hold(), remove(),
  // send(), pull() and find() are kInvalid. A store stays as it was made.
  bool has_index = true;
  SegmentOptions segments = {};
  // A checkpoint is made when the log is longer than this and than the bucket index, which is most
  // of what it writes: so opening does no more again than what wrote a few hundred bytes a record.
  // Also when what the next one frees is a fifth of what is in use.
  std::uint64_t log_bytes_max = std::uint64_t{256} << 20U;
  // What is out for longer gets a place of its own, so that its bucket can be freed.
  base::Duration out_max = base::Duration::minutes(10);
};

// A record whose time has come. Views die with the next call of the store.
struct DueRecord {
  Record record;
  std::span<const std::string> messages;  // that were sent to it, in their order
};

struct StoreCounts {
  std::uint64_t records = 0;
  std::uint64_t out = 0;      // handed out, or about to be
  std::uint64_t flushes = 0;  // of buffers to segments
  std::uint64_t flushed_bytes = 0;
  std::uint64_t moved = 0;  // records, from coarse buckets to finer ones
  std::uint64_t checkpoints = 0;
};

// A record is added once, and from then on either waits in a bucket or is out: handed out by
// next_due() and not yet rescheduled or removed. What commit() acknowledged is there after any
// crash, and what was out then is handed out again. After a failed read or write nothing more can
// be done to the store until it is opened again.
//
// Time is what the calls bring. It never goes back: an earlier one counts as the last.
// Thread-compatible; one writer.
class Store {
 public:
  // `position` is what a commit() returned; empty: there is nothing yet, and time begins at `now`.
  static base::Result<std::unique_ptr<Store>> open(env::FileSystem& files, std::string dir,
                                                   const StoreOptions& options,
                                                   std::string_view position, base::Instant now);
  ~Store();

  base::Result<Seq> add(const base::Id& id, std::uint8_t schema, std::string_view body,
                        base::Instant due);

  // The same, and the record is out at once, as if it had been handed out.
  base::Result<Record> add_out(const base::Id& id, std::uint8_t schema, std::string_view body);

  // The next record due at `now`; nullopt: none is.
  base::Result<std::optional<DueRecord>> next_due(base::Instant now);

  // `before` is the record as it was handed out. kInvalid: it is not out.
  base::Status reschedule(const Record& before, std::uint8_t schema, std::string_view body,
                          base::Instant due);
  // Stores another body, for which the messages were heeded that came with the record. It stays
  // out, and is handed out with this body after a crash.
  base::Result<Record> hold(const Record& before, std::uint8_t schema, std::string_view body);
  base::Status remove(Seq seq);  // waiting or out; kNotFound if there is no such record

  // Handed out with the record when it is due next. kNotFound: there is no such record.
  base::Status send(Seq seq, std::string_view message);
  // Brings a waiting record forward, if `due` is before its time: at the next serve_pulls().
  base::Status pull(Seq seq, base::Instant due);
  // Reads the buckets with pulled records, one with each call. False: there are none.
  base::Result<bool> serve_pulls();

  // Moves up to so many records from coarse buckets to finer ones ahead of time. False: none is
  // left to move.
  base::Result<bool> move_some(std::uint32_t records);

  // Whether a record is out, or next_due() would hand it out about now. Requires that it exists.
  bool is_due(Seq seq, base::Instant now) const;
  // A record as it is, wherever it is: reads its bucket. For people.
  base::Result<std::optional<std::string>> find(Seq seq, Record& record);

  // Everything done so far is durable when it returns the position to go on from. A position is
  // good until on_durable() was called after a later commit().
  base::Result<std::string> commit();
  // The last position is known to be safe elsewhere: what only earlier ones needed goes.
  base::Status on_durable();
  // Makes the next commit() a checkpoint, after which opening needs no log.
  void request_checkpoint() { wants_checkpoint_ = true; }

  const TimeLayout& layout() const { return layout_; }
  const TimeFront& front() const { return front_; }
  const BucketIndex& index() const { return index_; }
  const Segments& segments() const { return *segments_; }
  StoreCounts counts() const;
  std::size_t memory_bytes() const;

 private:
  friend class StoreInspector;

  using Messages = std::unordered_map<Seq, std::vector<std::string>>;

  // A bucket that was opened, until none of its records is out.
  struct OpenBucket {
    TakenBucket records;
    TakenBucket messages;
    bool is_read = false;
    std::uint64_t gone = 0;  // without an index: so many of its records are elsewhere, the first
  };
  // A coarse bucket on its way to finer ones.
  struct SealedBucket {
    Bucket bucket;
    OpenBucket taken;
  };
  // How far the bucket that is handed out has been read.
  struct Reading {
    OpenBucket* bucket = nullptr;
    std::optional<BucketReader> reader;
    std::optional<SortedBucket> sorted;  // instead of the reader and its messages
    LiveCopies live;
    Messages messages;
    std::vector<std::string> handed;  // messages of the record handed out last
  };
  struct Replay;

  Store(env::FileSystem& files, std::string dir, const StoreOptions& options, TimeLayout layout,
        base::Instant start);

  Slot out_slot() const { return layout_.slots(); }
  Slot message_slot(Slot slot) const { return slot + layout_.slots() + 1; }
  bool is_out(Seq seq) const;
  base::Status check_size(std::string_view body) const;
  OpenBucket* open_bucket_of(Slot slot);

  // --- Placing and writing: store_write.cc.
  base::Status put(Record record);
  base::Status append(Slot slot, const Record& record);
  base::Status make_room(Slot slot, std::size_t bytes);
  base::Status flush(Slot slot);
  base::Status do_flush(Slot slot);
  base::Result<bool> flush_by_rule();
  std::uint64_t order_in_time(Slot slot) const;
  OpenBucket take_slot(Slot slot);
  TakenBucket peek_slot(Slot slot) const;
  void release(const TakenBucket& bucket);
  base::Status send_to(Slot slot, Seq seq, std::string_view message);
  Record message_record(Seq seq, std::string_view message) const;
  base::Result<Messages> read_messages(Slot slot, const TakenBucket& bucket);

  std::unexpected<base::Error> unusable() const;  // why, once status_ is bad
  base::Status note(base::Status status);         // that it failed, if it did

  // --- Deeds, live and replayed.
  base::Result<std::optional<DueRecord>> find_due(base::Instant now);
  base::Status prepare_open();
  base::Status open_next();
  base::Status move_sealed(std::uint32_t records_max);
  base::Status set_aside_oldest();
  base::Status set_aside(const OpenBucket& source);
  base::Status compact_out();
  base::Status append_out(const Record& record);
  base::Status serve_pulls_of(Slot slot);
  base::Status check_out(const Record& before, std::string_view body) const;
  std::uint32_t late_messages_of(Seq seq) const;
  base::Status do_reschedule(Record record, std::string_view body, DueTime due, std::uint32_t late);
  base::Status do_hold(Record& record, std::string_view body, std::uint32_t late);
  void do_remove(Seq seq);
  base::Status do_send(Seq seq, std::string_view message);
  void do_pull(Seq seq, DueTime due);
  const DueTime* pull_of(Slot slot, Seq seq) const;
  void free_empty_buckets();

  base::Status begin_reading(OpenBucket& bucket);
  base::Result<bool> read_one(DueRecord& due);
  base::Result<bool> next_copy(Record& record);
  void take_messages(Seq seq);  // of the record that is handed out

  base::Result<std::optional<std::string>> find_in(const TakenBucket& bucket, Seq seq,
                                                   Record& record);

  // --- Without an index: store_basic.cc.
  base::Status require_index(std::string_view deed) const;
  base::Status skip_gone(BucketReader& reader, const OpenBucket& bucket) const;
  base::Status redo_basic(const Operation& operation);

  // --- Checkpoints: store_checkpoint.cc.
  std::string path_of(std::string_view what, std::uint64_t number) const;
  bool needs_checkpoint() const;
  base::Result<std::string> do_commit();
  base::Status do_on_durable();
  base::Status write_checkpoint();
  std::string encode_state(std::string_view segments_state) const;
  base::Result<std::string> decode_state(std::string_view bytes);
  static base::Result<TimeLayout> layout_in(std::string_view state);
  base::Status read_checkpoint();
  base::Status load_page(std::string_view bytes);
  std::vector<Extent> live_extents() const;
  base::Status replay_log(std::uint64_t size);
  base::Status redo(const Operation& operation, Replay& replay);
  base::Status load_out(const OpenBucket& bucket, Replay& replay);
  base::Status remove_files_except(std::uint64_t number);

  env::FileSystem& files_;
  const std::string dir_;
  const StoreOptions options_;
  TimeLayout layout_;
  TimeFront front_;
  BucketIndex index_;
  BucketBuffers buffers_;
  std::unique_ptr<Segments> segments_;
  std::vector<std::vector<Extent>> extents_;  // by slot, those of messages too
  std::vector<std::uint32_t> stale_;          // by slot: copies that no longer count

  std::deque<std::unique_ptr<OpenBucket>> open_;  // in the order in which they were opened
  std::deque<SealedBucket> sealed_;
  std::optional<BucketReader> moving_;  // the first of them
  LiveCopies moving_live_;
  Messages moving_messages_;
  Messages late_messages_;  // to records that are out
  Reading reading_;
  std::map<Slot, std::unordered_map<Seq, DueTime>> pulls_;
  std::unordered_map<Seq, std::uint32_t> set_aside_;  // generations of records in the out slot
  std::uint64_t out_copies_ = 0;                      // in the out slot, since it was last taken

  std::unique_ptr<OperationLog> log_;
  std::uint64_t number_ = 0;  // of the last checkpoint
  bool wants_checkpoint_ = false;
  bool has_old_files_ = false;
  std::string scratch_;
  std::vector<Slot> slots_to_flush_;  // only within flush_by_rule()
  std::size_t next_single_ = 0;       // which buffer of one page is next
  // Without an index: how many records were added, and the one that is out.
  Seq added_ = 0;
  std::optional<Seq> out_;
  StoreCounts counts_;
  base::Status status_;  // of the first read or write that failed
};

}  // namespace meguri::sat
