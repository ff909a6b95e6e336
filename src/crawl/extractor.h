// Extractor: reads an answer and makes of it what the archive stores and what the crawl learns.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "crawl/language_rule.h"
#include "crawl/link_offers.h"
#include "crawl/messages.h"
#include "crawl/offer_memory.h"
#include "crawl/options.h"
#include "crawl/visit_records.h"
#include "env/spool.h"
#include "flow/module.h"
#include "web/http_head.h"
#include "web/page.h"
#include "web/url.h"

namespace meguri::crawl {

// A cpu module that keeps nothing that matters: what it offered in the last minute it does not
// offer again. Findings reach the archive in the order of their answers, so that an offer which was
// left out is durable not later than the finding it would have been in. Every answer leads to
// exactly one Finding, with records in any case: a response, a revisit, or metadata that say why
// there is neither. Where the disk fails that holds a large body or its records, the visit ends as
// our machine's failure. Only pages whose content is new to this crawl are read for links;
// bodies are decoded for that alone and stored as they came.
//
// A page that says noarchive or noindex, in its head or in X-Robots-Tag, where these are not kept,
// is kChanged without a version: its links count, and of its content only the fact is recorded.
// The sitemaps that a robots.txt names are candidates, as the links of a page are. The entries of a
// list, be it a sitemap or a feed, are so with the dates that it tells. A list has changed for the
// schedule when it says something else of its pages.
//
// The links of a page in a foreign language are left out, or offered to be visited last. Those of a
// seed are followed in any case: whoever gave it wants what it leads to.
class Extractor final : public flow::Module {
 public:
  // The spool keeps the records of large bodies; shared with those who keep the bodies. Null: they
  // are in memory.
  explicit Extractor(const CrawlOptions& options, std::shared_ptr<env::Spool> spool = nullptr);

  flow::In<Answer> answers = in<&Extractor::on_answer>("answers");
  flow::Out<Finding> findings = out<Finding>("findings");

 private:
  void on_answer(Answer&& answer);
  base::Status start() override;

  void take_failure(const Answer& answer, const web::HttpHead& head, Finding& finding);
  base::Status take_answer(const Answer& answer, const web::HttpHead& head, const web::Url& url,
                           Finding& finding);
  base::Status take_robots(const ReadAnswer& read, const web::Url& url, Finding& finding);
  base::Status take_page(const ReadAnswer& read, const web::Url& url, Finding& finding);
  bool change_counts(const std::optional<PriorVersion>& prior,
                     const std::optional<web::TextSketch>& sketch) const;
  OfferRules offer_rules(const ReadAnswer& read) const;
  std::vector<Candidate> offers_of_page(web::Page&& page, const ReadAnswer& read,
                                        const web::Url& url, VisitNote& note);
  bool may_store(const web::RobotsDirectives& directives) const;
  // Says in the note what of the body could not be read.
  base::Result<web::Page> read(const ReadAnswer& read, const web::Url& url, VisitNote& note) const;

  const CrawlOptions options_;
  const std::shared_ptr<env::Spool> spool_;
  const LanguageRule languages_;
  std::unique_ptr<VisitRecords> records_;
  std::optional<OfferMemory> offered_;
};

}  // namespace meguri::crawl
