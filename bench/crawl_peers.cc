#include "bench/crawl_peers.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

namespace meguri::bench {
namespace {

constexpr const char* kScrapyVersion = "2.19.0";

constexpr const char* kSpider = R"(
import sys
import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

urls = open(sys.argv[1]).read().split()
out = open(sys.argv[2], "wb")
count = 0

class Pages(scrapy.Spider):
    name = "pages"
    links = LinkExtractor()

    async def start(self):
        for url in urls:
            yield scrapy.Request(url, meta={"proxy": sys.argv[3]})

    def parse(self, response):
        global count
        count += 1
        out.write(response.body)
        if isinstance(response, scrapy.http.TextResponse):
            self.found = len(self.links.extract_links(response))

process = CrawlerProcess({
    "LOG_LEVEL": "ERROR", "ROBOTSTXT_OBEY": False, "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 64, "TELNETCONSOLE_ENABLED": False, "RETRY_ENABLED": False,
    "DOWNLOAD_DELAY": 0, "REDIRECT_ENABLED": False, "HTTPERROR_ALLOW_ALL": True,
})
process.crawl(Pages)
process.start()
out.close()
print(count)
)";

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
}

std::string list_of(const std::vector<SamplePage>& pages) {
  std::string list;
  for (const SamplePage& page : pages) list += fmt::format("http://{}{}\n", page.host, page.target);
  return list;
}

std::string proxy_of(const WebProcess& web) {
  return fmt::format("http://127.0.0.1:{}/", web.port());
}

// Where Scrapy is, after an installation if need be; empty: it cannot be had.
std::string python_with_scrapy() {
  const std::string folder = program_folder() + "/peers/scrapy-" + kScrapyVersion;
  const std::string python = folder + "/bin/python";
  if (run_program({python, "-c", "import scrapy"}).is_good) return python;
  const bool is_there =
      run_program({"python3", "-m", "venv", folder}).is_good &&
      run_program({python, "-m", "pip", "install", "-q", fmt::format("scrapy=={}", kScrapyVersion)})
          .is_good &&
      run_program({python, "-c", "import scrapy"}).is_good;
  return is_there ? python : "";
}

}  // namespace

base::Result<PeerCost> measure_wget(const WebProcess& web, const std::vector<SamplePage>& pages,
                                    const std::string& dir) {
  write_text(dir + "/wget.list", list_of(pages));
  const ChildEnd end =
      run_program({"env", "-u", "no_proxy", "-u", "NO_PROXY", "wget", "-q", "-e", "use_proxy=yes",
                   "-e", "http_proxy=" + proxy_of(web), "--tries=1", "--max-redirect=0", "-O",
                   "/dev/null", "-i", dir + "/wget.list", "--warc-file=" + dir + "/wget"});
  std::ifstream warc(dir + "/wget.warc.gz", std::ios::ate);
  // It ends with an error if one page of thousands was one.
  if (!warc || warc.tellg() < static_cast<std::streamoff>(pages.size() * 100)) {
    return base::fail(base::ErrorCode::kFailed, "wget fetched nothing; is it installed?");
  }
  return PeerCost{static_cast<double>(pages.size()), end.cpu_seconds};
}

base::Result<std::optional<PeerCost>> measure_scrapy(const WebProcess& web,
                                                     const std::vector<SamplePage>& pages,
                                                     const std::string& dir) {
  const std::string python = python_with_scrapy();
  if (python.empty()) return std::optional<PeerCost>();
  write_text(dir + "/spider.py", kSpider);
  write_text(dir + "/scrapy.list", list_of(pages));
  write_text(dir + "/empty.list", "");
  const auto run = [&](const std::string& list) {
    return run_program(
        {python, dir + "/spider.py", dir + list, dir + "/scrapy.bodies", proxy_of(web)});
  };
  const ChildEnd start = run("/empty.list");
  const ChildEnd end = run("/scrapy.list");
  const double count = std::strtod(end.output.c_str(), nullptr);
  if (!start.is_good || !end.is_good || count == 0) {
    return base::fail(base::ErrorCode::kFailed, "Scrapy fetched nothing");
  }
  return std::optional(PeerCost{count, end.cpu_seconds - start.cpu_seconds});
}

}  // namespace meguri::bench
