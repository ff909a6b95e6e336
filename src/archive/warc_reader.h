// WarcReader: the records of a WARC or ARC file, ours or anybody's, whole or damaged, one after the
// other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "archive/member_stream.h"
#include "archive/warc_fault.h"
#include "base/result.h"
#include "env/file_system.h"
#include "web/field_list.h"
#include "web/http_head.h"

namespace meguri::archive {

inline constexpr std::size_t kWarcHeadBytesMax = MemberStream::kHeldBytesMax;
inline constexpr std::size_t kWarcFieldsMax = 1000;     // of one record; further ones are dropped
inline constexpr std::uint64_t kWarcSkipsMax = 10'000;  // damaged places of one file

struct WarcRecord {
  std::uint64_t offset = 0;  // in the file, of the member that holds its first byte
  std::uint64_t length = 0;  // in the file; 0: not known, or not its own. After finish()
  std::string version;       // "1.1"
  bool is_arc = false;       // of an ARC file: the fields are what its line means, as WARC says it
  web::FieldList fields;
  std::uint64_t content_length = 0;
  std::uint64_t skipped_bytes = 0;  // before it; decoded ones where they could be decoded
  WarcFaults faults;                // all of them after finish()

  std::string_view get(std::string_view name) const;  // empty if there is none
  std::string_view type() const { return get("WARC-Type"); }
  std::string_view target_uri() const;  // without the angle brackets some put round it
};

struct WarcReaderOptions {
  // Whether to look for the next record behind damage. Without, reading ends there: what follows
  // may be the inside of a broken record, and look like records.
  bool skips_damage = true;
  // Whether to go by what gzip members tell of themselves, where it fits what stands round them:
  // what nobody reads of a record is passed over by their lengths, and faults in there go unseen;
  // requests are not seen at all.
  bool goes_by_heads = false;
  // Borrowed, for readers that are made one after the other; none: the reader makes its own.
  MemberMemory* memory = nullptr;
};

// Reads WARC 0.17 to 1.1 and ARC 1 and 2, plain, gzip or zstd (whose frames are called members
// here), with one member for a record or otherwise, from a place where a record begins. Holds
// constant memory, whatever the records' size. An Error comes only
// from the file; after one, reading is over.
// Thread-compatible. Views die at the next call that is not const.
//
//   WarcReader reader(file);
//   for (;;) {
//     ASSIGN_OR_RETURN(const bool has_record, reader.next());
//     if (!has_record) break;
//     ... reader.record() ... reader.read_block() until it is empty ...
//   }
class WarcReader {
 public:
  explicit WarcReader(const env::ReadableFile& file, std::uint64_t offset = 0,
                      WarcReaderOptions options = {});

  // Goes to the next record, whatever was read of the last one. False: there is none, and the
  // faults and the offset of record() tell of what lies behind the last one.
  base::Result<bool> next();
  const WarcRecord& record() const { return record_; }

  // The next piece of the block; empty: its end, or the end of what there is of it.
  base::Result<std::string_view> read_block();
  // Gives back the last `size` bytes of the last piece. Once for a piece.
  void unread(std::size_t size);
  // Passes over the rest of the record; its length and all its faults are then known.
  base::Status finish();

  // Behind the last record before which, it included, all are whole and end where a record should:
  // where a file that broke off may be cut. The start, if there is none.
  std::uint64_t sound_end() const { return sound_end_; }
  // Whether there were requests, which were passed over.
  bool has_passed_requests() const { return stream_.has_passed_requests(); }

 private:
  // What came when more of a record was wanted.
  enum class Step : std::uint8_t { kMore, kNewRecord, kEnd };
  enum class Start : std::uint8_t { kNone, kMore, kRecord };  // kMore: it may become one
  enum class Format : std::uint8_t { kUnknown, kWarc, kArc };

  base::Result<Step> read_more();
  Start start_at(std::string_view bytes) const;
  base::Result<bool> find_record();
  base::Result<bool> skip_broken();
  void skip_garbage();
  void drop_rest();
  base::Result<bool> read_head();
  void read_arc_line();
  base::Result<std::size_t> find_head_end();
  void parse_head(std::string_view head);
  void parse_length();
  base::Result<bool> pass_by_length();
  base::Status end_record();
  base::Result<bool> read_blank_lines();
  base::Result<bool> read_arc_end();
  base::Status settle_member();
  void note_end(std::uint64_t end);
  void note_damage(MemberStream::Event event);

  MemberStream stream_;
  const WarcReaderOptions options_;
  Format format_ = Format::kUnknown;  // of the last record
  WarcRecord record_;
  std::uint64_t left_ = 0;    // of the block
  std::size_t pending_ = 0;   // bytes of the last piece, not consumed yet
  std::size_t boundary_ = 0;  // held bytes before the record that kNewRecord found
  std::uint64_t skips_ = 0;   // damaged places
  std::uint64_t sound_end_;
  std::optional<std::uint64_t> end_;  // of the record, where its member ends too
  bool is_open_ = false;              // there is a record whose end was not reached
  bool block_is_over_ = false;        // early
  bool is_broken_ = false;            // the stream stands at damage
  bool is_sound_ = true;
};

// Reads the HTTP head at the front of the block; read_block() goes on with the body.
base::Result<web::ParsedHead> read_http_head(WarcReader& reader, web::HeadKind kind);

// The rest of the block, up to `bytes_max` of it.
base::Result<std::string> read_rest(WarcReader& reader, std::size_t bytes_max);

}  // namespace meguri::archive
