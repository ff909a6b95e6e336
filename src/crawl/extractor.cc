#include "crawl/extractor.h"

#include <optional>
#include <string_view>
#include <utility>

#include "crawl/fetcher.h"
#include "crawl/link_offers.h"
#include "web/content_decoder.h"
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

Report report_of(const Answer& answer, const HostNews& news, VisitOutcome outcome) {
  return {.id = answer.visit.page.id,
          .outcome = outcome,
          .status = news.status,
          .fetch = news.fetch,
          .date = answer.fetched.times.started_utc,
          .version = std::nullopt};
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
  const bool is_answered = answer.fetched.outcome == FetchOutcome::kAnswered;
  if (!is_answered || parsed.head.status == 0 || !url) {
    take_failure(answer, parsed.head, finding);
  } else {
    const ReadAnswer read{
        .answer = answer, .head = parsed.head, .digest = records_->digest_of(answer.fetched.body)};
    if (answer.visit.purpose == Purpose::kRobots) {
      take_robots(read, *url, finding);
    } else {
      take_page(read, *url, finding);
    }
  }
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
  finding.records = records_->of_answer(read, VisitOutcome::kChanged, random());
  if (read.head.status >= 200 && read.head.status < 300) {
    finding.host.robots = PlainBody(read, kRobotsBytesMax).text;
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
    is_stored = options_.stores_noarchive || !page.directives.noarchive;
    finding.candidates = offers_of(std::move(page), candidate, &*offered_, clock().ticks());
  } else if (outcome == VisitOutcome::kRedirected) {
    const auto target = redirect_of(url, *web::redirect_target(read.head));
    auto offer = target ? redirect_offer(*target, candidate) : std::nullopt;
    if (offer) finding.candidates.push_back(*std::move(offer));
  }
  if (!is_stored) {
    finding.records = records_->of_failure(read.answer, "noarchive",
                                           "the page asks not to be archived", random());
    return;
  }
  finding.records = records_->of_answer(read, outcome, random());
  finding.report->version = version_of(read, outcome, finding.records.first_id);
}

web::Page Extractor::read(const ReadAnswer& read, const web::Url& url) const {
  const PlainBody body(read, options_.fetch.html_bytes_max);
  return web::read_page(body.text,
                        {.url = &url, .fields = &read.head.fields, .agent = options_.agent});
}

}  // namespace meguri::crawl
