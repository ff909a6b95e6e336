// The graph of a crawl: the modules of src/crawl and what joins them. The same graph runs on
// threads and in a simulation; only what is behind the seams differs.
#pragma once

#include <functional>
#include <memory>

#include "archive/temporal_index.h"
#include "crawl/archive_writer.h"
#include "crawl/control.h"
#include "crawl/control_mailbox.h"
#include "crawl/crawl_log.h"
#include "crawl/extractor.h"
#include "crawl/fetcher.h"
#include "crawl/host_directory.h"
#include "crawl/options.h"
#include "crawl/registry.h"
#include "crawl/resolver.h"
#include "crawl/scheduler.h"
#include "crawl/seeder.h"
#include "crawl/url_filter.h"
#include "env/spool.h"
#include "fetch/address_policy.h"
#include "flow/graph.h"

namespace meguri::app {

// The network, real or simulated.
struct CrawlSeams {
  std::function<std::unique_ptr<fetch::HttpClient>(const env::Clock&)> make_http;
  std::function<std::unique_ptr<fetch::Dns>(const env::Clock&)> make_dns;
  fetch::AddressPolicy addresses;
  // Where large bodies and their records are; shared by those who fetch and those who read. Null:
  // they are in memory.
  std::shared_ptr<env::Spool> spool = nullptr;
  // What is known of pages from before this crawl; the Seeder's while the crawl runs. Null:
  // nothing.
  std::shared_ptr<crawl::HistoryStore> history = nullptr;
  // Of all visits in the archive; the ArchiveWriter's while the crawl runs. Null: none is kept.
  std::shared_ptr<archive::TemporalIndex> index = nullptr;
};

// As the options say, in the folder DIR/spool of the state's folder. To be opened by whoever holds
// the archive's lock.
std::shared_ptr<env::Spool> make_spool(const crawl::CrawlOptions& options, env::FileSystem& files,
                                       const std::string& state_dir);

struct CrawlGraph {
  flow::Graph graph;
  flow::Node<crawl::Registry> registry;
  flow::Node<crawl::UrlFilter> filter;
  flow::Node<crawl::HostDirectory> hosts;
  flow::Node<crawl::Scheduler> scheduler;
  std::shared_ptr<crawl::ControlMailbox> mailbox;  // for requests to the crawl, from any thread
  flow::Node<crawl::CrawlLog> log;
};

CrawlGraph build_crawl(const crawl::CrawlOptions& options, const CrawlSeams& seams);

}  // namespace meguri::app
