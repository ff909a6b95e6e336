// Opens any bytes as a run of ids, and runs of any ids that were damaged.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "env/memory_file_system.h"
#include "sat/block_kinds.h"
#include "sat/id_run.h"

namespace {

using namespace meguri;
using namespace meguri::sat;

constexpr auto kPath = "d/0000000000000001.ids";

// Everything that can be asked of a run ends well or says that it is damaged. Returns whether all
// of it could be read; then it holds `expected`, if that is not null.
bool read_all(std::string_view bytes, const RunMark& mark,
              const std::map<base::Id, Seq>* expected) {
  env::MemoryFileSystem files;
  CHECK(files.make_dirs("d"));
  CHECK(env::write_file_atomically(files, kPath, bytes));
  IdTraffic traffic;
  const auto run = IdRun::open(files, "d", mark, traffic);
  if (!run) {
    CHECK(run.error().code() == base::ErrorCode::kCorrupt);
    return false;
  }
  const auto is_corrupt = [](const auto& result) {
    CHECK(result || result.error().code() == base::ErrorCode::kCorrupt);
    return !result;
  };
  IdRunCursor cursor(**run);
  std::vector<KnownId> ids;
  for (;;) {
    const auto more = cursor.next();
    if (is_corrupt(more)) return false;
    if (!*more) break;
    ids.push_back(cursor.now());
    CHECK(ids.size() <= mark.ids);
  }
  std::vector<Lookup> lookups;
  for (const KnownId& known : ids) {
    if (is_corrupt((*run)->find(known.id))) return false;
    lookups.push_back({known.id});
    lookups.push_back({{known.id.high, known.id.low + 1}});
  }
  std::ranges::sort(lookups, {}, &Lookup::id);
  LookupScratch scratch;
  if (is_corrupt((*run)->look_up(lookups, scratch))) return false;
  if (expected == nullptr) return true;
  CHECK(ids.size() == expected->size());
  for (const KnownId& known : ids) {
    CHECK(expected->at(known.id) == known.seq);
    CHECK((*run)->find(known.id).value() == known.seq);
  }
  for (const Lookup& lookup : lookups) {
    const auto found = expected->find(lookup.id);
    CHECK(lookup.is_found == (found != expected->end()));
    CHECK(!lookup.is_found || lookup.seq == found->second);
  }
  return true;
}

// The bytes as blocks with good checksums, cut where the bytes themselves say.
std::string as_blocks(std::string_view bytes) {
  std::string written;
  std::uint64_t places[2] = {0, 0};
  while (!bytes.empty()) {
    const auto first = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    const bool is_index = first % 2 == 1;
    const std::string_view payload = bytes.substr(0, first / 2);
    bytes.remove_prefix(payload.size());
    env::Block block;
    block.out() += payload;
    written += block.seal(is_index ? kRunIndexKind : kRunKind,
                          static_cast<std::uint32_t>(payload.size() / RunBlock::kIdBytes),
                          std::uint64_t{1} << 32U | places[is_index ? 1 : 0]++);
  }
  return written;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::uint32_t block_ids = size == 0 ? 1 : data[0] % 7 + 1;
  const auto read_as_any = [&](std::string_view file) {
    for (std::uint64_t ids = 1; ids <= 9 && ids <= file.size() / RunBlock::kIdBytes; ++ids) {
      read_all(file, {1, ids, file.size(), block_ids}, nullptr);
    }
  };
  read_as_any(bytes);
  // The checksums stop nearly all of that, so the bytes are sealed too.
  read_as_any(as_blocks(bytes));

  // A run of ids made of these bytes, which is read as it was written, and known when damaged.
  std::map<base::Id, Seq> ids;
  std::string_view rest = bytes;
  for (base::Id id; base::take_fixed(rest, id.high);) {
    id.low = id.high % 3;
    id.high >>= id.high % 60;
    ids[id] = static_cast<Seq>(ids.size());
  }
  if (ids.empty()) return 0;
  env::MemoryFileSystem files;
  CHECK(files.make_dirs("d"));
  IdTraffic traffic;
  RunMark mark;
  {
    auto writer = IdRunWriter::create(files, "d", 1, ids.size(), 5, block_ids, traffic).value();
    for (const auto& [id, seq] : ids) CHECK(writer->add({id, seq}));
    mark = writer->finish().value()->mark();
  }
  std::string written = env::read_file(files, kPath).value();
  CHECK(read_all(written, mark, &ids));
  CHECK(!read_all(std::string_view(written).substr(0, written.size() - 1), mark, &ids));
  const std::size_t place = (data[0] + 256U * data[1]) % written.size();
  written[place] = static_cast<char>(written[place] ^ static_cast<char>(data[2] | 1U));
  CHECK(!read_all(written, mark, &ids));
  return 0;
}
