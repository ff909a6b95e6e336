// Document: one page of a snapshot, or one version of it, as an analyser sees it.
#pragma once

#include <cstdint>
#include <string>

#include "archive/time_span.h"
#include "base/time.h"
#include "env/spooled_bytes.h"
#include "web/field_list.h"

namespace meguri::scan {

// What the dispatcher knows of a document before anybody reads it; it travels before the bytes.
struct DocumentFacts {
  std::uint64_t number = 0;  // in the run: its place in the list, from 0
  std::string url;           // exact; empty: that of the record
  base::Instant time;        // of the visit
  archive::TimeSpan valid;   // for how long the page was so
  std::string language;      // "ja"; empty: not known

  friend bool operator==(const DocumentFacts&, const DocumentFacts&) = default;
};

struct Document {
  DocumentFacts facts;       // with the URL
  std::uint16_t status = 0;  // of the answer that brought the content; 0: none is known
  std::string mime;          // lower-case, without parameters; empty: not known
  std::string charset;       // that the server named, lower-case; empty: none
  std::string digest;        // of the stored payload, "sha1:…"; empty: the record has none
  web::FieldList fields;     // of the answer
  // Without chunks and content codings; with them where nothing of a coding can be undone, which
  // `cut` says then. What is large lies on disk.
  env::SpooledBytes content;
  bool is_coded = false;  // `content` has its codings still
  // Why `content` is not all there was: "the coding of the content is broken". Empty: it is all.
  std::string cut;
};

}  // namespace meguri::scan
