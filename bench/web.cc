// How fast we read what strangers send: HTML against other parsers, URLs, robots.txt.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "bench/benches.h"
#include "bench/html_peers.h"
#include "bench/timing.h"
#include "web/canonical.h"
#include "web/charset.h"
#include "web/html_document.h"
#include "web/html_reader.h"
#include "web/html_text.h"
#include "web/robots.h"
#include "web/similarity.h"
#include "web/surt.h"
#include "web/url.h"

namespace meguri::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPageBytesMin = 1024;
constexpr std::size_t kPageBytesMax = 2U << 20U;
constexpr std::size_t kAllBytesMin = 1U << 20U;

struct Pages {
  std::vector<std::string> pages;
  double bytes = 0;
};

// The manuals that packages brought, up to `bytes_max`, in the order of their names.
base::Result<Pages> read_pages(std::size_t bytes_max) {
  std::vector<fs::path> paths;
  const auto options = fs::directory_options::skip_permission_denied;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator("/usr/share/doc", options, ignored)) {
    if (entry.path().extension() == ".html" && entry.is_regular_file(ignored)) {
      paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  Pages pages;
  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    std::string page(std::istreambuf_iterator<char>(file), {});
    if (page.size() < kPageBytesMin || page.size() > kPageBytesMax) continue;
    pages.bytes += static_cast<double>(page.size());
    pages.pages.push_back(std::move(page));
    if (pages.bytes >= static_cast<double>(bytes_max)) break;
  }
  if (pages.bytes < kAllBytesMin) {
    return base::fail(base::ErrorCode::kNotFound,
                      "there is too little HTML in /usr/share/doc; install clang-15-doc");
  }
  return pages;
}

// MB per second over all pages, `work` returning something of each that cannot be left out.
template <typename Work>
double page_rate(const Pages& pages, Work work) {
  return best_rate(pages.bytes / 1e6, [&] {
    std::size_t sum = 0;
    const double seconds = seconds_of([&] {
      for (const std::string& page : pages.pages) sum += work(page);
    });
    CHECK(sum > 0);
    return seconds;
  });
}

std::size_t count_tokens(const std::string& page) {
  web::HtmlReader reader;
  web::HtmlToken token;
  reader.feed(page);
  reader.finish();
  std::size_t tokens = 0;
  while (reader.next(&token)) ++tokens;
  return tokens;
}

void run_html(const Pages& pages, Report& report) {
  const auto peer_rate = [&](std::unique_ptr<HtmlPeer> peer) {
    return page_rate(pages, [&](const std::string& page) { return peer->read(page); });
  };
  report.add("pages", static_cast<double>(pages.pages.size()), "pages");
  report.add("bytes", pages.bytes, "bytes");
  report.add("html tokens", page_rate(pages, count_tokens), "MB/s");
  const double links = report.add(
      "html tokens and links",
      page_rate(pages, [](const std::string& page) { return web::read_html(page).links.size(); }),
      "MB/s", Goal::at_least(400));
  report.add("html main text and sketch",
             page_rate(pages,
                       [](const std::string& page) {
                         return std::size_t{web::sketch_of(web::read_text(page).main_text()).words};
                       }),
             "MB/s");
  report.add("utf-8 check and copy",
             page_rate(pages,
                       [](const std::string& page) {
                         std::string utf8;
                         web::decode(page, web::Charset::kUtf8, &utf8);
                         return utf8.size();
                       }),
             "MB/s");
  const double gumbo = report.add("Gumbo, tree", peer_rate(make_gumbo()), "MB/s");
  const double libxml2 = report.add("libxml2, callbacks", peer_rate(make_libxml2()), "MB/s");
  const double myhtml = report.add("MyHTML, tokens only", peer_rate(make_myhtml_tokens()), "MB/s");
  report.add("html against the better of Gumbo and libxml2", links / std::max(gumbo, libxml2),
             "ratio", Goal::at_least(5));
  report.add("html against MyHTML", links / myhtml, "ratio");
}

// Every link of the pages, made absolute and different: as if each manual were a site.
std::vector<std::string> urls_of(const Pages& pages) {
  std::vector<std::string> urls;
  for (std::size_t i = 0; i < pages.pages.size(); ++i) {
    const auto base =
        web::Url::parse("https://www.site" + std::to_string(i) + ".example.com/manual/index.html");
    CHECK(base);
    const web::HtmlDocument document = web::read_html(pages.pages[i]);
    for (const web::HtmlLink& link : document.links) {
      const auto url = web::Url::parse(document.view(link.url), &*base);
      if (url && url->is_http()) urls.push_back(url->href());
    }
  }
  return urls;
}

void run_urls(const std::vector<std::string>& urls, Report& report) {
  const auto count = static_cast<double>(urls.size());
  const auto rate = [&](auto work) {
    return best_rate(count, [&] {
      std::size_t sum = 0;
      const double seconds = seconds_of([&] {
        for (const std::string& url : urls) sum += work(url);
      });
      CHECK(sum > 0);
      return seconds;
    });
  };
  report.add("urls", count, "URLs");
  report.add("url parse",
             rate([](const std::string& text) { return web::Url::parse(text)->href().size(); }),
             "URLs/s");
  report.add("url parse, canonical form and SURT", rate([](const std::string& text) {
               const auto url = web::Url::parse(text);
               const web::Url canonical = web::canonical(*url);
               return canonical.href().size() + web::surt_key(canonical).size();
             }),
             "URLs/s", Goal::at_least(2e6));
}

// Of the kind that content management systems bring along.
constexpr std::string_view kRobots = R"(
User-agent: *
Crawl-delay: 10
Allow: /core/*.css$
Allow: /core/*.css?
Allow: /core/*.js$
Allow: /core/*.js?
Allow: /core/*.gif
Allow: /core/*.jpg
Allow: /core/*.png
Allow: /profiles/*.css$
Allow: /profiles/*.js$
Disallow: /core/
Disallow: /profiles/
Disallow: /README.txt
Disallow: /web.config
Disallow: /admin/
Disallow: /comment/reply/
Disallow: /filter/tips
Disallow: /node/add/
Disallow: /search/
Disallow: /user/register
Disallow: /user/password
Disallow: /user/login
Disallow: /user/logout
Disallow: /index.php/admin/
Disallow: /index.php/comment/reply/
Disallow: /index.php/node/add/
Disallow: /index.php/search/
Disallow: /*/print$
Disallow: /*?sort=
Disallow: /wp-admin/
Allow: /wp-admin/admin-ajax.php
Disallow: /cgi-bin/
Disallow: /tmp/
Sitemap: https://www.example.com/sitemap.xml
)";

void run_robots(const std::vector<std::string>& urls, Report& report) {
  const web::Robots robots = web::Robots::parse(kRobots, "meguri");
  std::vector<std::string> paths;
  for (const std::string& text : urls) {
    const auto url = web::Url::parse(text);
    std::string path(url->path());
    if (url->has_query()) path.append("?").append(url->query());
    paths.push_back(std::move(path));
  }
  const web::RobotsView view = robots.view();
  std::size_t allowed = 0;
  report.add("robots.txt checks, 32 rules",
             best_rate(static_cast<double>(paths.size()),
                       [&] {
                         return seconds_of([&] {
                           for (const std::string& path : paths)
                             allowed += view.check(path).allowed ? 1 : 0;
                         });
                       }),
             "checks/s", Goal::at_least(5e6));
  CHECK(allowed > 0);
}

}  // namespace

base::Status run_web(const Options& options, Report& report) {
  ASSIGN_OR_RETURN(const Pages pages, read_pages(options.quick ? 8U << 20U : 64U << 20U));
  run_html(pages, report);
  const std::vector<std::string> urls = urls_of(pages);
  run_urls(urls, report);
  run_robots(urls, report);
  return {};
}

}  // namespace meguri::bench
