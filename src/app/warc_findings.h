// WarcFindings: what `meguri warc check` has found in some files, and how it tells of it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/output.h"
#include "app/warc_walk.h"
#include "archive/labelled_digest.h"
#include "archive/record_references.h"
#include "archive/warc_reader.h"

namespace meguri::app {

// Something is missing or broken. `kind` is a word for programs.
struct WarcTrouble {
  std::string file;
  std::string place;  // empty: the file as a whole
  std::string kind;
  std::string what;
};

// Bad habits, and things worth knowing: all of a kind in one file together.
struct WarcNote {
  std::string file;
  std::string kind;
  std::string what;
  std::string first;  // place
  std::uint64_t count = 0;
};

// Thread-compatible.
class WarcFindings {
 public:
  static constexpr std::size_t kKeptMax = 100'000;  // troubles in the JSON object; all are counted

  void begin_file(const std::string& path);
  void add_record(const WalkedRecord& walked, archive::RecordReferences::Id id);
  void end_file(const WalkEnd& end);
  void add_trouble(std::string_view place, std::string_view kind, std::string_view what);
  void add_note(const std::string& file, std::string_view place, std::string_view kind,
                std::string_view what);

  // Those since the last call, for a reader who watches.
  std::vector<WarcTrouble> take_new() { return std::exchange(new_, {}); }
  std::uint64_t troubles() const { return troubles_; }

  void print_notes(Output& out) const;
  void print_summary(Output& out) const;
  nlohmann::ordered_json to_json() const;

 private:
  void add_faults(archive::WarcFaults faults, std::string_view place, std::uint64_t skipped_bytes);
  void add_digests(const WalkedRecord& walked, std::string_view place);
  void add_missing_fields(const archive::WarcRecord& record, std::string_view place);

  std::string file_;
  bool last_is_cut_ = false;  // the last record, by the end of its file
  std::uint64_t files_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t bytes_ = 0;
  std::array<std::uint64_t, 4> digests_{};  // by verdict
  std::uint64_t troubles_ = 0;
  std::vector<WarcTrouble> new_;
  std::vector<WarcTrouble> kept_;
  std::vector<WarcNote> notes_;
  std::map<std::pair<std::string, std::string>, std::size_t> note_index_;  // file and kind
};

}  // namespace meguri::app
