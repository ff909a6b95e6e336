#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "app/figures.h"
#include "app/store_tools.h"
#include "env/posix_file_system.h"
#include "env/scratch_folder.h"
#include "sat/known_ids_inspector.h"
#include "sat/store_inspector.h"

namespace meguri::app {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const sat::CheckReport& report, sat::FolderKind kind) {
  Json faults = Json::array();
  for (const sat::Fault& fault : report.faults) {
    faults.push_back({{"file", fault.file},
                      {"offset", fault.offset},
                      {"length", fault.length},
                      {"what", fault.what}});
  }
  return {{"kind", kind == sat::FolderKind::kStore ? "store" : "known_ids"},
          {"position", report.position},
          {"files", report.files},
          {"blocks", report.blocks},
          {"bytes", report.bytes},
          {kind == sat::FolderKind::kStore ? "records" : "ids", report.records},
          {"faults", std::move(faults)},
          {"notes", report.notes}};
}

void show(const sat::CheckReport& report, sat::FolderKind kind, Output& out) {
  for (const sat::Fault& fault : report.faults) {
    const std::string where =
        fault.length == 0 ? "" : fmt::format(" at {}, {} bytes", fault.offset, fault.length);
    out.print("{}{}: {}\n", printable(fault.file), where, printable(fault.what));
  }
  for (const std::string& note : report.notes) out.print("note: {}\n", printable(note));
  const bool is_store = kind == sat::FolderKind::kStore;
  out.print(
      "{} and {} in {}, {}: {}\n", counted(report.files, "file", "files"),
      counted(report.blocks, "block", "blocks"), bytes_text(report.bytes),
      is_store ? counted(report.records, "record", "records")
               : counted(report.records, "id", "ids"),
      report.faults.empty() ? "all is well" : counted(report.faults.size(), "fault", "faults"));
}

}  // namespace

void StoreCheck::declare(Options options) {
  options.argument("DIR", dir_, "An archive, or the folder of a state store or of known ids");
  options.option("--position", "TEXT", position_,
                 "Check it as it was committed there (default: the newest that is whole)");
  options.flag("--json", json_, "Print one JSON object");
}

base::Status StoreCheck::run(Output& out) {
  env::PosixFileSystem files;
  ASSIGN_OR_RETURN(dir_, store_folder(files, dir_));
  ASSIGN_OR_RETURN(const sat::FolderKind kind, sat::kind_of_folder(files, dir_));
  ASSIGN_OR_RETURN(const env::ScratchFolder folder, env::ScratchFolder::make("meguri-store"));
  const sat::Scratch scratch{files, folder.path()};
  ASSIGN_OR_RETURN(const sat::CheckReport report,
                   kind == sat::FolderKind::kStore
                       ? sat::StoreInspector::check(files, dir_, position_, scratch)
                       : sat::KnownIdsInspector::check(files, dir_, position_, scratch));
  if (json_) {
    out.print("{}\n", json_of(report, kind).dump(-1, ' ', false, Json::error_handler_t::replace));
  } else {
    show(report, kind, out);
  }
  if (report.faults.empty()) return {};
  return base::fail(base::ErrorCode::kCorrupt, "{} is damaged: {} found", dir_,
                    counted(report.faults.size(), "fault was", "faults were"));
}

}  // namespace meguri::app
