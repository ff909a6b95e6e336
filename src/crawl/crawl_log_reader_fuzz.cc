// Reads any bytes as a line of the crawl log, and lines with any texts in them.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "crawl/crawl_log_line.h"
#include "crawl/crawl_log_reader.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using meguri::crawl::parse_log_line;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)parse_log_line(bytes);

  meguri::crawl::VisitNote note;
  note.date = meguri::base::Instant::from_ms(1'767'225'600'123);
  note.url = bytes.substr(0, size / 2);
  note.error = bytes.substr(size / 3);
  note.mime = bytes.substr(size / 2);
  note.outcome = meguri::crawl::VisitOutcome::kGone;
  note.status = 404;
  note.bytes = size;
  std::string line;
  append_line(note, &line);
  line.pop_back();
  const auto visit = parse_log_line(line);
  CHECK(visit && visit->time == note.date && visit->status == 404 && visit->bytes == size);
  CHECK(visit->outcome == note.outcome);
  return 0;
}
