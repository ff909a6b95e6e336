#include "bench/archive_import.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "app/archive_index.h"
#include "archive/importer.h"
#include "base/check.h"
#include "base/mutex.h"
#include "bench/process.h"
#include "bench/timing.h"
#include "env/posix_file_system.h"
#include "env/process_usage.h"

namespace meguri::bench {
namespace {

// The fastest way through the files that each version has.
constexpr const char* kLoop = R"(
import json
import multiprocessing
import sys
import time
from importlib.metadata import version
from fastwarc.warc import ArchiveIterator, WarcRecordType

TYPES = (WarcRecordType.response | WarcRecordType.revisit | WarcRecordType.resource
         | WarcRecordType.metadata)

def records_of(path):
    if version("fastwarc").startswith("0."):
        from fastwarc.stream_io import FileStream
        return ArchiveIterator(FileStream(path, "rb"), record_types=TYPES, parse_http=True)
    return ArchiveIterator(path, record_types=TYPES, parse_http=True, inplace=True,
                           fsspec_args=False)

def read(path):
    began = time.process_time()
    count = 0
    for record in records_of(path):
        count += 1
    return count, time.process_time() - began

if __name__ == "__main__":
    with multiprocessing.Pool(int(sys.argv[1])) as pool:
        pool.map(len, [""] * 64, chunksize=1)
        began = time.perf_counter()
        ends = list(pool.imap_unordered(read, sys.argv[2:], chunksize=1))
        real = time.perf_counter() - began
    print(json.dumps({"visits": sum(end[0] for end in ends), "cpu": sum(end[1] for end in ends),
                      "real": real}))
)";

std::size_t cores() { return std::max(1U, std::thread::hardware_concurrency()); }

// The entries that were made.
base::Result<std::uint64_t> import_all(const std::vector<std::string>& paths,
                                       archive::Importer& importer) {
  std::atomic<std::size_t> next = 0;
  std::atomic<std::uint64_t> entries = 0;
  base::Mutex mutex;
  base::Status status;
  const auto work = [&] {
    for (std::size_t i = next++; i < paths.size(); i = next++) {
      const auto imported = importer.import(
          paths[i], false, [](std::uint64_t, std::uint64_t) { return base::Status(); });
      const base::MutexLock lock(mutex);
      if (imported) {
        entries += imported->file.entries;
      } else {
        status = std::unexpected(imported.error());
      }
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < cores(); ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  RETURN_IF_ERROR(status);
  return entries.load();
}

base::Status import_in_child(const std::vector<std::string>& paths, const std::string& archive) {
  env::PosixFileSystem files;
  RETURN_IF_ERROR(files.make_dirs(archive));
  ASSIGN_OR_RETURN(const auto index, app::open_index_for_writing(archive));
  archive::Importer importer(*index, files, archive);
  base::Result<std::uint64_t> entries = 0;
  base::Status flushed;
  const double before = env::process_usage().cpu_seconds;
  const double real = seconds_of([&] {
    entries = import_all(paths, importer);
    flushed = index->flush();
  });
  const double cpu = env::process_usage().cpu_seconds - before;
  RETURN_IF_ERROR(entries);
  RETURN_IF_ERROR(flushed);
  const std::string text =
      nlohmann::json{{"visits", *entries}, {"cpu", cpu}, {"real", real}}.dump();
  CHECK(::write(STDOUT_FILENO, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  return {};
}

base::Result<ImportCost> cost_of(const ChildEnd& end, std::string_view who) {
  const auto figures = nlohmann::json::parse(end.output, nullptr, false);
  if (!end.is_good || figures.is_discarded()) {
    return base::fail(base::ErrorCode::kFailed, "{} failed", who);
  }
  return ImportCost{.visits = figures["visits"].get<double>(),
                    .cpu_seconds = figures["cpu"].get<double>(),
                    .real_seconds = figures["real"].get<double>(),
                    .peak_mb = end.peak_mb};
}

}  // namespace

std::string python_with_fastwarc(const std::string& version) {
  const std::string folder = program_folder() + "/peers/fastwarc-" + version;
  const std::string python = folder + "/bin/python";
  const auto is_there = [&] { return run_program({python, "-c", "import fastwarc.warc"}).is_good; };
  if (is_there()) return python;
  const bool is_installed =
      run_program({"python3", "-m", "venv", folder}).is_good &&
      run_program({python, "-m", "pip", "install", "-q", "fastwarc==" + version}).is_good;
  return is_installed && is_there() ? python : "";
}

base::Result<ImportCost> measure_import(const std::vector<std::string>& paths,
                                        const std::string& archive) {
  const ChildEnd end = run_child([&] {
    const base::Status status = import_in_child(paths, archive);
    if (!status) fmt::print(stderr, "{}\n", status.error().message());
    return status ? 0 : 1;
  });
  return cost_of(end, "the import");
}

base::Result<std::optional<ImportCost>> measure_fastwarc(const std::string& version,
                                                         const std::vector<std::string>& paths,
                                                         const std::string& dir) {
  const std::string python = python_with_fastwarc(version);
  if (python.empty()) return std::optional<ImportCost>();
  const std::string loop = dir + "/fastwarc_loop.py";
  {
    std::ofstream file(loop);
    file << kLoop;
  }
  std::vector<std::string> words = {python, loop, fmt::format("{}", cores())};
  words.insert(words.end(), paths.begin(), paths.end());
  ASSIGN_OR_RETURN(const ImportCost cost, cost_of(run_program(words), "FastWARC"));
  return std::optional(cost);
}

}  // namespace meguri::bench
