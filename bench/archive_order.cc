#include "bench/archive_order.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "app/archive_index.h"
#include "archive/external_sort.h"
#include "archive/index_entry.h"
#include "archive/key_range.h"
#include "archive/pointer_queue.h"
#include "archive/record_source.h"
#include "archive/temporal_index.h"
#include "base/check.h"
#include "bench/timing.h"
#include "env/posix_file_system.h"

namespace meguri::bench {
namespace {

using archive::RecordPlace;

constexpr std::size_t kToldAhead = 64;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;

base::Result<std::vector<RecordPlace>> places_of(const archive::TemporalIndex& index) {
  std::vector<RecordPlace> places;
  const archive::KeyRange range = archive::range_of_entries();
  const auto cursor = index.cursor();
  for (cursor->seek(range.begin); cursor->valid() && cursor->key() < range.end; cursor->next()) {
    const auto entry = archive::EntryView::parse(cursor->key(), cursor->value());
    CHECK(entry && entry->place().length > 0);
    places.push_back(entry->place());
  }
  RETURN_IF_ERROR(cursor->status());
  return places;
}

// The pages of a file that are in the page cache, and all it has.
struct Pages {
  std::size_t kept = 0;
  std::size_t all = 0;
};

// Drops a file from the page cache; says what stays there.
Pages drop_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  CHECK(file >= 0, "cannot open {}", path);
  ::fdatasync(file);  // only what is on disk can be dropped
  ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto bytes = static_cast<std::size_t>(::lseek(file, 0, SEEK_END));
  Pages pages{.all = (bytes + page - 1) / page};
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
  CHECK(mapped != MAP_FAILED);
  std::vector<unsigned char> kept(pages.all);
  CHECK(::mincore(mapped, bytes, kept.data()) == 0);
  for (const unsigned char each : kept) pages.kept += each & 1U;
  ::munmap(mapped, bytes);
  ::close(file);
  return pages;
}

double drop_files(const archive::TemporalIndex& index) {
  Pages sum;
  for (const auto& [number, file] : index.files()) {
    const Pages pages = drop_file(file.path);
    sum.kept += pages.kept;
    sum.all += pages.all;
  }
  return static_cast<double>(sum.kept) / static_cast<double>(sum.all);
}

using OpenFiles = std::map<std::uint32_t, std::unique_ptr<env::ReadableFile>>;

base::Result<OpenFiles> open_files(const archive::TemporalIndex& index) {
  env::PosixFileSystem files;
  OpenFiles opened;
  for (const auto& [number, file] : index.files()) {
    ASSIGN_OR_RETURN(opened[number], files.open_read(file.path));
  }
  return opened;
}

// All bytes of all files, in pieces that are as large as the system reads ahead.
base::Status read_files(const OpenFiles& files) {
  std::string bytes;
  for (const auto& [number, file] : files) {
    std::uint64_t at = 0;
    do {
      RETURN_IF_ERROR(file->read_at(at, kPieceBytes, &bytes));
      at += bytes.size();
    } while (bytes.size() == kPieceBytes);
  }
  return {};
}

base::Status read_one(const env::ReadableFile& file, const RecordPlace& place, std::string& bytes) {
  RETURN_IF_ERROR(file.read_at(place.offset, static_cast<std::size_t>(place.length), &bytes));
  CHECK(bytes.size() == place.length);
  return {};
}

// As they stand; the system is told of so many before they are read.
base::Status read_all(const OpenFiles& files, const std::vector<RecordPlace>& places,
                      std::size_t ahead) {
  std::string bytes;
  std::size_t told = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (; told < std::min(places.size(), i + ahead); ++told) {
      files.at(places[told].file)->will_read(places[told].offset, places[told].length);
    }
    RETURN_IF_ERROR(read_one(*files.at(places[i].file), places[i], bytes));
  }
  return {};
}

// As a snapshot reads them.
base::Status read_sorted(const archive::TemporalIndex& index,
                         const std::vector<RecordPlace>& places, const std::string& scratch,
                         double& sort_seconds) {
  env::PosixFileSystem files;
  archive::ExternalSort<RecordPlace> sort(files, scratch);
  base::Status status;
  sort_seconds = seconds_of([&] {
    status = sort.add(places);
    if (status) status = sort.finish();
  });
  RETURN_IF_ERROR(status);
  const auto known = index.files();
  archive::RecordSource source(files, known, scratch);
  archive::PointerQueue queue(sort, source);
  std::string bytes;
  for (;;) {
    ASSIGN_OR_RETURN(const auto place, queue.next());
    if (!place) return {};
    ASSIGN_OR_RETURN(const archive::SourceFile* const file, source.open(*place));
    RETURN_IF_ERROR(read_one(*file, *place, bytes));
  }
}

}  // namespace

base::Result<OrderCost> measure_orders(const std::string& archive, const std::string& scratch) {
  env::PosixFileSystem files;
  ASSIGN_OR_RETURN(const auto index, app::open_archive_index(files, archive));
  ASSIGN_OR_RETURN(const std::vector<RecordPlace> places, places_of(*index));
  ASSIGN_OR_RETURN(const OpenFiles opened, open_files(*index));
  OrderCost cost{.records = places.size()};
  for (const RecordPlace& place : places) cost.mb += static_cast<double>(place.length) / 1e6;
  const auto time_cold = [&](const std::function<base::Status()>& work) -> base::Result<double> {
    cost.kept_share = std::max(cost.kept_share, drop_files(*index));
    base::Status status;
    const double seconds = seconds_of([&] { status = work(); });
    RETURN_IF_ERROR(status);
    return seconds;
  };
  ASSIGN_OR_RETURN(cost.index_seconds, time_cold([&] { return read_all(opened, places, 0); }));
  ASSIGN_OR_RETURN(cost.told_seconds,
                   time_cold([&] { return read_all(opened, places, kToldAhead); }));
  ASSIGN_OR_RETURN(cost.sorted_seconds, time_cold([&] {
                     return read_sorted(*index, places, scratch, cost.sort_seconds);
                   }));
  ASSIGN_OR_RETURN(cost.once_seconds, time_cold([&] { return read_files(opened); }));
  return cost;
}

}  // namespace meguri::bench
