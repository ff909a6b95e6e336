// Opens any bytes as a segment of a spill, and records of any bytes with one of them damaged: what
// is read was written, in order, and the rest is counted as damaged.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/log.h"
#include "env/memory_file_system.h"
#include "flow/spill_log.h"

namespace {

using namespace meguri;
using flow::SpillBlock;
using flow::SpillLog;
using flow::SpillMark;

void write(env::FileSystem& files, const std::string& path, std::string_view bytes) {
  const auto file = files.create(path);
  CHECK(file && (*file)->append(bytes) && (*file)->sync());
}

using Records = std::map<std::uint64_t, std::string>;

Records read_all(SpillLog& log) {
  Records records;
  std::uint64_t next = 0;
  while (true) {
    const auto block = log.read_next();
    if (!block || !*block) return records;
    CHECK((*block)->first() >= next);
    next = (*block)->end();
    (*block)->for_each([&](std::uint64_t number, std::string_view bytes) {
      CHECK(records.emplace(number, bytes).second);
    });
  }
}

// Bytes that nobody checked.
void open_rubbish(std::string_view bytes) {
  env::MemoryFileSystem files;
  CHECK(files.make_dirs("d"));
  write(files, "d/0000000000000000.spill", bytes);
  const SpillMark mark{.read = 0, .write = 1000, .segment = 0, .segment_bytes = bytes.size()};
  const auto log = SpillLog::open(files, "d", mark);
  if (log) read_all(**log);
}

// Records of these bytes, with the byte at `place` changed.
void open_damaged(std::string_view bytes, std::size_t place) {
  env::MemoryFileSystem files;
  Records written;
  SpillMark mark;
  {
    const auto log = SpillLog::open(files, "d", std::nullopt);
    CHECK(log);
    std::uint64_t number = 0;
    for (std::size_t at = 0; at < bytes.size(); at += 16) {
      SpillBlock block(number);
      for (int i = 0; i < 3; ++i) {
        written[number++] = bytes.substr(at, 16);
        block.add(bytes.substr(at, 16));
      }
      CHECK((*log)->append(block));
    }
    CHECK((*log)->sync());
    mark = (*log)->mark(0, number);
  }
  const std::string path = "d/0000000000000000.spill";
  auto content = env::read_file(files, path);
  if (!content || content->empty()) return;
  char& byte = (*content)[place % content->size()];
  byte = static_cast<char>(byte ^ 0x40);
  CHECK(files.remove(path));
  write(files, path, *content);
  const auto log = SpillLog::open(files, "d", mark);
  CHECK(log);
  const Records read = read_all(**log);
  CHECK(std::ranges::includes(written, read));
  CHECK(read.size() < written.size(), "damage must be seen");
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  base::Logger::standard().set_level(base::LogLevel::kOff);  // it speaks of every damage
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  open_rubbish(bytes);
  if (size > 2) open_damaged(bytes.substr(2), data[0] + 256U * data[1]);
  return 0;
}
