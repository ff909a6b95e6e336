// DocumentPointer: where a document's content is, and how that is written in the list of a run.
// docs/formats/scan-run.md describes the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "archive/index_entry.h"
#include "scan/document.h"

namespace meguri::scan {

// Where a document's content is, and what is known of the document.
struct DocumentPointer {
  archive::RecordPlace place;  // of the content
  std::int64_t record_ms = 0;  // the date of that record, so that another one is not taken for it
  DocumentFacts facts;         // its URL is empty where it is the record's own
  // The archive does not have the content; `place` is that of the visit, and the URL is known.
  bool is_missing = false;

  friend bool operator==(const DocumentPointer&, const DocumentPointer&) = default;
};

// Appends what of `pointer` differs from `last`, the one before it, which may be a new one. Its
// number is not written. Requires that its place is not before that of `last`.
void put_pointer(std::string& out, const DocumentPointer& pointer, const DocumentPointer& last);

// Takes one off the front of `bytes`. `pointer` is the one before it, and becomes the one taken,
// with its number as it was. False: these are no such bytes, and `pointer` is of no use any more.
bool take_pointer(std::string_view& bytes, DocumentPointer& pointer);

}  // namespace meguri::scan
