// PlainBody: what is read of the body of an answer, without its content coding.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "crawl/visit_records.h"
#include "env/spooled_bytes.h"
#include "web/content_decoder.h"

namespace meguri::crawl {

// Of a coding that breaks it is what came before. A body without coding that is in memory is not
// copied; of any other only what is read is in memory. An error is our disk's.
class PlainBody {
 public:
  // At most `bytes_max`. The limits are for the coding.
  static base::Result<PlainBody> read(const ReadAnswer& answer, std::uint64_t bytes_max,
                                      web::DecodeLimits limits);
  // As much as documents of its format may have: web::kXmlBytesMax of sitemaps and feeds, which may
  // be longer than pages and come as any type, `html_bytes_max` of others. Of what is no document
  // only some of the front, unless it is small.
  static base::Result<PlainBody> read_document(const ReadAnswer& answer,
                                               std::uint64_t html_bytes_max,
                                               web::DecodeLimits limits);

  // Lives as long as this, and is not moved with it.
  std::string_view text() const {
    return (is_decoded_ ? std::string_view(decoded_) : held_.memory()).substr(0, bytes_max_);
  }
  bool is_broken() const {
    return outcome_ != web::DecodeOutcome::kComplete && outcome_ != web::DecodeOutcome::kTooLarge;
  }
  // Why not all of it is here; empty: it is, or the body itself is not whole, which is told anyway.
  std::string fault() const;

 private:
  PlainBody() = default;
  base::Status decode(const env::SpooledBytes& body, const std::string& coding,
                      const web::DecodeLimits& limits);

  env::SpooledBytes held_;  // a body that is as it came
  std::string decoded_;     // or what was made or read of it
  bool is_decoded_ = false;
  std::uint64_t bytes_max_ = 0;
  bool is_cut_ = false;  // at bytes_max_
  web::DecodeOutcome outcome_ = web::DecodeOutcome::kComplete;
};

}  // namespace meguri::crawl
