#include "app/warc_findings.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "app/figures.h"
#include "base/text.h"

namespace meguri::app {

namespace {

using archive::DigestVerdict;
using archive::WarcFault;
using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 3> kRequiredFields = {"WARC-Type", "WARC-Record-ID",
                                                             "WARC-Date"};

}  // namespace

void WarcFindings::begin_file(const std::string& path) {
  file_ = path;
  ++files_;
  last_is_cut_ = false;
}

void WarcFindings::add_trouble(std::string_view place, std::string_view kind,
                               std::string_view what) {
  WarcTrouble trouble{.file = file_,
                      .place = std::string(place),
                      .kind = std::string(kind),
                      .what = std::string(what)};
  ++troubles_;
  if (kept_.size() < kKeptMax) kept_.push_back(trouble);
  new_.push_back(std::move(trouble));
}

void WarcFindings::add_note(const std::string& file, std::string_view place, std::string_view kind,
                            std::string_view what) {
  const auto [at, is_new] = note_index_.try_emplace({file, std::string(kind)}, notes_.size());
  if (is_new) {
    notes_.push_back({.file = file,
                      .kind = std::string(kind),
                      .what = std::string(what),
                      .first = std::string(place)});
  }
  ++notes_[at->second].count;
}

void WarcFindings::add_faults(archive::WarcFaults faults, std::string_view place,
                              std::uint64_t skipped_bytes) {
  for (std::size_t i = 0; i < archive::kWarcFaultCount; ++i) {
    const auto fault = static_cast<WarcFault>(i);
    if (!faults.has(fault)) continue;
    archive::WarcFaults alone;
    alone.add(fault);
    if (alone.is_whole()) {
      add_note(file_, place, name_of(fault), sentence_of(fault));
    } else if (fault == WarcFault::kSkipped) {
      add_trouble(
          place, name_of(fault),
          fmt::format("{} before it were passed over", counted(skipped_bytes, "byte", "bytes")));
    } else {
      add_trouble(place, name_of(fault), sentence_of(fault));
    }
  }
}

void WarcFindings::add_digests(const WalkedRecord& walked, std::string_view place) {
  const archive::WarcRecord& record = walked.record;
  const auto judge = [&](const archive::DigestFinding& found, std::string_view field,
                         std::string_view kind) {
    // What is not whole has another digest; that was told.
    if (!record.faults.without(WarcFault::kSkipped).is_whole()) return;
    ++digests_.at(static_cast<std::size_t>(found.verdict));
    const std::string said = base::quoted(record.get(field));
    if (found.verdict == DigestVerdict::kUnknown) {
      add_note(file_, place, fmt::format("{}_unknown", kind),
               fmt::format("{} {} was not checked: its algorithm is not known", field, said));
    } else if (found.verdict == DigestVerdict::kWrong && record.fields.has("WARC-Truncated")) {
      add_note(file_, place, fmt::format("{}_of_whole", kind),
               fmt::format("{} is not that of what was kept of it", field));
    } else if (found.verdict == DigestVerdict::kWrong) {
      add_trouble(place, kind,
                  fmt::format("{} is {}, but the bytes have {}", field, said, found.computed));
    }
  };
  judge(walked.found.block, "WARC-Block-Digest", "block_digest");
  judge(walked.found.payload, "WARC-Payload-Digest", "payload_digest");
}

void WarcFindings::add_missing_fields(const archive::WarcRecord& record, std::string_view place) {
  for (const std::string_view field : kRequiredFields) {
    if (record.get(field).empty()) {
      add_trouble(place, "no_field", fmt::format("it has no {}", field));
    }
  }
}

void WarcFindings::add_record(const WalkedRecord& walked, archive::RecordReferences::Id id) {
  ++records_;
  const std::string place = walked.place.to_string();
  const archive::WarcRecord& record = walked.record;
  last_is_cut_ = record.faults.has(WarcFault::kTruncated);
  add_faults(record.faults, place, record.skipped_bytes);
  add_missing_fields(record, place);
  add_digests(walked, place);
  if (id == archive::RecordReferences::Id::kOfThisFile) {
    add_trouble(place, "same_id",
                fmt::format("the id {} belongs to an earlier record too",
                            base::quoted(record.get("WARC-Record-ID"))));
  } else if (id == archive::RecordReferences::Id::kOfAnotherFile) {
    add_note(file_, place, "copy", "another of these files has a record of the same id");
  }
  if (record.fields.has("WARC-Truncated")) {
    add_note(file_, place, "cut",
             fmt::format("it was cut when it was written (WARC-Truncated: {})",
                         record.get("WARC-Truncated")));
  }
}

void WarcFindings::end_file(const WalkEnd& end) {
  bytes_ += end.bytes;
  if (end.bytes == 0) add_trouble("", "empty", "the file is empty");
  // What lies behind a record in which the file ends is that record.
  if (end.faults.is_whole() || last_is_cut_) return;
  std::string what = "behind the last record: " + end.faults.to_string();
  if (end.skipped_bytes > 0) {
    what += fmt::format("; {} were passed over", counted(end.skipped_bytes, "byte", "bytes"));
  }
  add_trouble("", end.faults.has(WarcFault::kTruncated) ? "truncated" : "skipped", what);
}

void WarcFindings::print_notes(Output& out) const {
  for (const WarcNote& note : notes_) {
    const std::string more =
        note.count == 1 ? "" : fmt::format(" (and so are {} more)", grouped(note.count - 1));
    out.print("note: {} at {}: {}{}\n", printable(note.file), note.first, printable(note.what),
              more);
  }
}

void WarcFindings::print_summary(Output& out) const {
  const auto digests = [this](DigestVerdict verdict) {
    return digests_.at(static_cast<std::size_t>(verdict));
  };
  std::string text = fmt::format(
      "{} in {}, {}: {}", counted(records_, "record", "records"), counted(files_, "file", "files"),
      bytes_text(bytes_), counted(digests(DigestVerdict::kRight), "digest right", "digests right"));
  if (digests(DigestVerdict::kUnknown) > 0) {
    text += fmt::format(", {} not checked", grouped(digests(DigestVerdict::kUnknown)));
  }
  text += "; " +
          (troubles_ == 0 ? "nothing is missing or broken" : counted(troubles_, "fault", "faults"));
  if (!notes_.empty()) text += ", " + counted(notes_.size(), "note", "notes");
  out.print("{}\n", text);
}

Json WarcFindings::to_json() const {
  Json troubles = Json::array();
  for (const WarcTrouble& trouble : kept_) {
    troubles.push_back({{"file", trouble.file},
                        {"at", trouble.place},
                        {"kind", trouble.kind},
                        {"what", trouble.what}});
  }
  Json notes = Json::array();
  for (const WarcNote& note : notes_) {
    notes.push_back({{"file", note.file},
                     {"first_at", note.first},
                     {"kind", note.kind},
                     {"count", note.count},
                     {"what", note.what}});
  }
  Json digests;
  for (std::size_t i = 0; i < digests_.size(); ++i) {
    digests[std::string(name_of(static_cast<DigestVerdict>(i)))] = digests_.at(i);
  }
  return {{"files", files_},          {"records", records_},
          {"bytes", bytes_},          {"digests", std::move(digests)},
          {"fault_count", troubles_}, {"faults", std::move(troubles)},
          {"notes", std::move(notes)}};
}

}  // namespace meguri::app
