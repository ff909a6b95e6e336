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

#include "bench/control_group.h"
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

// Seconds of one kind.
double seconds_now(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// Waits until the disk has what the system holds back of the files, and adds how long that took:
// not how long finding and opening them did, of which a store may have many. Nothing is synced.
void write_back(const std::string& dir, SatCost* cost) {
  const auto over_files = [&](unsigned flags) {
    for_each_file(dir, [&](int file) {
      const double real = seconds_now(CLOCK_MONOTONIC);
      const double cpu = seconds_now(CLOCK_PROCESS_CPUTIME_ID);
      ::sync_file_range(file, 0, 0, flags);
      cost->seconds += seconds_now(CLOCK_MONOTONIC) - real;
      cost->cpu_seconds += seconds_now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    });
  };
  over_files(SYNC_FILE_RANGE_WRITE);
  over_files(SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
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
    counters.real = seconds_now(CLOCK_MONOTONIC);
    counters.cpu = seconds_now(CLOCK_PROCESS_CPUTIME_ID);
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

// What was read shows that earlier updates were kept.
base::Status check_visits(std::string_view name, const SatLoad& load,
                          const std::vector<std::vector<std::uint32_t>>& due, std::uint64_t read) {
  std::vector<std::uint8_t> visits(load.records());
  std::uint64_t expected = 0;
  for (const auto& step : due) {
    for (const std::uint32_t seq : step) expected += visits[seq]++;
  }
  if (name == "bdb-ro" || read == expected) return {};
  return base::fail(base::ErrorCode::kInvalid, "{} read {} visits where {} were written", name,
                    read, expected);
}

base::Status run_steps(std::string_view name, const SatSetting& setting, const SatLoad& load,
                       SatStart start, SatCost* cost) {
  const auto due = load.due_by_step();
  const auto store = make_sat_store(name, setting);
  RETURN_IF_ERROR(store->open(load));
  // What it read to open is not needed any more.
  if (start == SatStart::kCold) drop_files(setting.dir);
  SatSum sum;
  for (std::uint32_t step = 0; step < load.steps(); ++step) {
    if (setting.has_messages) RETURN_IF_ERROR(store->send_messages(due[step]));
    cost->updates += due[step].size();
    const double before_step = cost->seconds;
    const Counters before = Counters::now();
    RETURN_IF_ERROR(store->run_step(step, due[step], &sum));
    add_since(before, cost);
    if (start == SatStart::kCold) write_back(setting.dir, cost);
    const bool is_last = step + 1 == load.steps();
    const bool is_over = start == SatStart::kCold && !cost->is_limited &&
                         cached_bytes(setting.dir) + anonymous_bytes() > setting.memory_bytes;
    if (is_last || is_over) {
      const Counters before_release = Counters::now();
      RETURN_IF_ERROR(store->release_files());
      add_since(before_release, cost);
      write_back(setting.dir, cost);
    }
    cost->steps.push_back({due[step].size(), cost->seconds - before_step});
    if (is_over) {
      drop_files(setting.dir);
      cost->files_dropped += 1;
    }
    if (sum.updates != cost->updates) {
      return base::fail(base::ErrorCode::kInvalid, "{} updated {} records, and {} were due", name,
                        sum.updates, cost->updates);
    }
  }
  cost->messages = sum.messages;
  if (setting.restarts) {
    drop_files(setting.dir);
    const Counters before = Counters::now();
    RETURN_IF_ERROR(store->reopen(load));
    cost->restart_seconds = Counters::now().real - before.real;
  }
  return check_visits(name, load, due, sum.visits);
}

int report_failure(const base::Status& status) {
  if (status) return 0;
  fmt::print(stderr, "meguri bench sat: {}.\n", status.error().message());
  return 1;
}

// From one process to another.
nlohmann::json to_json(const SatCost& cost) {
  nlohmann::json steps = nlohmann::json::array();
  for (const SatStepCost& step : cost.steps) steps.push_back({step.updates, step.seconds});
  return {{"updates", cost.updates},
          {"messages", cost.messages},
          {"seconds", cost.seconds},
          {"cpu_seconds", cost.cpu_seconds},
          {"read_bytes", cost.read_bytes},
          {"written_bytes", cost.written_bytes},
          {"restart_seconds", cost.restart_seconds},
          {"files_dropped", cost.files_dropped},
          {"steps", steps}};
}

SatCost from_json(const nlohmann::json& json) {
  SatCost cost;
  cost.updates = json["updates"];
  cost.messages = json["messages"];
  cost.seconds = json["seconds"];
  cost.cpu_seconds = json["cpu_seconds"];
  cost.read_bytes = json["read_bytes"];
  cost.written_bytes = json["written_bytes"];
  cost.restart_seconds = json["restart_seconds"];
  cost.files_dropped = json["files_dropped"];
  for (const auto& step : json["steps"]) cost.steps.push_back({step[0], step[1]});
  return cost;
}

// nullptr: none can be had, or none is wanted.
std::unique_ptr<ControlGroup> group_for(const SatSetting& setting, SatStart start) {
  if (start == SatStart::kCached) return nullptr;
  auto group = ControlGroup::make(setting.memory_bytes);
  return group ? *std::move(group) : nullptr;
}

}  // namespace

double SatCost::median_step_us() const {
  if (steps.empty()) return 0;
  std::vector<double> all;
  for (const SatStepCost& step : steps) all.push_back(step.us());
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::ranges::nth_element(all, middle);
  return *middle;
}

double SatCost::worst_step_us() const {
  double worst = 0;
  for (const SatStepCost& step : steps) worst = std::max(worst, step.us());
  return worst;
}

base::Result<SatLoaded> load_sat_store(std::string_view name, const SatSetting& setting,
                                       const SatLoad& load) {
  std::filesystem::create_directories(setting.dir);
  SatLoaded loaded;
  bool is_good = false;
  loaded.seconds = seconds_of([&] {
    is_good = run_child([&] {
                return report_failure(make_sat_store(name, setting)->load(load));
              }).is_good;
  });
  if (!is_good) return base::fail(base::ErrorCode::kFailed, "{} cannot be loaded", name);
  sync_files(setting.dir);
  loaded.disk_bytes = disk_bytes(setting.dir);
  return loaded;
}

base::Result<SatCost> run_sat_store(std::string_view name, const SatSetting& setting,
                                    const SatLoad& load, SatStart start) {
  if (start == SatStart::kCold) drop_files(setting.dir);
  const auto group = group_for(setting, start);
  const ChildEnd end = run_child([&] {
    SatCost own;
    own.is_limited = group != nullptr;
    base::Status status = group ? group->enter() : base::Status();
    if (status) status = run_steps(name, setting, load, start, &own);
    fmt::print("{}\n", to_json(own).dump());
    std::fflush(stdout);
    return report_failure(status);
  });
  if (!end.is_good) {
    return base::fail(base::ErrorCode::kFailed, "{} cannot be measured{}", name,
                      group ? "; perhaps it needs more --memory" : "");
  }
  SatCost cost = from_json(nlohmann::json::parse(end.output));
  cost.peak_mb = end.peak_mb;
  cost.is_limited = group != nullptr;
  if (group) cost.group_peak_mb = static_cast<double>(group->peak_bytes().value_or(0)) / 1e6;
  return cost;
}

base::Result<SatCost> measure_sat(std::string_view name, const SatSetting& setting,
                                  const SatLoad& load, SatStart start) {
  ASSIGN_OR_RETURN(const SatLoaded loaded, load_sat_store(name, setting, load));
  auto cost = run_sat_store(name, setting, load, start);
  std::filesystem::remove_all(setting.dir);
  if (!cost) return cost;
  cost->load_seconds = loaded.seconds;
  cost->disk_bytes = loaded.disk_bytes;
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
