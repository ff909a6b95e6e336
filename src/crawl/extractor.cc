#include "crawl/extractor.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "crawl/fetcher.h"
#include "crawl/host_pair.h"
#include "crawl/link_offers.h"
#include "crawl/page_reading.h"
#include "crawl/plain_body.h"
#include "crawl/retry_policy.h"
#include "web/content_type.h"
#include "web/http_date.h"
#include "web/http_fields.h"
#include "web/page_language.h"
#include "web/redirect.h"

namespace meguri::crawl {

using fetch::FetchOutcome;

namespace {

HostNews news_of(const Answer& answer, const std::optional<web::Url>& url) {
  const fetch::Fetched& fetched = answer.fetched;
  HostNews news;
  news.url = answer.visit.page.candidate.url;
  if (url) news.host = url->host();
  news.purpose = answer.visit.purpose;
  news.fetch = fetched.outcome;
  news.status = fetched.status;
  news.finished = fetched.times.finished_utc;
  news.duration = fetched.times.finished - fetched.times.started;
  return news;
}

// What the finding itself tells is added by add_finding().
VisitNote note_of(const Answer& answer, const web::HttpHead& head) {
  const Candidate& candidate = answer.visit.page.candidate;
  const fetch::Fetched& fetched = answer.fetched;
  VisitNote note;
  note.date = fetched.times.started_utc;
  note.url = candidate.url;
  note.via = candidate.via;
  note.offer = candidate.offer;
  note.depth = candidate.depth;
  note.address = fetched.connected;
  note.error = fetched.error;
  if (const auto type = web::content_type_of(head.fields)) note.mime = type->essence();
  note.bytes = fetched.response_head.size() + fetched.body.size();
  note.truncation = fetched.truncation;
  return note;
}

void add_finding(const Finding& finding, VisitNote& note) {
  note.host = finding.host.host;
  note.purpose = finding.host.purpose;
  note.fetch = finding.host.fetch;
  note.status = finding.host.status;
  note.duration = finding.host.duration;
  if (finding.report) note.outcome = finding.report->outcome;
  note.links = static_cast<std::uint32_t>(finding.candidates.size());
}

Report report_of(const Answer& answer, const HostNews& news, VisitOutcome outcome) {
  return {.id = answer.visit.page.id,
          .outcome = outcome,
          .status = news.status,
          .fetch = news.fetch,
          .date = answer.fetched.times.started_utc,
          .version = std::nullopt,
          .may_pass = may_pass(news.fetch, news.status),
          .hold = news.hold,
          .host = answer.visit.pace};
}

}  // namespace

Extractor::Extractor(const CrawlOptions& options, std::shared_ptr<env::Spool> spool)
    : options_(options), spool_(std::move(spool)), languages_(options.scope.languages) {}

base::Status Extractor::start() {
  records_ = std::make_unique<VisitRecords>(options_.warc.records, spool_.get());
  offered_.emplace(options_.offers_remembered);
  return {};
}

void Extractor::on_answer(Answer&& answer) {
  const auto url = web::Url::parse(answer.visit.page.candidate.url);
  const auto parsed = web::parse_head(web::HeadKind::kResponse, answer.fetched.response_head);
  Finding finding;
  finding.host = news_of(answer, url);
  finding.note = note_of(answer, parsed.head);
  finding.host.hold =
      hold_of(parsed.head.status, parsed.head.fields, answer.fetched.times.finished_utc);
  const bool is_answered = answer.fetched.outcome == FetchOutcome::kAnswered;
  if (!is_answered || parsed.head.status == 0 || !url) {
    take_failure(answer, parsed.head, finding);
  } else if (const auto taken = take_answer(answer, parsed.head, *url, finding); !taken) {
    // What was found in it stays: its links are remembered as offered.
    finding.host.fetch = FetchOutcome::kLocalFailure;
    finding.host.status = 0;
    finding.note.error = fmt::format("its body cannot be kept: {}", taken.error().message());
    finding.note.digest.reset();
    answer.fetched.error = finding.note.error;
    take_failure(answer, parsed.head, finding);
  }
  add_finding(finding, finding.note);
  findings.emit(std::move(finding));
}

base::Status Extractor::take_answer(const Answer& answer, const web::HttpHead& head,
                                    const web::Url& url, Finding& finding) {
  ASSIGN_OR_RETURN(const archive::Digest digest, records_->digest_of(answer.fetched.body));
  const ReadAnswer read{.answer = answer, .head = head, .digest = digest};
  finding.note.digest = digest;
  const bool is_robots = answer.visit.purpose == Purpose::kRobots;
  return is_robots ? take_robots(read, url, finding) : take_page(read, url, finding);
}

void Extractor::take_failure(const Answer& answer, const web::HttpHead& head, Finding& finding) {
  HostNews& news = finding.host;
  if (news.fetch == FetchOutcome::kAnswered && head.status == 0) {
    news.fetch = FetchOutcome::kBadResponse;
    news.status = 0;
  }
  finding.records =
      records_->of_failure(answer, fetch::name_of(news.fetch), answer.fetched.error, random());
  if (news.purpose == Purpose::kPage) {
    finding.report = report_of(answer, news, VisitOutcome::kError);
  }
}

base::Status Extractor::take_robots(const ReadAnswer& read, const web::Url& url, Finding& finding) {
  ASSIGN_OR_RETURN(VisitRecords::Kept kept,
                   records_->of_answer(read, VisitOutcome::kChanged, random()));
  finding.records = std::move(kept.records);
  // Half of the rules are none: what follows may forbid. Only what is too long is read as far as
  // the limit.
  const fetch::Truncation truncation = read.answer.fetched.truncation;
  if (truncation != fetch::Truncation::kNone && truncation != fetch::Truncation::kLength) {
    finding.host.status = 0;
    return {};
  }
  if (read.head.status >= 200 && read.head.status < 300) {
    ASSIGN_OR_RETURN(const PlainBody body, PlainBody::read(read, kRobotsBytesMax, options_.decode));
    if (body.is_broken()) {
      finding.host.status = 0;
      finding.note.error = body.fault();
      return {};
    }
    finding.host.robots = body.text();
  }
  const bool is_none = read.head.status == 404 || read.head.status == 410;
  if (options_.hints.sitemaps && (is_none || read.head.status / 100 == 2)) {
    finding.candidates = sitemap_offers(finding.host.robots, url, read.answer.visit.page.candidate,
                                        options_.hints.well_known);
  }
  const auto location = web::redirect_target(read.head);
  if (!location) return {};
  if (const auto target = redirect_of(url, *location)) finding.host.redirect = target->href();
  return {};
}

base::Status Extractor::take_page(const ReadAnswer& read, const web::Url& url, Finding& finding) {
  const Candidate& candidate = read.answer.visit.page.candidate;
  const VisitOutcome outcome = outcome_of(read);
  finding.report = report_of(read.answer, finding.host, outcome);
  finding.report->last_modified =
      web::last_modified_of(read.head.fields, web::year_of(read.answer.fetched.times.started_utc));
  bool is_stored = true;
  std::string language;
  std::optional<web::TextSketch> sketch;
  const bool is_changed = outcome == VisitOutcome::kChanged;
  // Of a page that was visited before this crawl, nobody has followed the links.
  const bool is_same = outcome == VisitOutcome::kUnchanged;
  if (is_changed || (is_same && !read.prior()->is_archived())) {
    ASSIGN_OR_RETURN(web::Page page, this->read(read, url, finding.note));
    sketch = sketch_of(page, read.answer.fetched.times.started_utc);
    language = web::main_language_of(page, url.host());
    is_stored = may_store(page.directives);
    finding.report->is_list = is_list(page);
    finding.candidates = offers_of_page(std::move(page), read, url, finding.note);
    // Cut again at the same place it would be kUnchanged: that is how the server sends it.
    finding.report->may_pass = read.answer.fetched.truncation == fetch::Truncation::kDisconnect;
  } else if (outcome == VisitOutcome::kRedirected) {
    const auto target = redirect_of(url, *web::redirect_target(read.head));
    if (target) finding.report->target = base::hash64(target->href());
    auto offer = target ? redirect_offer(*target, candidate) : std::nullopt;
    if (offer) finding.candidates.push_back(*std::move(offer));
  }
  finding.note.is_stored = is_stored;
  if (!is_stored) {
    finding.records =
        records_->of_failure(read.answer, "noarchive", "the page asks not to be kept", random());
    return {};
  }
  if (is_changed) finding.report->counts = change_counts(read.prior(), sketch);
  ReadAnswer told = read;
  told.language = language;
  told.counts = finding.report->counts;
  ASSIGN_OR_RETURN(VisitRecords::Kept kept, records_->of_answer(told, outcome, random()));
  const StoredPayload own{.url = candidate.url,
                          .record = kept.records.first_id,
                          .date = read.answer.fetched.times.started_utc};
  finding.report->version = version_of(read, outcome, kept.original.value_or(own));
  // A change that does not count is held against what it left as it was: many small ones together
  // may count.
  if (is_changed && finding.report->version) {
    finding.report->version->sketch = finding.report->counts ? sketch : read.prior()->sketch;
  }
  finding.records = std::move(kept.records);
  if (options_.finds_aliases()) {
    finding.host.sample = sample_of(candidate, *finding.report, read.answer.fetched);
  }
  return {};
}

OfferRules Extractor::offer_rules(const ReadAnswer& read) const {
  OfferRules rules{.obeys_nofollow = options_.obeys_nofollow,
                   .follows_feeds = options_.hints.feeds,
                   .fetched = read.answer.fetched.times.started_utc};
  if (read.prior()) rules.fetched_before = read.prior()->date;
  return rules;
}

bool Extractor::change_counts(const std::optional<PriorVersion>& prior,
                              const std::optional<web::TextSketch>& sketch) const {
  const bool is_comparable = prior && prior->sketch && sketch;
  return !is_comparable ||
         web::change_counts(*prior->sketch, *sketch, options_.revisit.counts_from);
}

std::vector<Candidate> Extractor::offers_of_page(web::Page&& page, const ReadAnswer& read,
                                                 const web::Url& url, VisitNote& note) {
  const Candidate& from = read.answer.visit.page.candidate;
  const bool is_foreign = !from.is_seed() && languages_.is_foreign(page, url.host());
  ForeignPage foreign{.links = options_.scope.foreign};
  auto offers = offers_of(std::move(page), from, offer_rules(read), &*offered_, clock().ticks(),
                          is_foreign ? &foreign : nullptr);
  note.foreign_links = foreign.count;
  return offers;
}

bool Extractor::may_store(const web::RobotsDirectives& directives) const {
  if (directives.noarchive && !options_.stores_noarchive) return false;
  return !directives.noindex || options_.stores_noindex;
}

base::Result<web::Page> Extractor::read(const ReadAnswer& read, const web::Url& url,
                                        VisitNote& note) const {
  const bool wants_text = options_.revisit.is_on || languages_.is_on();
  ASSIGN_OR_RETURN(PageReading reading, read_page_of(read, url, options_, wants_text));
  if (note.error.empty()) note.error = std::move(reading.fault);
  return std::move(reading.page);
}

}  // namespace meguri::crawl
