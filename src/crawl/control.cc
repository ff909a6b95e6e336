#include "crawl/control.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "web/canonical.h"
#include "web/url.h"

namespace meguri::crawl {

using base::ErrorCode;

namespace {

std::uint64_t hash_of_row(const HostRow& row) { return host_hash_of(row.pages.host); }

// "0.93 GB", in decimal units, as disks are sold.
std::string bytes_text(std::uint64_t bytes) {
  const auto number = static_cast<double>(bytes);
  if (bytes >= 1'000'000'000) return fmt::format("{:.2f} GB", number / 1e9);
  if (bytes >= 1'000'000) return fmt::format("{:.1f} MB", number / 1e6);
  return fmt::format("{} bytes", bytes);
}

}  // namespace

// Only one that has started: a graph makes modules also to print them.
Control::~Control() {
  if (!is_open_) return;
  mailbox_->close();
  for (auto& [ticket, pending] : pending_) pending.done(crawl_has_ended());
}

base::Status Control::start() {
  if (!state_dir().empty()) {
    ASSIGN_OR_RETURN(pauses_, load_pauses(files(), state_dir()));
  }
  is_open_ = true;
  mailbox_->open(waker());
  if (options_.free_bytes_min > 0 && !options_.disk.empty()) set_timer_after({}, 0);
  return {};
}

bool Control::produce() {
  while (pending_.size() < kPendingMax) {
    auto posted = mailbox_->take();
    if (!posted) break;
    begin(*std::move(posted));
  }
  tell_of_disk();
  return false;
}

// --- Requests.

void Control::begin(ControlMailbox::Posted&& posted) {
  const Ticket ticket = ++last_ticket_;
  const PendingAt at = pending_.try_emplace(ticket).first;
  Pending& pending = at->second;
  pending.request = std::move(posted.request);
  pending.done = std::move(posted.done);
  const base::Status status =
      std::visit([&](const auto& request) { return begin_request(ticket, pending, request); },
                 pending.request);
  if (status) return settle(at);
  auto ended = pending_.extract(at);
  ended.mapped().done(std::unexpected(status.error()));
}

base::Status Control::begin_request(Ticket ticket, Pending& pending, const AddSeeds& request) {
  if (request.urls.size() > AddSeeds::kUrlsMax) {
    return base::fail(ErrorCode::kInvalid, "at most {} URLs can be added at once",
                      AddSeeds::kUrlsMax);
  }
  pending.is_last = true;
  ++pending.awaited;
  ask_seeder.emit({ticket, request.urls});
  return {};
}

base::Status Control::begin_request(Ticket ticket, Pending& pending, const AskWhy& request) {
  const auto url = web::Url::parse(request.url);
  if (!url || !url->is_http()) {
    return base::fail(ErrorCode::kInvalid, "{} is no http or https URL", base::quoted(request.url));
  }
  const web::Url canonical = web::canonical(*url);
  WhyFacts facts;
  facts.url = canonical.href();
  RegistryQuestion question{.ticket = ticket};
  question.page = page_id_of(facts.url);
  question.key = question.page->high;
  question.page_host = canonical.host();
  question.hosts = {host_hash_of(canonical.host())};
  pending.reply = std::move(facts);
  ++pending.awaited;
  ask_registry.emit(std::move(question));
  return {};
}

base::Status Control::begin_request(Ticket ticket, Pending& pending, const AskHosts& request) {
  HostList list;
  const std::size_t limit = std::min(request.limit, kHostRowsMax);
  for (const std::string& host : request.hosts) {
    if (list.rows.size() == limit) break;
    list.rows.emplace_back().pages.host = host;
  }
  pending.reply = std::move(list);
  if (!request.hosts.empty()) return {};
  const bool by_pages = request.order == HostOrder::kWaiting || request.order == HostOrder::kPages;
  if (by_pages) {
    RegistryQuestion question{.ticket = ticket};
    question.order = request.order;
    question.limit = limit;
    send(pending, std::move(question));
  } else {
    HostQuestion question{.ticket = ticket};
    question.order = request.order;
    question.limit = limit;
    ++pending.awaited;
    ask_hosts.emit(std::move(question));
  }
  return {};
}

// On disk before anybody hears of it.
base::Status Control::begin_request(Ticket ticket, Pending& pending, const ChangePause& request) {
  PauseState next = pauses_;
  RETURN_IF_ERROR(change(next, request.is_paused, request.hosts));
  if (next != pauses_ && !state_dir().empty()) {
    RETURN_IF_ERROR(save_pauses(files(), state_dir(), next));
  }
  pauses_ = std::move(next);
  pending.is_last = true;
  SchedulerQuestion question{.ticket = ticket};
  question.order = order();
  send(pending, std::move(question));
  return {};
}

// --- Questions.

void Control::send(Pending& pending, RegistryQuestion&& question) {
  for (std::size_t part = 0; part < options_.registries; ++part) {
    question.key = key_of_part(part, options_.registries);
    ++pending.awaited;
    ask_registry.emit(question);
  }
}

void Control::send(Pending& pending, SchedulerQuestion&& question) {
  for (std::size_t part = 0; part < options_.schedulers; ++part) {
    question.key = key_of_part(part, options_.schedulers);
    ++pending.awaited;
    ask_scheduler.emit(question);
  }
}

// All answers of a round are there.
void Control::settle(PendingAt pending) {
  if (pending->second.awaited > 0) return;
  if (!pending->second.is_last) go_on(pending->first, pending->second);
  if (pending->second.awaited == 0) finish(pending);
}

void Control::go_on(Ticket ticket, Pending& pending) {
  pending.is_last = true;
  if (const auto* facts = std::get_if<WhyFacts>(&pending.reply)) {
    ask_why(ticket, pending, *facts);
  } else if (auto* list = std::get_if<HostList>(&pending.reply)) {
    ask_rows(ticket, pending, *list);
  }
}

// A page that is not known is judged as if a page in the scope linked to it.
void Control::ask_why(Ticket ticket, Pending& pending, const WhyFacts& facts) {
  const base::Id id = page_id_of(facts.url);
  const auto url = web::Url::parse(facts.url);
  Candidate candidate;
  candidate.url = facts.url;
  candidate.offer = Offer::kLink;
  candidate.depth = 1;
  if (facts.page) candidate = facts.page->record.candidate;
  pending.awaited += 2;
  ask_filter.emit({ticket, std::move(candidate)});
  HostQuestion host{.ticket = ticket};
  host.url = facts.url;
  host.page = id;
  ask_hosts.emit(std::move(host));
  SchedulerQuestion access{.ticket = ticket};
  access.hosts = {host_hash_of(url ? url->host() : "")};
  access.page = id;
  send(pending, std::move(access));
}

void Control::ask_rows(Ticket ticket, Pending& pending, HostList& list) {
  // Several Registries may each have named a host.
  const auto& request = std::get<AskHosts>(pending.request);
  std::erase_if(list.rows, [](const HostRow& row) { return row.pages.host.empty(); });
  if (list.rows.size() > request.limit) list.rows.resize(request.limit);
  if (list.rows.empty()) return;
  RegistryQuestion pages{.ticket = ticket};
  HostQuestion facts{.ticket = ticket};
  for (HostRow& row : list.rows) {
    row.pages = {.host = row.pages.host};  // it may have changed since
    pages.hosts.push_back(hash_of_row(row));
    facts.hosts.push_back(row.pages.host);
  }
  SchedulerQuestion access{.ticket = ticket};
  access.hosts = pages.hosts;
  send(pending, std::move(pages));
  send(pending, std::move(access));
  ++pending.awaited;
  ask_hosts.emit(std::move(facts));
}

void Control::finish(PendingAt pending) {
  auto ended = pending_.extract(pending);
  ControlReply reply = std::move(ended.mapped().reply);
  if (auto* facts = std::get_if<WhyFacts>(&reply)) {
    const auto url = web::Url::parse(facts->url);
    facts->is_paused = pauses_.all || (url && is_paused(std::string(url->host())));
    facts->disk = disk_;
    facts->now = clock().ticks();
  }
  if (auto* list = std::get_if<HostList>(&reply)) {
    std::erase_if(list->rows, [](const HostRow& row) {
      return row.pages.pages == 0 && !row.facts && !row.access;  // nobody knows it
    });
    for (HostRow& row : list->rows) row.is_paused = pauses_.all || is_paused(row.pages.host);
    list->now = clock().ticks();
    list->pauses = pauses_;
    list->disk = disk_;
  }
  if (std::holds_alternative<ChangePause>(ended.mapped().request)) reply = pauses_;
  ended.mapped().done(std::move(reply));
}

// --- Answers.

void Control::on_registry(RegistryAnswer&& answer) {
  ask_registry.give_back();
  const PendingAt at = pending_.find(answer.ticket);
  CHECK(at != pending_.end(), "an answer came that was not asked for");
  Pending& pending = at->second;
  --pending.awaited;
  if (auto* facts = std::get_if<WhyFacts>(&pending.reply)) {
    facts->page = std::move(answer.page);
    facts->is_full = answer.is_full;
    facts->is_host_full = answer.is_host_full;
  } else if (auto* list = std::get_if<HostList>(&pending.reply)) {
    for (HostPages& pages : answer.hosts) {
      const auto row = std::ranges::find(list->rows, pages.host,
                                         [](const HostRow& each) { return each.pages.host; });
      if (row == list->rows.end()) {
        list->rows.emplace_back().pages = std::move(pages);
      } else {
        row->pages.pages += pages.pages;
        row->pages.waiting += pages.waiting;
        row->pages.out += pages.out;
        row->pages.hints = revisit::joined(row->pages.hints, pages.hints);
      }
    }
  }
  settle(at);
}

void Control::on_filter(FilterAnswer&& answer) {
  ask_filter.give_back();
  const PendingAt at = pending_.find(answer.ticket);
  CHECK(at != pending_.end(), "an answer came that was not asked for");
  --at->second.awaited;
  auto& facts = std::get<WhyFacts>(at->second.reply);
  facts.reason = answer.reason;
  facts.has_verdict = true;
  settle(at);
}

void Control::on_hosts(HostAnswer&& answer) {
  ask_hosts.give_back();
  const PendingAt at = pending_.find(answer.ticket);
  CHECK(at != pending_.end(), "an answer came that was not asked for");
  Pending& pending = at->second;
  --pending.awaited;
  if (auto* facts = std::get_if<WhyFacts>(&pending.reply)) {
    if (!answer.hosts.empty()) facts->host = std::move(answer.hosts.front());
    facts->site = std::move(answer.site);
    facts->line = answer.line;
  } else if (auto* list = std::get_if<HostList>(&pending.reply)) {
    if (list->rows.empty()) {
      for (const HostFacts& host : answer.hosts) list->rows.emplace_back().pages.host = host.name;
    }
    for (HostFacts& host : answer.hosts) {
      const auto row = std::ranges::find(list->rows, host.name,
                                         [](const HostRow& each) { return each.pages.host; });
      if (row != list->rows.end()) row->facts = std::move(host);
    }
  }
  settle(at);
}

void Control::on_scheduler(SchedulerAnswer&& answer) {
  ask_scheduler.give_back();
  if (answer.ticket == kDiskTicket) {
    --disk_awaited_;
    return;
  }
  const PendingAt at = pending_.find(answer.ticket);
  CHECK(at != pending_.end(), "an answer came that was not asked for");
  Pending& pending = at->second;
  --pending.awaited;
  if (auto* facts = std::get_if<WhyFacts>(&pending.reply)) {
    if (!answer.hosts.empty()) facts->access = answer.hosts.front();
    facts->at_scheduler = facts->at_scheduler || answer.holds_page;
  } else if (auto* list = std::get_if<HostList>(&pending.reply)) {
    for (const HostAccess& access : answer.hosts) {
      const auto row = std::ranges::find(list->rows, access.host, hash_of_row);
      if (row != list->rows.end()) row->access = access;
    }
  }
  settle(at);
}

void Control::on_seeder(SeedAnswer&& answer) {
  ask_seeder.give_back();
  const PendingAt at = pending_.find(answer.ticket);
  CHECK(at != pending_.end(), "an answer came that was not asked for");
  --at->second.awaited;
  at->second.reply = answer;
  settle(at);
}

// --- The disk.

void Control::on_timer(std::uint64_t /*tag*/) {
  set_timer_after(kDiskEvery, 0);
  look_at_disk();
}

// A little more room than the floor is asked for before the crawl goes on, else it would stop again
// with the next page.
void Control::look_at_disk() {
  const auto free_bytes = files().free_space(options_.disk);
  if (!free_bytes) return fail(free_bytes.error());
  const std::uint64_t enough = disk_.empty()
                                   ? options_.free_bytes_min
                                   : options_.free_bytes_min + options_.free_bytes_min / 8;
  disk_.clear();
  if (*free_bytes >= enough) return;
  const bool is_below = *free_bytes < options_.free_bytes_min;
  disk_ = fmt::format("the disk has {} left, {} the floor of {}", bytes_text(*free_bytes),
                      is_below ? "below" : "still near", bytes_text(options_.free_bytes_min));
}

void Control::tell_of_disk() {
  if (disk_ == disk_told_ || disk_awaited_ > 0) return;
  disk_told_ = disk_;
  SchedulerQuestion question{.ticket = kDiskTicket};
  question.order = order();
  for (std::size_t part = 0; part < options_.schedulers; ++part) {
    question.key = key_of_part(part, options_.schedulers);
    ++disk_awaited_;
    ask_scheduler.emit(question);
  }
}

PauseOrder Control::order() const {
  PauseOrder order;
  order.all = pauses_.all;
  order.disk = disk_told_;
  for (const std::string& host : pauses_.hosts) order.hosts.push_back(host_hash_of(host));
  return order;
}

}  // namespace meguri::crawl
