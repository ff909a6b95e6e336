#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/archive_contents.h"
#include "app/command.h"
#include "app/crawl_judgement.h"
#include "app/demo_run.h"
#include "app/stop_signals.h"
#include "app/tour.h"
#include "app/values.h"
#include "env/posix_file_system.h"
#include "env/scratch_folder.h"

namespace meguri::app {
namespace {

constexpr std::uint64_t kPages = 2'500;
constexpr std::uint64_t kPagesMin = 100;
constexpr std::uint64_t kPagesMax = 100'000;
constexpr std::uint64_t kSpaceMin = 1'200'000'000;  // a crawl leaves 1 GiB of the disk free
constexpr std::size_t kExamples = 3;                // shown of what went wrong
constexpr std::size_t kTableLines = 8;              // shown of a table
constexpr const char* kHtml = "text/html";

// "1,204 text/html, 633 image/png": the largest first.
template <typename Key>
std::string listed(const std::map<Key, std::uint64_t>& counts) {
  std::vector<std::pair<std::uint64_t, Key>> list;
  for (const auto& [key, count] : counts) list.emplace_back(count, key);
  std::ranges::sort(list, std::ranges::greater());
  std::string text;
  for (const auto& [count, key] : list) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", grouped(count), key);
  }
  return text;
}

// Takes the first line of `text`, without its end.
std::string_view take_line(std::string_view* text) {
  const std::size_t end = std::min(text->find('\n'), text->size());
  std::string_view line = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// By ISO 639, for the languages that the virtual web has.
std::string language_name(const std::string& code) {
  static const std::map<std::string, std::string> names = {{"de", "German"},   {"en", "English"},
                                                           {"es", "Spanish"},  {"fr", "French"},
                                                           {"ja", "Japanese"}, {"ru", "Russian"}};
  const auto found = names.find(code);
  return found == names.end() ? code : found->second;
}

std::string robots_text(const WorldFacts& facts) {
  std::string text = "on " + counted(facts.hosts_with_robots, "host");
  if (facts.hosts_with_delay > 0) {
    text += fmt::format("; {} for a delay, of up to {:.0f} s",
                        facts.hosts_with_delay == 1
                            ? "1 asks"
                            : fmt::format("{} of them ask", facts.hosts_with_delay),
                        facts.delay_max.in_seconds());
  }
  return text;
}

// One tour, in steps that build on each other.
class Demo {
 public:
  Demo(Tour& tour, DemoRun& run, bool is_kept) : tour_(tour), run_(run), is_kept_(is_kept) {}

  base::Status show();
  const nlohmann::json& result() const { return result_; }

 private:
  struct Step {
    const char* title;
    base::Status (Demo::*show)();
  };

  base::Status show_web();
  base::Status crawl_half();
  base::Status kill_and_go_on();
  base::Status judge_crawl();
  base::Status show_archive();
  base::Status show_scan();
  base::Status show_next();

  DemoRun::Watcher watcher();
  void check(bool holds, const std::string& name, const std::string& what);
  void show_verdict(const CrawlJudgement& judgement);
  void keep_numbers(const CrawlJudgement& judgement);
  void show_page(const KeptPage& page);

  Tour& tour_;
  DemoRun& run_;
  const bool is_kept_;
  std::vector<sim::Reached> truth_;  // when the crawl began
  bool is_over_ = false;             // the crawl, before it could be killed
  std::optional<ArchiveContents> archive_;
  std::size_t failed_checks_ = 0;
  nlohmann::json result_ = nlohmann::json::object();
};

base::Status Demo::show() {
  // What comes later (the dashboard) is a line here and a function of this class.
  static constexpr Step kSteps[] = {
      {"A web of which all is known", &Demo::show_web},
      {"A crawl of it", &Demo::crawl_half},
      {"kill -9, and on", &Demo::kill_and_go_on},
      {"Was it complete? Was it polite?", &Demo::judge_crawl},
      {"What the archive holds", &Demo::show_archive},
      {"A program over every page of it", &Demo::show_scan},
      {"Your own crawl", &Demo::show_next},
  };
  tour_.open("Meguri, a tour",
             "All of it happens on this machine, without internet, in about a minute. Every "
             "number is measured in this run.");
  std::size_t number = 0;
  for (const Step& step : kSteps) {
    tour_.step(++number, step.title);
    RETURN_IF_ERROR((this->*step.show)());
  }
  result_["seconds"] = run_.seconds();
  result_["ok"] = failed_checks_ == 0;
  if (failed_checks_ == 0) return {};
  return base::fail(base::ErrorCode::kFailed,
                    "{} did not hold, see FAILED above; please report it with the files that "
                    "--keep DIR keeps",
                    counted(failed_checks_, "check"));
}

void Demo::check(bool holds, const std::string& name, const std::string& what) {
  tour_.check(holds, what);
  result_["checks"][name] = holds;
  if (!holds) ++failed_checks_;
}

base::Status Demo::show_web() {
  RETURN_IF_ERROR(run_.start_web());
  truth_ = truth_of(run_.web().world(), run_.seed(), run_.web_time());
  const WorldFacts facts = run_.web().facts();
  const TruthFacts truth = facts_of(truth_);
  const sim::Census& census = run_.web().world().census();
  tour_.say(
      fmt::format("On the real web nobody can say what a crawl has missed. So Meguri brings a "
                  "web of its own, which now runs in another process, with its own servers and "
                  "names on this machine. Its clock is {} times as fast as yours, and so is "
                  "the crawler's.",
                  DemoWorld::kSpeed));
  tour_.gap();
  tour_.fact("hosts", fmt::format("{} on {} servers", census.hosts(), census.servers()));
  tour_.fact("pages",
             fmt::format("{} in {}", grouped(census.pages()), fmt::join(facts.languages, ", ")));
  tour_.fact("charsets",
             fmt::format("{}; {} a wrong one", fmt::join(facts.charsets, ", "),
                         facts.hosts_with_wrong_charset == 1
                             ? "1 host declares"
                             : counted(facts.hosts_with_wrong_charset, "host") + " declare"));
  tour_.fact("robots.txt", robots_text(facts));
  tour_.fact("to be found",
             fmt::format("{} addresses can be reached and may be visited: {} pages, {} images, "
                         "styles and scripts, {} redirects, {} dead links, {} that fail",
                         grouped(truth_.size()), grouped(truth.pages), grouped(truth.embeds),
                         grouped(truth.redirects), grouped(truth.dead), grouped(truth.failing)));
  result_["hosts"] = census.hosts();
  result_["servers"] = census.servers();
  result_["pages"] = census.pages();
  return {};
}

DemoRun::Watcher Demo::watcher() {
  return [this](const DemoRun::Standing& standing) {
    const double share =
        static_cast<double>(standing.addresses) / static_cast<double>(truth_.size());
    tour_.live(standing.now, std::min(share, 1.0),
               fmt::format("{} visited on {} hosts, {:.0f}/s", grouped(standing.addresses),
                           standing.hosts, standing.requests_per_second));
  };
}

base::Status Demo::crawl_half() {
  tour_.say(
      "The crawler is told one page, and follows every link that it may. After each answer it "
      "leaves a host alone for at least 5 s, a slow host or one that asks for it longer, and a "
      "server for 1 s. It goes fast only because there are many.");
  tour_.gap();
  tour_.command(fmt::format("meguri crawl {} --once --scope any ...", run_.seed()));
  tour_.gap();
  RETURN_IF_ERROR(run_.start_crawl());
  ASSIGN_OR_RETURN(is_over_, run_.watch_crawl(truth_.size() / 2, watcher()));
  tour_.say(fmt::format("{} requests so far.", grouped(run_.requests())));
  return {};
}

base::Status Demo::kill_and_go_on() {
  if (is_over_) {
    tour_.say("The crawl was over before it could be killed.");
    return {};
  }
  RETURN_IF_ERROR(run_.kill_crawl());
  result_["killed_at"] = run_.addresses();
  tour_.say(
      "The crawler has just been killed, without a moment to save anything: requests were under "
      "way, records half written. Now the same command again. It cuts its files to what was safe "
      "on disk, lets every host rest for its full time, and goes on.");
  tour_.gap();
  RETURN_IF_ERROR(run_.start_crawl());
  RETURN_IF_ERROR(run_.watch_crawl(std::nullopt, watcher()));
  tour_.say(fmt::format("It ended by itself after {:.0f} s in all: nothing is left to visit.",
                        run_.crawl_seconds()));
  return {};
}

void Demo::show_verdict(const CrawlJudgement& judgement) {
  const auto show_some = [this](const std::vector<std::string>& urls) {
    for (std::size_t i = 0; i < std::min(urls.size(), kExamples); ++i) {
      tour_.quote(printable(urls[i]));
    }
  };
  check(judgement.missing.empty(), "complete",
        fmt::format("{} of {} reachable addresses are in the WARC files",
                    grouped(judgement.expected - judgement.missing.size()),
                    grouped(judgement.expected)));
  show_some(judgement.missing);
  check(judgement.unfollowed == 0, "followed",
        fmt::format("{} links of the answers were left out", grouped(judgement.unfollowed)));
  check(judgement.twice.empty(), "once",
        fmt::format(
            "{} are there twice; after the kill {} made again", grouped(judgement.twice.size()),
            judgement.asked_again == 1 ? "1 request was"
                                       : counted(judgement.asked_again, "request") + " were"));
  show_some(judgement.twice);
  check(judgement.is_polite(), "polite",
        fmt::format("{} breaches of politeness in {} requests, by the servers' log",
                    grouped(judgement.politeness.total()), grouped(judgement.requests)));
  for (std::size_t i = 0; i < std::min(judgement.politeness.breaches.size(), kExamples); ++i) {
    tour_.quote(printable(judgement.politeness.breaches[i].why));
  }
}

void Demo::keep_numbers(const CrawlJudgement& judgement) {
  result_["reachable"] = judgement.expected;
  result_["missing"] = judgement.missing.size();
  result_["unfollowed"] = judgement.unfollowed;
  result_["twice"] = judgement.twice.size();
  result_["requests"] = judgement.requests;
  result_["asked_again"] = judgement.asked_again;
  result_["breaches"] = judgement.politeness.total();
  result_["smallest_gap_s"] = judgement.least_gap.in_seconds();
  result_["crawl_seconds"] = run_.crawl_seconds();
}

base::Status Demo::judge_crawl() {
  tour_.say(
      "Every record of the archive is now read back and held against what the web knows of "
      "itself, and the log of its servers against the rules.");
  tour_.gap();
  // Links change while a crawl goes on. What could be reached at its beginning and still at its
  // end must be there; and all that any answer led to must have been asked for.
  std::set<std::string> at_end;
  for (const auto& one : truth_of(run_.web().world(), run_.seed(), run_.web_time())) {
    at_end.insert(url_of(one, run_.port()));
  }
  std::erase_if(
      truth_, [&](const sim::Reached& one) { return !at_end.contains(url_of(one, run_.port())); });
  ASSIGN_OR_RETURN(const std::vector<sim::Access> log, run_.stop_web());
  ASSIGN_OR_RETURN(archive_, read_archive(run_.files(), run_.path("archive/warc")));
  const CrawlJudgement judgement =
      judge({run_.web().world(), run_.seed(), run_.port(), log, truth_, *archive_});
  show_verdict(judgement);
  tour_.gap();
  tour_.fact("smallest gap", fmt::format("{:.2f} s from an answer of a host to the next request",
                                         judgement.least_gap.in_seconds()));
  tour_.fact("speed", fmt::format("{:.0f} requests/s to {} hosts, {:.0f} minutes by their clock",
                                  static_cast<double>(judgement.requests) / run_.crawl_seconds(),
                                  judgement.hosts, judgement.span.in_seconds() / 60));
  keep_numbers(judgement);
  return {};
}

void Demo::show_page(const KeptPage& page) {
  constexpr std::size_t kTextLines = 2;
  tour_.gap();
  tour_.say(fmt::format("One page, read back from its record. It came in {}, and is in {}:",
                        page.charset, language_name(page.language)));
  tour_.gap();
  tour_.quote(printable(page.title));
  std::string_view text = page.text;
  if (text.starts_with(page.title)) take_line(&text);  // its heading
  for (std::size_t i = 0; i < kTextLines && !text.empty(); ++i) {
    tour_.quote(printable(take_line(&text)));
  }
  const std::size_t shown = std::min(page.links.size(), kExamples);
  for (std::size_t i = 0; i < shown; ++i) tour_.quote("-> " + printable(page.links[i]));
  if (page.links.size() > shown) {
    tour_.quote(fmt::format("and {} more links", page.links.size() - shown));
  }
  tour_.gap();
  tour_.say(
      fmt::format("The head of that record, at byte {} of {}:", grouped(page.offset), page.file));
  tour_.gap();
  std::string_view head = page.record_head;
  while (!head.empty()) tour_.quote(printable(take_line(&head)));
}

base::Status Demo::show_archive() {
  tour_.fact("files",
             fmt::format("{} in WARC 1.1, {}, from answers of {}", archive_->files.size(),
                         bytes_text(archive_->file_bytes()), bytes_text(archive_->payload_bytes)));
  tour_.fact("records", listed(archive_->records));
  tour_.fact("by status", listed(archive_->statuses));
  tour_.fact("by type", listed(archive_->types));
  std::map<std::string, std::uint64_t> languages;
  for (const auto& [code, count] : archive_->languages) languages[language_name(code)] += count;
  tour_.fact("by language", listed(languages));
  tour_.gap();
  check(archive_->damaged == 0, "whole",
        fmt::format("{} of {} records are damaged, though the writer was killed",
                    grouped(archive_->damaged), grouped(archive_->record_count())));
  if (archive_->sample) show_page(*archive_->sample);
  result_["warc_files"] = archive_->files.size();
  result_["warc_bytes"] = archive_->file_bytes();
  result_["records"] = archive_->records;
  result_["languages"] = archive_->languages;
  return {};
}

base::Status Demo::show_scan() {
  tour_.say(
      "A snapshot is what that web was at a moment; here, by the newest visits. Any program can be "
      "run over its documents, on "
      "all cores; this one is built in:");
  tour_.gap();
  tour_.command("meguri scan archive --mime text/html count-by language month");
  tour_.gap();
  const std::string archive = run_.path("archive");
  ASSIGN_OR_RETURN(const std::string urls, run_.ask({"snapshot", archive, "--mime", kHtml}));
  ASSIGN_OR_RETURN(const std::string table, run_.ask({"scan", archive, "--mime", kHtml, "--quiet",
                                                      "count-by", "language", "month"}));
  std::uint64_t counted_documents = 0;
  std::size_t lines = 0;
  std::string_view rest = table;
  while (!rest.empty()) {
    const std::string_view line = take_line(&rest);
    ASSIGN_OR_RETURN(const std::uint64_t count,
                     parse_count("count-by", line.substr(line.rfind('\t') + 1)));
    counted_documents += count;
    if (++lines > kTableLines) continue;
    std::string shown(line);
    std::ranges::replace(shown, '\t', ' ');
    tour_.quote(printable(shown));
  }
  if (lines > kTableLines) tour_.quote(fmt::format("and {} more lines", lines - kTableLines));
  tour_.gap();
  const auto documents = static_cast<std::uint64_t>(std::ranges::count(urls, '\n'));
  check(documents > 0 && counted_documents == documents, "scanned",
        fmt::format("{} of {} documents of the snapshot were counted once",
                    grouped(counted_documents), grouped(documents)));
  result_["documents"] = documents;
  return {};
}

base::Status Demo::show_next() {
  tour_.say("What Meguri sees in a page, a crawl of its host, and a look at what was kept:");
  tour_.gap();
  tour_.command("./meguri inspect https://www.example.com/");
  tour_.command("./meguri crawl https://www.example.com/ --archive example --once");
  tour_.command("zcat example/warc/*.warc.gz | less");
  tour_.gap();
  tour_.say(
      "Ctrl-C stops the crawl, the same command goes on. Let --user-agent say who you are. Any "
      "tool for WARC files reads the archive, such as warcio: 'pip install warcio', 'warcio index "
      "example/warc/*.warc.gz'.");
  tour_.gap();
  if (is_kept_) {
    tour_.say(
        fmt::format("The files of this tour are in {}: archive/warc/ and access.log, what "
                    "the servers saw. 'rm -r {}' removes them.",
                    run_.folder(), run_.folder()));
  } else {
    tour_.say("The files of this tour are removed now; with --keep DIR they stay.");
  }
  return {};
}

class DemoCommand final : public Command {
 public:
  void declare(Options options) override {
    options.option("--keep", "DIR", keep_,
                   "Keep the files in this new folder (default: they are removed at the end)");
    options.option("--pages", "N", pages_, "How many pages its web has (default: 2500)");
    options.flag("--json", json_, "Print one JSON object; the tour goes to stderr");
  }

  base::Status run(Output& out) override {
    std::uint64_t pages = kPages;
    if (!pages_.empty()) {
      ASSIGN_OR_RETURN(pages, parse_count("--pages", pages_));
    }
    if (pages < kPagesMin || pages > kPagesMax) {
      return base::fail(base::ErrorCode::kInvalid, "--pages takes {} to {}, not {}",
                        grouped(kPagesMin), grouped(kPagesMax), pages_);
    }
    const bool is_kept = !keep_.empty();
    const StopSignals signals;
    auto folder =
        is_kept ? env::ScratchFolder::make_at(keep_) : env::ScratchFolder::make("meguri-demo");
    if (!folder) return std::unexpected(folder.error());
    if (is_kept) folder->keep();
    env::PosixFileSystem files;
    ASSIGN_OR_RETURN(const std::uint64_t space, files.free_space(folder->path()));
    if (space < kSpaceMin) {
      return base::fail(base::ErrorCode::kNoSpace,
                        "the disk of {} has {} left, and the tour wants {}; {} names another place",
                        env::parent_of(folder->path()), bytes_text(space), bytes_text(kSpaceMin),
                        is_kept ? "--keep" : "--keep or TMPDIR");
    }
    Output errors(stderr);
    Tour tour(json_ ? errors : out, TourStyle::of(json_ ? STDERR_FILENO : STDOUT_FILENO));
    DemoRun run(signals, folder->path(), pages);
    Demo demo(tour, run, is_kept);
    base::Status status = demo.show();
    tour.gap();
    if (!status && status.error().code() == base::ErrorCode::kStopped) {
      return base::fail(
          base::ErrorCode::kStopped, "stopped before the end; {}",
          is_kept ? "what it made is in " + folder->path() : "what it made is removed");
    }
    if (json_ && demo.result().contains("ok")) out.print("{}\n", demo.result().dump());
    return status;
  }

 private:
  std::string keep_;
  std::string pages_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_demo_command() { return std::make_unique<DemoCommand>(); }

}  // namespace meguri::app
