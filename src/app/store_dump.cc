#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "app/store_tools.h"
#include "app/values.h"
#include "base/base64.h"
#include "base/text.h"
#include "env/clock.h"
#include "env/posix_file_system.h"
#include "env/scratch_folder.h"
#include "sat/known_ids_inspector.h"
#include "sat/store_inspector.h"

namespace meguri::app {
namespace {

using Json = nlohmann::ordered_json;

// Whether bytes can be shown as they are: UTF-8, and nothing but lines of characters.
bool is_text(std::string_view bytes) {
  while (!bytes.empty()) {
    const base::CodePoint point = base::first_code_point(bytes);
    const bool is_space = point.value == '\n' || point.value == '\t' || point.value == '\r';
    if (!point.valid || (point.value < 0x20 && !is_space) || point.value == 0x7f) return false;
    bytes.remove_prefix(point.length);
  }
  return true;
}

Json json_of_bytes(std::string_view bytes) {
  if (is_text(bytes)) return {{"text", bytes}};
  return {{"base64", base::base64_of(bytes)}};
}

Json json_of(const sat::InspectedRecord& inspected) {
  const sat::Record& record = inspected.record;
  Json messages = Json::array();
  for (const std::string& message : inspected.messages) messages.push_back(json_of_bytes(message));
  return {{"seq", record.seq},
          {"id", record.id.to_hex()},
          {"due", record.due.instant().to_rfc3339()},
          {"schema", record.schema},
          {"generation", record.generation},
          {"slot", inspected.slot},
          {"out", inspected.is_out},
          {"body", json_of_bytes(record.body)},
          {"messages", std::move(messages)}};
}

}  // namespace

struct StoreDump::Wanted {
  std::optional<base::Instant> due_before;
  std::optional<base::Id> id;
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
};

void StoreDump::declare(Options options) {
  options.argument("DIR", dir_, "An archive, or the folder of a state store or of known ids");
  options.option("--due-before", "TIME", due_before_, "Only records due before then");
  options.option("--limit", "N", limit_, "So many at most");
  options.option("--id", "HEX", id_, "Only records with this id, of 32 hexadecimal digits");
  options.option("--position", "TEXT", position_,
                 "As it was committed there (default: the newest that is whole)");
  options.flag("--json", json_, "Lines of JSON, which is what it prints anyway");
}

base::Result<StoreDump::Wanted> StoreDump::read_wanted() const {
  Wanted wanted;
  if (!due_before_.empty()) {
    const env::RealClock clock;
    ASSIGN_OR_RETURN(wanted.due_before, parse_time("--due-before", due_before_, clock.utc()));
  }
  if (!limit_.empty()) {
    ASSIGN_OR_RETURN(wanted.limit, parse_count("--limit", limit_));
  }
  if (!id_.empty()) {
    const auto id = base::Id::parse_hex(id_);
    if (!id) {
      return base::fail(base::ErrorCode::kInvalid, "--id takes 32 hexadecimal digits, not {}",
                        base::quoted(id_));
    }
    wanted.id = *id;
  }
  return wanted;
}

base::Status StoreDump::run(Output& out) {
  env::PosixFileSystem files;
  ASSIGN_OR_RETURN(const Wanted wanted, read_wanted());
  ASSIGN_OR_RETURN(dir_, store_folder(files, dir_));
  ASSIGN_OR_RETURN(const sat::FolderKind kind, sat::kind_of_folder(files, dir_));
  ASSIGN_OR_RETURN(const env::ScratchFolder folder, env::ScratchFolder::make("meguri-store"));
  const sat::Scratch scratch{files, folder.path()};
  if (kind == sat::FolderKind::kStore) return dump_store(wanted, scratch, out);
  return dump_known_ids(wanted, scratch, out);
}

base::Status StoreDump::dump_store(const Wanted& wanted, const sat::Scratch& scratch,
                                   Output& out) const {
  env::PosixFileSystem files;
  ASSIGN_OR_RETURN(const auto inspector,
                   sat::StoreInspector::open(files, dir_, position_, scratch));
  print_notes(inspector->notes());
  std::uint64_t left = wanted.limit;
  if (left == 0) return {};
  return inspector->for_each_record(
      [&](const sat::InspectedRecord& inspected) -> base::Result<bool> {
        if (wanted.id && inspected.record.id != *wanted.id) return true;
        if (wanted.due_before && inspected.record.due.instant() >= *wanted.due_before) return true;
        out.print("{}\n", json_of(inspected).dump());
        return --left > 0;
      });
}

base::Status StoreDump::dump_known_ids(const Wanted& wanted, const sat::Scratch& scratch,
                                       Output& out) const {
  if (wanted.due_before) {
    return base::fail(base::ErrorCode::kInvalid, "{} holds known ids, which are never due", dir_);
  }
  env::PosixFileSystem files;
  ASSIGN_OR_RETURN(const auto inspector,
                   sat::KnownIdsInspector::open(files, dir_, position_, scratch));
  print_notes(inspector->notes());
  const auto print = [&out](const sat::KnownId& known) {
    out.print("{}\n", Json{{"id", known.id.to_hex()}, {"seq", known.seq}}.dump());
  };
  std::uint64_t left = wanted.limit;
  if (left == 0) return {};
  if (wanted.id) {
    ASSIGN_OR_RETURN(const auto seq, inspector->find(*wanted.id));
    if (seq) print({*wanted.id, *seq});
    return {};
  }
  return inspector->for_each_id([&](const sat::KnownId& known) {
    print(known);
    return --left > 0;
  });
}

}  // namespace meguri::app
