#include "app/command.h"

namespace meguri::app {

namespace {

constexpr CommandEntry kCommands[] = {
    {"demo", "See it at work, without internet, in a minute", "meguri demo --keep tour",
     make_demo_command},
    {"crawl", "Visit pages and keep them in an archive",
     "meguri crawl https://www.example.com/ --archive example --once", make_crawl_command},
    {"status", "Say how a crawl stands, running or not", "meguri status example",
     make_status_command},
    {"add", "Add seeds to an archive, and to the crawl that runs on it",
     "meguri add example https://www.example.org/", make_add_command},
    {"url", "Show the history of a page, how often it changes, and when it is visited next",
     "meguri url example https://www.example.com/news/", make_url_command},
    {"why", "Say why a page was or was not fetched",
     "meguri why example https://www.example.com/private/", make_why_command},
    {"hosts", "List the hosts of a crawl, and what each waits for",
     "meguri hosts example --sort errors", make_hosts_command},
    {"report", "Draw how a crawl's pages change and what its hosts bear, as one HTML page",
     "meguri report example -o report.html", make_report_command},
    {"pause", "Let a crawl, or some of its hosts, rest", "meguri pause example www.example.com",
     make_pause_command},
    {"resume", "Let what was paused go on", "meguri resume example", make_resume_command},
    {"import", "Bring WARC files of anybody's into an archive",
     "meguri import example old-crawls/ other.warc.gz", make_import_command},
    {"snapshot", "Say or write what an archive had at a moment, or during a period",
     "meguri snapshot example --at 2026-11-01 --output wacz -o november.wacz",
     make_snapshot_command},
    {"diff", "Say which pages came, went and changed between two moments",
     "meguri diff example --from '7d ago' --text", make_diff_command},
    {"scan", "Run a program over every page of a snapshot, in parallel",
     "meguri scan example --at 2026-11 count-by language month", make_scan_command},
    {"verify", "Check all files of an archive, and its index against them", "meguri verify example",
     make_verify_command},
    {"repair", "Make the index of an archive anew from its files", "meguri repair example",
     make_repair_command},
    {"remove", "Take pages down: out of the index, and out of the files",
     "meguri remove example --prefix https://www.example.com/private/ --reason 'request 7'",
     make_remove_command},
    {"inspect", "Show what Meguri sees in a page of the web or in a file",
     "meguri inspect https://www.example.com/", make_inspect_command},
    {"robots", "Ask a robots.txt whether URLs may be visited",
     "meguri robots robots.txt https://example.com/private/", make_robots_command},
    {"canon", "Print the canonical form and the SURT key of URLs",
     "meguri canon 'HTTP://www.Example.com:80/a/../b?#c'", make_canon_command},
    {"warc", "List, check and take apart WARC files, anybody's", "meguri warc ls example.warc.gz",
     make_warc_command},
    {"store", "Look into a state store, and check it", "meguri store stat example",
     make_store_command},
    {"virtual-web", "Serve a web of its own, to crawl and to measure by",
     "meguri virtual-web --hosts 50 --pages 5000 --log access.log", make_virtual_web_command},
    {"simulate", "Try a policy of revisits on years of simulated changes",
     "meguri simulate --policy all --pages 10k --days 365", make_simulate_command},
    {"bench", "Measure a part of the program on this machine", "meguri bench flow --quick",
     make_bench_command},
    {"version", "Say which version this is", "meguri version --json", make_version_command},
};

}  // namespace

std::span<const CommandEntry> commands() { return kCommands; }

}  // namespace meguri::app
