// Extractor: reads an answer and makes of it what the archive stores and what the crawl learns.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "crawl/messages.h"
#include "crawl/offer_memory.h"
#include "crawl/options.h"
#include "crawl/visit_records.h"
#include "flow/module.h"
#include "web/http_head.h"
#include "web/page.h"
#include "web/url.h"

namespace meguri::crawl {

// A cpu module that keeps nothing that matters: what it offered in the last minute it does not
// offer again. Findings reach the archive in the order of their answers, so that an offer which was
// left out is durable not later than the finding it would have been in. Every answer leads to
// exactly one Finding, with records in any case: a response, a revisit, or metadata that say why
// there is neither. Only pages with new content are read for links; bodies are decoded for that
// alone and stored as they came.
//
// A page that says noarchive or noindex, in its head or in X-Robots-Tag, where these are not kept,
// is kChanged without a version: its links count, and of its content only the fact is recorded.
// The sitemaps that a robots.txt names are candidates, as the links of a page are.
class Extractor final : public flow::Module {
 public:
  explicit Extractor(const CrawlOptions& options);

  flow::In<Answer> answers = in<&Extractor::on_answer>("answers");
  flow::Out<Finding> findings = out<Finding>("findings");

 private:
  void on_answer(Answer&& answer);
  base::Status start() override;

  void take_failure(const Answer& answer, const web::HttpHead& head, Finding& finding);
  void take_robots(const ReadAnswer& read, const web::Url& url, Finding& finding);
  void take_page(const ReadAnswer& read, const web::Url& url, Finding& finding);
  bool may_store(const web::RobotsDirectives& directives) const;
  web::Page read(const ReadAnswer& read, const web::Url& url) const;

  const CrawlOptions options_;
  std::unique_ptr<VisitRecords> records_;
  std::optional<OfferMemory> offered_;
};

}  // namespace meguri::crawl
