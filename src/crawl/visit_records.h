// What the archive keeps of a visit: its outcome, its records, and the version they make.
#pragma once

#include <optional>
#include <string_view>

#include "archive/warc_record.h"
#include "base/result.h"
#include "crawl/messages.h"
#include "crawl/stored_payloads.h"
#include "env/random.h"
#include "env/spool.h"
#include "env/spooled_bytes.h"
#include "web/http_head.h"

namespace meguri::crawl {

// Longer validators are not kept: servers may send any, and every page has room for them.
inline constexpr std::size_t kValidatorBytesMax = 1024;

// An answer with its head read.
struct ReadAnswer {
  const Answer& answer;
  const web::HttpHead& head;       // has a status
  archive::Digest digest;          // of the body
  std::string_view language = {};  // of what it says, where that was found out
  bool counts = true;              // of a change: for the schedule

  const std::optional<PriorVersion>& prior() const { return answer.visit.page.prior; }
};

VisitOutcome outcome_of(const ReadAnswer& read);

// The version that is stored or confirmed; nullopt where the outcome makes none. Of a body that was
// cut there are no validators: a server that says 304 to them would keep it cut for ever.
// `record` is the response record that holds its body.
std::optional<PriorVersion> version_of(const ReadAnswer& read, VisitOutcome outcome,
                                       const StoredPayload& record);

// Thread-compatible: one for each module instance, as RecordMaker. What it makes is to be appended
// in order to one series of files: then what a record refers to is always before it, and is never
// cut off without it.
class VisitRecords {
 public:
  // The spool keeps records of large bodies, and is borrowed; null: everything is in memory.
  explicit VisitRecords(archive::RecordOptions options, env::Spool* spool = nullptr)
      : maker_(options, spool) {}

  // This and of_answer() fail only where a body is on disk.
  base::Result<archive::Digest> digest_of(const env::SpooledBytes& body) {
    return maker_.digest_of(body);
  }

  // A revisit record where the outcome is kUnchanged and it may refer to the prior version; else a
  // response record. Of a page that changed, or of which no version is in this archive yet, a
  // revisit record too where another page of this run has brought the same body: `original` is then
  // the record that has it.
  struct Kept {
    archive::MadeRecords records;
    std::optional<StoredPayload> original;
  };
  base::Result<Kept> of_answer(const ReadAnswer& read, VisitOutcome outcome, env::Random& random);
  // A metadata record for a visit of which nothing else is kept. `reason` is a word.
  archive::MadeRecords of_failure(const Answer& answer, std::string_view reason,
                                  std::string_view detail, env::Random& random);

 private:
  base::Result<Kept> of_response(const archive::Exchange& exchange, const archive::VisitIds& ids);
  base::Result<Kept> of_changed(const archive::Exchange& exchange, const archive::VisitIds& ids);
  std::optional<StoredPayload> same_body(const archive::Exchange& exchange);

  archive::RecordMaker maker_;
  StoredPayloads payloads_;
};

}  // namespace meguri::crawl
