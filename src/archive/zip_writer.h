// ZipWriter: a zip file of any size, written from its front to its end. libarchive does it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "archive/byte_sink.h"
#include "base/result.h"
#include "base/time.h"

namespace meguri::archive {

enum class ZipMethod : std::uint8_t {
  kStored,    // as they are: readers can read any range of the entry
  kDeflated,  // zlib, as readers of all kinds know it
};

// Sizes need not be known before: they stand behind each entry and in the directory at the end.
// Entries and files beyond 4 GiB are zip64. Memory does not grow with what is written, but for a
// few bytes of each entry. Thread-compatible. After an error nothing is of use any more.
class ZipWriter {
 public:
  // `date` is that of all entries.
  ZipWriter(ByteSink out, base::Instant date);
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;
  ~ZipWriter();

  // What is appended from now on belongs to this entry. The name is ASCII, its parts apart by '/'.
  base::Status begin_entry(const std::string& name, ZipMethod method);
  base::Status append(std::string_view bytes);

  // Ends the last entry and writes the directory. To be called once.
  base::Status finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meguri::archive
