// RecordRenewal: records that stand otherwise in their files, as WARC/1.1 in gzip members of their
// own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/gzip_writer.h"
#include "archive/sha1.h"
#include "archive/warc_reader.h"
#include "base/result.h"
#include "env/spool.h"
#include "env/spooled_bytes.h"
#include "web/http_head.h"

namespace meguri::archive {

// What a revisit tells of its own visit, for the response that is made of it.
struct RevisitFront {
  std::vector<std::pair<std::string, std::string>> fields;  // of the record
  std::string http_head;  // as stored; empty: none, or one that is no head of content

  std::string encode() const;
  static std::optional<RevisitFront> decode(std::string_view bytes);
};

// The reader stands at the revisit, of which nothing was read yet.
base::Result<RevisitFront> read_revisit_front(WarcReader& reader);

// In little memory, whatever the records' size: what is large goes to the spool, which is borrowed.
// kCorrupt: the record that is read has not all of its bytes; other errors are the spool's.
// Pure but for that. Thread-compatible.
class RecordRenewal {
 public:
  explicit RecordRenewal(env::Spool& spool) : block_(&spool), member_(&spool) {}

  // The record that the reader stands at, of which nothing was read yet: with the fields it has.
  base::Result<env::SpooledBytes> renew(WarcReader& reader);

  // The record likewise, as what the visit of the revisit got: its URL, date and HTTP head, and
  // this body, without chunks; the digests are new. Its id is made of that of the revisit.
  base::Result<env::SpooledBytes> resolve(const RevisitFront& revisit, WarcReader& reader);

 private:
  base::Result<env::SpooledBytes> spool_block(WarcReader& reader);
  struct Payload {
    web::HttpHead head;  // without a status: the block has none
    bool is_http = false;
    env::SpooledBytes body;
    Digest digest;
  };
  base::Result<Payload> read_payload(WarcReader& reader);
  base::Result<Digest> block_digest(std::string_view head, const env::SpooledBytes& body);
  base::Result<env::SpooledBytes> pack(std::string_view front, const env::SpooledBytes& body);

  env::SpoolWriter block_;
  env::SpoolWriter member_;
  GzipWriter gzip_;
  Sha1 sha1_;
};

}  // namespace meguri::archive
