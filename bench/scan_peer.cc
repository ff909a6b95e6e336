#include "bench/scan_peer.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/archive_import.h"
#include "bench/process.h"

namespace meguri::bench {
namespace {

constexpr const char* kLoop = R"(
import json
import sys
import time
from importlib.metadata import version
from fastwarc.warc import ArchiveIterator, WarcRecordType

def records_of(path):
    if version("fastwarc").startswith("0."):
        from fastwarc.stream_io import FileStream
        return ArchiveIterator(FileStream(path, "rb"), record_types=WarcRecordType.response,
                               parse_http=True)
    return ArchiveIterator(path, record_types=WarcRecordType.response, parse_http=True,
                           inplace=True, fsspec_args=False)

began = time.process_time()
documents = 0
size = 0
for path in sys.argv[1:]:
    for record in records_of(path):
        documents += 1
        size += len(record.reader.read())
print(json.dumps({"documents": documents, "bytes": size, "cpu": time.process_time() - began}))
)";

}  // namespace

base::Result<std::optional<PeerReading>> measure_fastwarc_reading(
    const std::string& version, const std::vector<std::string>& paths, const std::string& dir) {
  const std::string python = python_with_fastwarc(version);
  if (python.empty()) return std::optional<PeerReading>();
  const std::string loop = dir + "/fastwarc_reading.py";
  {
    std::ofstream file(loop);
    file << kLoop;
  }
  std::vector<std::string> words = {python, loop};
  words.insert(words.end(), paths.begin(), paths.end());
  const ChildEnd end = run_program(words);
  const auto figures = nlohmann::json::parse(end.output, nullptr, false);
  if (!end.is_good || figures.is_discarded()) {
    return base::fail(base::ErrorCode::kFailed, "FastWARC {} failed", version);
  }
  return PeerReading{.documents = figures["documents"].get<double>(),
                     .bytes = figures["bytes"].get<double>(),
                     .cpu_seconds = figures["cpu"].get<double>()};
}

}  // namespace meguri::bench
