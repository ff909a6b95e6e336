#include "bench/benches.h"

#include <array>

namespace meguri::bench {

namespace {

constexpr std::array kBenches = {
    Bench{"archive",
          "importing WARC files, against FastWARC; snapshots; records read by sorted pointers",
          &run_archive},
    Bench{"crawl", "CPU of a whole crawl per page, against wget and Scrapy", &run_crawl},
    Bench{"flow", "items per second through the flow runtime, against oneTBB", &run_flow},
    Bench{"scheduler",
          "decisions which request may leave, against paper 004's lists and a priority queue",
          &run_scheduler},
    Bench{"hosts", "a table of host names, against hash maps and libhat-trie", &run_hosts},
    Bench{"revisits", "a visit in a crawl that goes on, from few known pages to many",
          &run_revisits},
    Bench{"sat",
          "the state store under the load of paper 003, against Berkeley DB, LMDB and RocksDB",
          &run_sat},
    Bench{"scan",
          "feeding analysers, against FastWARC; workers kept busy by three ways to dispatch",
          &run_scan},
    Bench{"seen", "whether an id is known, against RocksDB and a hash map", &run_seen},
    Bench{"web", "HTML, URLs and robots.txt read per second, against Gumbo, libxml2 and MyHTML",
          &run_web},
    Bench{"virtual-web", "answers of the virtual web, over sockets against a bare loop",
          &run_virtual_web},
};

}  // namespace

std::span<const Bench> benches() { return kBenches; }

}  // namespace meguri::bench
