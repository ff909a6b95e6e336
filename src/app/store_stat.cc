#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "app/figures.h"
#include "app/store_tools.h"
#include "app/values.h"
#include "env/clock.h"
#include "env/posix_file_system.h"
#include "env/scratch_folder.h"
#include "sat/known_ids_inspector.h"
#include "sat/store_inspector.h"

namespace meguri::app {
namespace {

using base::Duration;
using Json = nlohmann::ordered_json;

// Up to when a bin reaches, and how it is called.
struct Bin {
  Duration until;
  std::string_view name;
};

constexpr std::array kBins = {
    Bin{Duration::from_ms(0), "overdue"},
    Bin{Duration::minutes(10), "10 minutes"},
    Bin{Duration::minutes(20), "20 minutes"},
    Bin{Duration::minutes(30), "30 minutes"},
    Bin{Duration::minutes(40), "40 minutes"},
    Bin{Duration::minutes(50), "50 minutes"},
    Bin{Duration::hours(1), "1 hour"},
    Bin{Duration::hours(6), "6 hours"},
    Bin{Duration::hours(12), "12 hours"},
    Bin{Duration::days(1), "1 day"},
    Bin{Duration::days(2), "2 days"},
    Bin{Duration::days(4), "4 days"},
    Bin{Duration::days(7), "1 week"},
    Bin{Duration::days(14), "2 weeks"},
    Bin{Duration::days(30), "1 month"},
    Bin{Duration::days(90), "3 months"},
    Bin{Duration::days(180), "6 months"},
    Bin{Duration::days(365), "1 year"},
    Bin{Duration::max(), "later"},
};

// When records are due, and what they are made of.
struct Contents {
  std::array<std::uint64_t, kBins.size()> due{};
  std::uint64_t messages = 0;
  std::uint64_t live_bytes = 0;  // of records and messages, as they are written

  void add(const sat::InspectedRecord& inspected, base::Instant at) {
    const Duration wait = inspected.record.due.instant() - at;
    const auto* const bin =
        std::ranges::find_if(kBins, [wait](const Bin& each) { return wait <= each.until; });
    ++due[static_cast<std::size_t>(bin - kBins.begin())];
    live_bytes += sat::encoded_size(inspected.record);
    for (const std::string& message : inspected.messages) {
      ++messages;
      sat::Record record;
      record.seq = inspected.record.seq;
      record.generation = inspected.record.generation;
      record.body = message;
      live_bytes += sat::encoded_size(record);
    }
  }
};

Json json_of(const sat::StoreInspector& inspector, const sat::StoreFigures& figures,
             const Contents& contents, base::Instant at) {
  Json due = Json::array();
  for (std::size_t i = 0; i < kBins.size(); ++i) {
    Json bin = {{"within", kBins[i].name}};
    if (kBins[i].until != Duration::max()) bin["seconds"] = kBins[i].until.ms() / 1000;
    bin["records"] = contents.due[i];
    due.push_back(std::move(bin));
  }
  return {{"kind", "store"},
          {"position", inspector.position().to_string()},
          {"front", inspector.store().front().opened_up_to().to_rfc3339()},
          {"records", figures.records},
          {"waiting", figures.records - figures.out},
          {"out", figures.out},
          {"messages", contents.messages},
          {"numbers_given", figures.numbers_given},
          {"buckets", figures.buckets},
          {"buckets_filled", figures.buckets_filled},
          {"segments", figures.segments},
          {"segment_bytes", figures.segment_bytes},
          {"segment_bytes_used", figures.segment_bytes_used},
          {"log_bytes", figures.log_bytes},
          {"checkpoint_bytes", figures.checkpoint_bytes},
          {"live_bytes", contents.live_bytes},
          {"index_bytes", figures.index_bytes},
          {"at", at.to_rfc3339()},
          {"due", std::move(due)},
          {"notes", inspector.notes()}};
}

void show_due(const Contents& contents, base::Instant at, Output& out) {
  constexpr std::uint64_t kColumns = 40;
  out.print("due after {}, within\n", at.to_rfc3339());
  const std::uint64_t most = std::max<std::uint64_t>(1, std::ranges::max(contents.due));
  for (std::size_t i = 0; i < kBins.size(); ++i) {
    const std::uint64_t records = contents.due[i];
    // What is there is seen, however little it is.
    const std::uint64_t columns =
        records == 0 ? 0 : std::max<std::uint64_t>(1, records * kColumns / most);
    out.print("  {:<12}{:>14}{}{}\n", kBins[i].name, grouped(records), columns == 0 ? "" : "  ",
              std::string(columns, '#'));
  }
}

void show(const sat::StoreInspector& inspector, const sat::StoreFigures& figures,
          const Contents& contents, base::Instant at, Output& out) {
  const std::uint64_t files = figures.segment_bytes + figures.log_bytes + figures.checkpoint_bytes;
  out.print("position    {}\n", inspector.position().to_string());
  out.print("front       {}\n", inspector.store().front().opened_up_to().to_rfc3339());
  out.print("records     {}: {} waiting, {} out\n", grouped(figures.records),
            grouped(figures.records - figures.out), grouped(figures.out));
  out.print("messages    {}\n", grouped(contents.messages));
  out.print("buckets     {}, {} with records\n", grouped(figures.buckets),
            grouped(figures.buckets_filled));
  out.print("segments    {} in {}, {} in use\n", bytes_text(figures.segment_bytes),
            counted(figures.segments, "file", "files"), bytes_text(figures.segment_bytes_used));
  out.print("log         {}\n", bytes_text(figures.log_bytes));
  out.print("checkpoint  {}\n", bytes_text(figures.checkpoint_bytes));
  out.print("on disk     {}, for {} of records and messages\n", bytes_text(files),
            bytes_text(contents.live_bytes));
  out.print("in memory   {} for the index of {}\n", bytes_text(figures.index_bytes),
            counted(figures.numbers_given, "record ever added", "records ever added"));
  show_due(contents, at, out);
}

}  // namespace

void StoreStat::declare(Options options) {
  options.argument("DIR", dir_, "An archive, or the folder of a state store or of known ids");
  options.option("--at", "TIME", at_,
                 "Count from then what is due (default: how far the store has come)");
  options.option("--position", "TEXT", position_,
                 "As it was committed there (default: the newest that is whole)");
  options.flag("--json", json_, "Print one JSON object");
}

base::Status StoreStat::run(Output& out) {
  env::PosixFileSystem files;
  ASSIGN_OR_RETURN(dir_, store_folder(files, dir_));
  ASSIGN_OR_RETURN(const sat::FolderKind kind, sat::kind_of_folder(files, dir_));
  ASSIGN_OR_RETURN(const env::ScratchFolder folder, env::ScratchFolder::make("meguri-store"));
  const sat::Scratch scratch{files, folder.path()};
  return kind == sat::FolderKind::kStore ? stat_store(scratch, out) : stat_known_ids(scratch, out);
}

base::Status StoreStat::stat_store(const sat::Scratch& scratch, Output& out) const {
  env::PosixFileSystem files;
  const env::RealClock clock;
  base::Instant at;
  if (!at_.empty()) {
    ASSIGN_OR_RETURN(at, parse_time("--at", at_, clock.utc()));
  }
  ASSIGN_OR_RETURN(const auto inspector,
                   sat::StoreInspector::open(files, dir_, position_, scratch));
  if (at_.empty()) at = inspector->store().front().opened_up_to();
  ASSIGN_OR_RETURN(const sat::StoreFigures figures, inspector->figures());
  Contents contents;
  RETURN_IF_ERROR(
      inspector->for_each_record([&](const sat::InspectedRecord& record) -> base::Result<bool> {
        contents.add(record, at);
        return true;
      }));
  if (json_) {
    out.print("{}\n", json_of(*inspector, figures, contents, at).dump());
    return {};
  }
  print_notes(inspector->notes());
  show(*inspector, figures, contents, at, out);
  return {};
}

base::Status StoreStat::stat_known_ids(const sat::Scratch& scratch, Output& out) const {
  env::PosixFileSystem files;
  ASSIGN_OR_RETURN(const auto inspector,
                   sat::KnownIdsInspector::open(files, dir_, position_, scratch));
  const sat::KnownIdsFigures figures = inspector->figures();
  if (json_) {
    Json runs = Json::array();
    for (const auto& run : figures.runs) {
      runs.push_back({{"number", run.mark.number},
                      {"ids", run.mark.ids},
                      {"bytes", run.mark.size},
                      {"filter_bytes", run.filter_bytes}});
    }
    out.print("{}\n", Json{{"kind", "known_ids"},
                           {"position", inspector->position().to_string()},
                           {"entries", figures.entries},
                           {"runs", std::move(runs)},
                           {"run_bytes", figures.run_bytes},
                           {"filter_bytes", figures.filter_bytes},
                           {"memory_bytes", figures.memory_bytes},
                           {"log_entries", figures.log_entries},
                           {"log_bytes", figures.log_bytes},
                           {"notes", inspector->notes()}}
                          .dump());
    return {};
  }
  print_notes(inspector->notes());
  out.print("position    {}\n", inspector->position().to_string());
  out.print("ids         {}, those removed or added twice included\n", grouped(figures.entries));
  out.print("runs        {} in {}\n", bytes_text(figures.run_bytes),
            counted(figures.runs.size(), "file", "files"));
  for (const auto& run : figures.runs) {
    out.print("  {:<10}{:>14} ids, {}, filter {}\n", run.mark.number, grouped(run.mark.ids),
              bytes_text(run.mark.size), bytes_text(run.filter_bytes));
  }
  out.print("log         {}, {} that are in no run\n", bytes_text(figures.log_bytes),
            counted(figures.log_entries, "id", "ids"));
  out.print("in memory   {}, {} of it filters\n", bytes_text(figures.memory_bytes),
            bytes_text(figures.filter_bytes));
  return {};
}

}  // namespace meguri::app
