#include "crawl/extractor.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "crawl/fetcher.h"
#include "crawl/link_offers.h"
#include "crawl/retry_policy.h"
#include "web/content_decoder.h"
#include "web/content_type.h"
#include "web/redirect.h"
#include "web/xml_reader.h"

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
          .hold = news.hold};
}

// The body without its content coding, up to `bytes_max`; of a coding that breaks, what came
// before. Bodies without coding are not copied.
struct PlainBody {
  PlainBody(const ReadAnswer& read, std::uint64_t bytes_max) {
    const std::string_view body = read.answer.fetched.body;
    const std::string coding = read.head.fields.combined("Content-Encoding");
    if (coding.empty()) {
      text = body.substr(0, bytes_max);
      return;
    }
    decoded = web::decode_content(body, coding, {.output_bytes_max = bytes_max}).bytes;
    text = decoded;
  }
  PlainBody(const PlainBody&) = delete;
  PlainBody& operator=(const PlainBody&) = delete;

  std::string decoded;
  std::string_view text;
};

// What is read of a body. Sitemaps may be longer than pages, and come as any other type.
std::uint64_t read_bytes_max(const web::HttpHead& head, std::uint64_t html_bytes_max) {
  const auto type = web::content_type_of(head.fields);
  const std::string essence = type ? type->essence() : "";
  const bool is_html = essence == "text/html" || essence == "application/xhtml+xml";
  return is_html ? html_bytes_max : std::max<std::uint64_t>(html_bytes_max, web::kXmlBytesMax);
}

}  // namespace

Extractor::Extractor(const CrawlOptions& options) : options_(options) {}

base::Status Extractor::start() {
  records_ = std::make_unique<VisitRecords>(options_.warc.records);
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
  } else {
    const ReadAnswer read{
        .answer = answer, .head = parsed.head, .digest = records_->digest_of(answer.fetched.body)};
    finding.note.digest = read.digest;
    if (answer.visit.purpose == Purpose::kRobots) {
      take_robots(read, *url, finding);
    } else {
      take_page(read, *url, finding);
    }
  }
  add_finding(finding, finding.note);
  findings.emit(std::move(finding));
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

void Extractor::take_robots(const ReadAnswer& read, const web::Url& url, Finding& finding) {
  finding.records = records_->of_answer(read, VisitOutcome::kChanged, random()).records;
  // Half of the rules are none: what follows may forbid.
  const fetch::Truncation truncation = read.answer.fetched.truncation;
  if (truncation == fetch::Truncation::kDisconnect || truncation == fetch::Truncation::kTime) {
    finding.host.status = 0;
    return;
  }
  if (read.head.status >= 200 && read.head.status < 300) {
    finding.host.robots = PlainBody(read, kRobotsBytesMax).text;
    finding.candidates = sitemap_offers(finding.host.robots, url, read.answer.visit.page.candidate);
  }
  const auto location = web::redirect_target(read.head);
  if (!location) return;
  if (const auto target = redirect_of(url, *location)) finding.host.redirect = target->href();
}

void Extractor::take_page(const ReadAnswer& read, const web::Url& url, Finding& finding) {
  const Candidate& candidate = read.answer.visit.page.candidate;
  const VisitOutcome outcome = outcome_of(read);
  finding.report = report_of(read.answer, finding.host, outcome);
  bool is_stored = true;
  if (outcome == VisitOutcome::kChanged) {
    web::Page page = this->read(read, url);
    is_stored = may_store(page.directives);
    finding.candidates =
        offers_of(std::move(page), candidate, options_.obeys_nofollow, &*offered_, clock().ticks());
    // Cut again at the same place it would be kUnchanged: that is how the server sends it.
    finding.report->may_pass = read.answer.fetched.truncation == fetch::Truncation::kDisconnect;
  } else if (outcome == VisitOutcome::kRedirected) {
    const auto target = redirect_of(url, *web::redirect_target(read.head));
    auto offer = target ? redirect_offer(*target, candidate) : std::nullopt;
    if (offer) finding.candidates.push_back(*std::move(offer));
  }
  finding.note.is_stored = is_stored;
  if (!is_stored) {
    finding.records =
        records_->of_failure(read.answer, "noarchive", "the page asks not to be kept", random());
    return;
  }
  VisitRecords::Kept kept = records_->of_answer(read, outcome, random());
  const StoredPayload own{.url = candidate.url,
                          .record = kept.records.first_id,
                          .date = read.answer.fetched.times.started_utc};
  finding.report->version = version_of(read, outcome, kept.original.value_or(own));
  finding.records = std::move(kept.records);
}

bool Extractor::may_store(const web::RobotsDirectives& directives) const {
  if (directives.noarchive && !options_.stores_noarchive) return false;
  return !directives.noindex || options_.stores_noindex;
}

web::Page Extractor::read(const ReadAnswer& read, const web::Url& url) const {
  const PlainBody body(read, read_bytes_max(read.head, options_.fetch.html_bytes_max));
  return web::read_page(body.text,
                        {.url = &url, .fields = &read.head.fields, .agent = options_.agent});
}

}  // namespace meguri::crawl
