#include "bench/sat_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "bench/memory.h"
#include "bench/process.h"
#include "bench/timing.h"

namespace meguri::bench {
namespace {

constexpr std::size_t kSystemPage = 4096;

void for_each_file(const std::string& dir, const std::function<void(int)>& use) {
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir, error)) {
    if (!entry.is_regular_file(error)) continue;
    const int file = ::open(entry.path().c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) continue;  // it went meanwhile
    use(file);
    ::close(file);
  }
}

void sync_files(const std::string& dir) {
  for_each_file(dir, [](int file) { ::fdatasync(file); });
}

void drop_files(const std::string& dir) {
  for_each_file(dir, [](int file) { ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED); });
}

double disk_bytes(const std::string& dir) {
  double bytes = 0;
  for_each_file(dir, [&](int file) {
    struct stat status{};
    if (::fstat(file, &status) == 0) bytes += 512.0 * static_cast<double>(status.st_blocks);
  });
  return bytes;
}

std::uint64_t cached_bytes(const std::string& dir) {
  std::uint64_t pages = 0;
  std::vector<unsigned char> resident;
  for_each_file(dir, [&](int file) {
    struct stat status{};
    if (::fstat(file, &status) != 0 || status.st_size == 0) return;
    const auto size = static_cast<std::size_t>(status.st_size);
    void* map = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
    if (map == MAP_FAILED) return;
    resident.resize((size + kSystemPage - 1) / kSystemPage);
    if (::mincore(map, size, resident.data()) == 0) {
      for (const unsigned char page : resident) pages += page & 1U;
    }
    ::munmap(map, size);
  });
  return pages * kSystemPage;
}

// Memory of the process that is not a file's.
std::uint64_t anonymous_bytes() {
  std::ifstream file("/proc/self/status");
  std::string word;
  std::uint64_t kilobytes = 0;
  while (file >> word) {
    if (word == "RssAnon:") file >> kilobytes;
  }
  return kilobytes * 1024;
}

struct Counters {
  double real = 0;
  double cpu = 0;
  double read = 0;
  double written = 0;

  static Counters now() {
    Counters counters;
    const auto seconds = [](clockid_t clock) {
      timespec time{};
      ::clock_gettime(clock, &time);
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
    };
    counters.real = seconds(CLOCK_MONOTONIC);
    counters.cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    std::ifstream file("/proc/self/io");
    std::string word;
    while (file >> word) {
      if (word == "read_bytes:") file >> counters.read;
      if (word == "write_bytes:") file >> counters.written;
    }
    return counters;
  }
};

// Adds what went by since `before`.
void add_since(const Counters& before, SatCost* cost) {
  const Counters now = Counters::now();
  cost->seconds += now.real - before.real;
  cost->cpu_seconds += now.cpu - before.cpu;
  cost->read_bytes += now.read - before.read;
  cost->written_bytes += now.written - before.written;
}

base::Status run_steps(std::string_view name, const SatSetting& setting, const SatLoad& load,
                       SatStart start, SatCost* cost) {
  const auto due = load.due_by_step();
  const auto store = make_sat_store(name, setting);
  RETURN_IF_ERROR(store->open(load));
  // What it read to open is not needed any more.
  if (start == SatStart::kCold) drop_files(setting.dir);
  SatSum sum;
  std::uint64_t expected = 0;
  for (std::uint32_t step = 0; step < load.steps(); ++step) {
    if (setting.has_messages) RETURN_IF_ERROR(store->send_messages(due[step]));
    expected += due[step].size();
    const double before_step = cost->seconds;
    const Counters before = Counters::now();
    RETURN_IF_ERROR(store->run_step(step, due[step], &sum));
    add_since(before, cost);
    const bool is_last = step + 1 == load.steps();
    const bool is_over = start == SatStart::kCold &&
                         cached_bytes(setting.dir) + anonymous_bytes() > setting.memory_bytes;
    if (is_last || is_over) {
      const Counters before_sync = Counters::now();
      RETURN_IF_ERROR(store->release_files());
      sync_files(setting.dir);
      add_since(before_sync, cost);
    }
    cost->worst_step_us = std::max(
        cost->worst_step_us, (cost->seconds - before_step) * 1e6 /
                                 static_cast<double>(std::max<std::size_t>(due[step].size(), 1)));
    if (is_over) {
      drop_files(setting.dir);
      cost->files_dropped += 1;
    }
    if (sum.updates != expected) {
      return base::fail(base::ErrorCode::kInvalid, "{} updated {} records, and {} were due", name,
                        sum.updates, expected);
    }
  }
  cost->updates = sum.updates;
  cost->messages = sum.messages;
  // What was read shows that earlier updates were kept.
  std::vector<std::uint8_t> visits(load.records());
  std::uint64_t expected_visits = 0;
  for (const auto& step : due) {
    for (const std::uint32_t seq : step) expected_visits += visits[seq]++;
  }
  if (name != "bdb-ro" && sum.visits != expected_visits) {
    return base::fail(base::ErrorCode::kInvalid, "{} read {} visits where {} were written", name,
                      sum.visits, expected_visits);
  }
  return {};
}

int report_failure(const base::Status& status) {
  if (status) return 0;
  fmt::print(stderr, "meguri bench sat: {}.\n", status.error().message());
  return 1;
}

}  // namespace

base::Result<SatCost> measure_sat(std::string_view name, const SatSetting& setting,
                                  const SatLoad& load, SatStart start) {
  std::filesystem::create_directories(setting.dir);
  SatCost cost;
  cost.load_seconds = seconds_of([&] {
    const ChildEnd loaded =
        run_child([&] { return report_failure(make_sat_store(name, setting)->load(load)); });
    cost.updates = loaded.is_good ? 1 : 0;
  });
  if (cost.updates == 0) {
    return base::fail(base::ErrorCode::kInvalid, "{} cannot be loaded", name);
  }
  sync_files(setting.dir);
  cost.disk_bytes = disk_bytes(setting.dir);
  if (start == SatStart::kCold) drop_files(setting.dir);
  const ChildEnd end = run_child([&] {
    SatCost own;
    const base::Status status = run_steps(name, setting, load, start, &own);
    const nlohmann::json figures = {own.updates,       own.messages,      own.seconds,
                                    own.cpu_seconds,   own.worst_step_us, own.read_bytes,
                                    own.written_bytes, own.files_dropped};
    fmt::print("{}\n", figures.dump());
    std::fflush(stdout);
    return report_failure(status);
  });
  std::filesystem::remove_all(setting.dir);
  if (!end.is_good) return base::fail(base::ErrorCode::kInvalid, "{} cannot be measured", name);
  const auto figures = nlohmann::json::parse(end.output);
  cost.updates = figures[0];
  cost.messages = figures[1];
  cost.seconds = figures[2];
  cost.cpu_seconds = figures[3];
  cost.worst_step_us = figures[4];
  cost.read_bytes = figures[5];
  cost.written_bytes = figures[6];
  cost.files_dropped = figures[7];
  cost.peak_mb = end.peak_mb;
  return cost;
}

base::Result<SequentialCost> measure_sequential(const std::string& dir, std::uint64_t bytes) {
  constexpr std::size_t kPartBytes = std::size_t{1} << 20U;
  std::filesystem::create_directories(dir);
  const std::string path = dir + "/sequential";
  std::string part(kPartBytes, 'x');
  bool good = true;
  SequentialCost cost;
  const auto over_parts = [&](int flags, auto move) {
    const int file = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
    good = good && file >= 0;
    for (std::uint64_t left = bytes; left > 0 && good;) {
      const std::size_t n = std::min<std::uint64_t>(left, kPartBytes);
      good = move(file, n) == static_cast<ssize_t>(n);
      left -= n;
    }
    if ((flags & O_CREAT) != 0) good = good && ::fdatasync(file) == 0;
    ::close(file);
  };
  cost.write_seconds = seconds_of([&] {
    over_parts(O_WRONLY | O_CREAT,
               [&](int file, std::size_t n) { return ::write(file, part.data(), n); });
  });
  drop_files(dir);
  cost.read_seconds = seconds_of([&] {
    over_parts(O_RDONLY, [&](int file, std::size_t n) { return ::read(file, part.data(), n); });
  });
  std::filesystem::remove_all(dir);
  if (!good) return base::fail(base::ErrorCode::kIo, "cannot write and read {}", path);
  return cost;
}

}  // namespace meguri::bench
