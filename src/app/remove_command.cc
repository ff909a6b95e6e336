#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "app/archive_door.h"
#include "app/command.h"
#include "app/figures.h"
#include "app/page_removal.h"
#include "app/parallel_work.h"
#include "app/stop_signals.h"
#include "archive/removals.h"
#include "env/clock.h"
#include "env/posix_file_system.h"

namespace meguri::app {
namespace {

using archive::Removal;
using archive::RemovalKind;
using archive::Removals;
using base::ErrorCode;
using Json = nlohmann::ordered_json;

// Who runs this program.
std::string login_name() {
  const passwd* const user = ::getpwuid(::geteuid());
  return user != nullptr ? user->pw_name : fmt::format("user {}", ::geteuid());
}

class RemoveCommand final : public Command {
 public:
  void declare(Options options) override {
    options.argument("DIR", archive_, "The archive; no crawl may run on it");
    options.option("--url", "URL", texts_[0].second, "One page, by http and https");
    options.option("--prefix", "URL", texts_[1].second, "All pages whose URLs begin so");
    options.option("--host", "HOST", texts_[2].second, "All pages of a host");
    options.option("--domain", "NAME", texts_[3].second, "The host of that name and all below it");
    options.option("--reason", "TEXT", reason_, "Why; it is kept with the removal");
    options.flag("--rewrite", rewrites_,
                 "Take the records out of the files too; alone: those of earlier removals that "
                 "said so");
    options.flag("--no-exclude", keeps_visiting_,
                 "Let crawls go on visiting it; its pages stay out of the index all the same");
    options.flag("--dry-run", is_dry_, "Change nothing, and say what would go");
    options.option("--workers", "N", workers_, "Threads; as many as there are cores if not said");
    options.flag("--json", json_, "Print one JSON object");
    options.flag("--quiet", quiet_, "Say nothing while it works");
  }

  base::Status run(Output& out) override;

 private:
  base::Result<std::optional<Removal>> wanted() const;
  base::Status carry_out(PageRemoval& removal, env::FileSystem& files, std::size_t workers);
  base::Status take_down(PageRemoval& removal, const Removal& what);
  base::Status rewrite(PageRemoval& removal, env::FileSystem& files, std::size_t workers);
  void print(const PageRemoval& removal, Output& out) const;
  void print_index(Output& out) const;
  void print_files(const PageRemoval& removal, Output& out) const;
  void print_json(const PageRemoval& removal, Output& out) const;

  std::string archive_;
  std::pair<RemovalKind, std::string> texts_[4] = {{RemovalKind::kUrl, {}},
                                                   {RemovalKind::kPrefix, {}},
                                                   {RemovalKind::kHost, {}},
                                                   {RemovalKind::kDomain, {}}};
  std::string reason_;
  std::string workers_;
  bool rewrites_ = false;
  bool keeps_visiting_ = false;
  bool is_dry_ = false;
  bool json_ = false;
  bool quiet_ = false;

  base::Instant now_;
  std::optional<Removal> what_;
  std::uint64_t entries_ = 0;  // that left the index
  PageRemoval::Dangling dangling_;
};

// Nullopt: only what earlier removals left is to be done.
base::Result<std::optional<Removal>> RemoveCommand::wanted() const {
  std::optional<Removal> removal;
  for (const auto& [kind, text] : texts_) {
    if (text.empty()) continue;
    if (removal) {
      return base::fail(ErrorCode::kInvalid,
                        "say one of --url, --prefix, --host and --domain at a time");
    }
    ASSIGN_OR_RETURN(removal, Removal::make(kind, text));
  }
  if (!removal && !rewrites_) {
    return base::fail(ErrorCode::kInvalid,
                      "say what is to be removed, by --url, --prefix, --host or --domain");
  }
  if (!removal) return removal;
  removal->date = base::Instant::from_ms(now_.ms() - now_.ms() % 1000);
  removal->by = login_name();
  removal->reason = reason_;
  removal->rewrites = rewrites_;
  return removal;
}

base::Status RemoveCommand::run(Output& out) {
  ASSIGN_OR_RETURN(const std::size_t workers, parse_workers(workers_));
  while (archive_.size() > 1 && archive_.ends_with('/')) archive_.pop_back();
  now_ = env::RealClock().utc();
  ASSIGN_OR_RETURN(what_, wanted());
  env::PosixFileSystem files;
  ASSIGN_OR_RETURN(const auto lock, lock_idle_archive(files, archive_, "remove"));
  // They end neither the index's own threads, which are of this one, nor its last flush.
  const StopSignals signals(StopSignals::Rest::kDropped);
  PageRemoval removal(files, signals, archive_, is_dry_);
  const auto status = carry_out(removal, files, workers);
  if (!status && status.error().code() == ErrorCode::kStopped) {
    return base::fail(ErrorCode::kStopped, "stopped; the same command goes on where it was");
  }
  RETURN_IF_ERROR(status);
  json_ ? print_json(removal, out) : print(removal, out);
  std::uint64_t stuck = 0;
  for (const auto& [path, file] : removal.rewritten()) stuck += file.stuck.size();
  if (stuck == 0 || is_dry_) return {};
  return base::fail(ErrorCode::kFailed, "{} not be taken out of the files",
                    counted(stuck, "record could", "records could"));
}

base::Status RemoveCommand::carry_out(PageRemoval& removal, env::FileSystem& files,
                                      std::size_t workers) {
  // First what makes it last: from here on the same command goes on after a crash.
  if (what_) RETURN_IF_ERROR(removal.record(*what_));
  if (what_ && !keeps_visiting_) RETURN_IF_ERROR(removal.exclude(*what_));
  RETURN_IF_ERROR(removal.open_index());
  if (what_) RETURN_IF_ERROR(take_down(removal, *what_));
  return rewrite(removal, files, workers);
}

base::Status RemoveCommand::take_down(PageRemoval& removal, const Removal& what) {
  ASSIGN_OR_RETURN(entries_, removal.remove_entries(what));
  Removals meant;
  meant.add(what);
  ASSIGN_OR_RETURN(dangling_, removal.find_dangling(meant));
  return {};
}

base::Status RemoveCommand::rewrite(PageRemoval& removal, env::FileSystem& files,
                                    std::size_t workers) {
  if (!rewrites_) return {};
  ASSIGN_OR_RETURN(const Removals recorded, Removals::load(files, archive_));
  Removals removals = recorded.rewriting();
  if (what_) removals.add(*what_);  // a dry run has recorded nothing
  return removal.rewrite(removals, now_, workers, quiet_);
}

void RemoveCommand::print(const PageRemoval& removal, Output& out) const {
  if (what_) print_index(out);
  if (rewrites_) print_files(removal, out);
}

void RemoveCommand::print_index(Output& out) const {
  out.print("{} {} {}{} the index.\n", name_of(what_->kind), printable(what_->what),
            counted(entries_, "entry", "entries"), is_dry_ ? " would leave" : " left");
  if (dangling_.visits > 0) {
    out.print("{} of other pages refer to content of it, and can not be shown without:\n",
              counted(dangling_.visits, "visit", "visits"));
    for (const std::string& url : dangling_.urls) out.print("  {}\n", printable(url));
  }
  if (is_dry_) return;
  if (!keeps_visiting_) {
    out.print("Crawls of this archive do not visit it any more ({}/exclusions.txt).\n",
              printable(archive_));
  }
  if (!rewrites_) out.print("Its records are still in the files; --rewrite takes them out.\n");
}

void RemoveCommand::print_files(const PageRemoval& removal, Output& out) const {
  std::uint64_t records = 0;
  std::uint64_t files = 0;
  for (const auto& [path, file] : removal.rewritten()) {
    if (file.is_reference) {
      out.print("{}: {} in it, which is not the archive's own and stays as it is.\n",
                printable(path),
                counted(file.records + file.stuck.size(), "record stands", "records stand"));
      continue;
    }
    for (const std::uint64_t offset : file.stuck) {
      out.print(
          "{} at {}: this record cannot be taken out by itself; 'meguri import {} --remove "
          "{}' takes out the whole file, if it was imported.\n",
          printable(path), offset, printable(archive_), printable(path));
    }
    records += file.records;
    if (file.records > 0) ++files;
  }
  out.print("{}{} out of {}.\n", counted(records, "record", "records"),
            is_dry_ ? " would be taken" : " taken", counted(files, "file", "files"));
}

void RemoveCommand::print_json(const PageRemoval& removal, Output& out) const {
  Json json = Json::object();
  if (what_) {
    json[std::string(name_of(what_->kind))] = what_->what;
    json["entries"] = entries_;
    json["excluded"] = !keeps_visiting_ && !is_dry_;
    json["dangling"] = dangling_.visits;
    json["dangling_urls"] = dangling_.urls;
  }
  json["dry_run"] = is_dry_;
  json["files"] = Json::array();
  for (const auto& [path, file] : removal.rewritten()) {
    json["files"].push_back({{"file", path},
                             {"records", file.records},
                             {"bytes", file.bytes},
                             {"is_reference", file.is_reference},
                             {"stuck", file.stuck}});
  }
  out.print("{}\n", json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

std::unique_ptr<Command> make_remove_command() { return std::make_unique<RemoveCommand>(); }

}  // namespace meguri::app
