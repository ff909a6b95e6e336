"""Crawls of the virtual web with hosts that mean harm: what becomes of each, that the hosts beside
them are archived in full and politely, and that memory stays where it is. docs/hostile.md lists
the threats; each has a test here."""

import glob
import json
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
from crawl_testing import CrawlCase, archived, crawl_command, read_log, truth
from crawl_truth_test import MEMORY_SCRIPT
from virtual_web_test import MEGURI, VirtualWeb

# A clock that all programs of a test share. It begins now, because traps are judged by the year.
ORIGIN = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 1))
CLOCK = ["--speed", "200", "--clock-origin", ORIGIN]
# No page of this web has a date in its address.
WORLD = ["--hosts", "4", "--pages", "24", "--servers", "4", "--seed", "10", "--no-crawl-delay"]
WORLD += ["--still"]

# Limits that are reached within seconds; the clock does the rest. The crawl waits longer than it is
# judged by, because a server sees the end of what is given up only when it arrives, and on a busy
# machine it looks up late.
CONFIG = """
[politeness]
delay = "10s"
server_gap = "2s"
duration_factor = 1
[robots]
max_crawl_delay = "10m"
[hints]
well_known = false
[traps]
calendar_years_back = 0
calendar_years_ahead = 1
[limits]
tries = 2
max_pages_per_host = 30
connect_time = "10m"
tls_time = "10m"
head_time = "10m"
fetch_time = "12m"
body_size = "2MB"
html_size = "1MB"
bodies_size = "8MB"
[[host]]
match = "*.hostile.test"
delay = "30s"
"""


def host_of(name):
    return f"{name}.hostile.test"


def is_home(url):
    return url.endswith("/") and url.count("/") == 3


class Crawled:
    """What a crawl left behind: its log by host, its archive, and the servers' log, which is whole
    when the servers have ended."""

    def __init__(self, web, archive):
        self.web = web
        self.archive = archive
        self.lines = []
        for path in sorted(glob.glob(os.path.join(archive, "logs", "*.jsonl"))):
            with open(path, encoding="utf-8") as file:
                self.lines += [json.loads(line) for line in file]
        self.accesses = []
        self.visits = archived(archive)

    def of(self, name, kind="page"):
        """The lines of a hostile host, in order."""
        host = host_of(name)
        return [line for line in self.lines if line["host"] == host and line["type"] == kind]

    def home(self, name):
        """The last line of its home page."""
        return [line for line in self.of(name) if is_home(line["url"])][-1]

    def targets(self, name):
        """What its server was asked for, robots.txt left out."""
        host = host_of(name)
        asked = [access.target for access in self.accesses if access.host == host]
        return [target for target in asked if target != "/robots.txt"]

    def reasons(self, name):
        """Why pages of it were refused for good."""
        return sorted({line["reason"] for line in self.of(name, "refusal")})


class HostileCase(CrawlCase):
    def crawl(self, *names, secure=(), replace=("", ""), archive="archive"):
        """Crawls the ordinary hosts and these, to the end, and looks at all that must always hold.
        Those of `secure` are visited by https. `replace` changes the configuration."""
        world = [*WORLD, "--hostile", ",".join([*names, *secure])]
        log = os.path.join(self.folder, "access.log")
        authority = os.path.join(self.folder, "ca.pem")
        path = self.write("meguri.toml", CONFIG.replace(*replace))
        with VirtualWeb(
            *world, *CLOCK, "--delay", "0", "--log", log, "--https-port", "0",
            "--ca", authority,
        ) as web:  # fmt: skip
            crawled = self.crawl_once(web, world, path, archive, names, secure)
        crawled.accesses = read_log(log, web.port)
        self.check_log(world, log, "--tolerance", "500ms")
        return crawled

    def crawl_once(self, web, world, path, archive, names, secure):
        archive = os.path.join(self.folder, archive)
        ca = os.path.join(self.folder, "ca.pem")
        seeds = [f"http://{host_of(name)}:{web.port}/" for name in names]
        seeds += [f"https://{host_of(name)}:{web.ready['https_port']}/" for name in secure]
        done = testing.run(
            crawl_command(web, archive, *CLOCK, "--json", "--config", path, "--ca", ca)
            + seeds,
            timeout=120,
        )
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        standing = json.loads(done.stdout)
        self.assertTrue(standing["finished"])
        self.assertEqual(standing["waiting"], 0)
        crawled = Crawled(web, archive)
        ordinary = {
            url: visits for url, visits in crawled.visits.items() if ".hostile." not in url
        }
        ordinary = {url: visits for url, visits in ordinary.items() if ".test:" in url}
        # The configuration looks for no sitemaps that nobody names.
        expected = {
            url: status
            for url, status in truth(world, web).items()
            if status != 404 or not url.endswith("/sitemap.xml")
        }
        self.check_exact(ordinary, expected)
        return crawled


class Rows(HostileCase):
    def assert_home(self, crawled, name, **expected):
        """What the crawl log has of a host's home page; None: nothing."""
        line = crawled.home(name)
        for key, value in expected.items():
            self.assertEqual(line.get(key), value, f"{name}: {line}")

    def warc_fields(self, crawled, name):
        """The fields of the last record of its home page."""
        (url,) = [
            url for url in crawled.visits if f"//{host_of(name)}:" in url and is_home(url)
        ]
        return crawled.visits[url][-1].fields

    def test_slow_servers(self):
        crawled = self.crawl(
            "slow-head", "silent", "slow-body", "steady-body", "deaf", secure=["silent-handshake"],
            replace=('html_size = "1MB"', 'html_size = "2MB"'),
        )  # fmt: skip
        self.assert_home(crawled, "slow-head", failure="head_timeout", outcome="error")
        self.assert_home(crawled, "silent", failure="head_timeout", outcome="error")
        self.assertEqual(len(crawled.of("silent")), 2, "as often as tries says")
        self.assertEqual(crawled.reasons("silent-handshake"), ["parked"])
        for line in crawled.of("silent-handshake", "robots"):
            self.assertEqual(line["failure"], "tls_timeout")
        self.assertEqual(crawled.reasons("deaf"), ["parked"])
        self.assertEqual(
            {line["failure"] for line in crawled.of("deaf", "robots")}, {"connect_timeout"}
        )
        for name in ("slow-body", "steady-body"):
            self.assert_home(crawled, name, status=200, outcome="changed", truncated="time")
            self.assertEqual(self.warc_fields(crawled, name)["WARC-Truncated"], "time")

    def test_endless_bodies(self):
        crawled = self.crawl("endless-html", "endless-file")
        for name, size in (("endless-html", 1_000_000), ("endless-file", 2_000_000)):
            self.assert_home(crawled, name, status=200, truncated="length")
            fields = self.warc_fields(crawled, name)
            self.assertEqual(fields["WARC-Truncated"], "length")
            self.assertAlmostEqual(int(fields["Content-Length"]), size, delta=500)
        self.assertEqual(crawled.targets("endless-html"), ["/", "/first"])

    def test_bombs(self):
        crawled = self.crawl(
            "gzip-bomb", "brotli-bomb", "nested-bomb", "many-codings", "false-coding", "gzip-file",
            replace=('html_size = "1MB"', 'html_size = "2MB"'),
        )  # fmt: skip
        stopped = "its content coding was not undone to the end: "
        for name in ("gzip-bomb", "brotli-bomb", "nested-bomb"):
            self.assert_home(crawled, name, outcome="changed", error=stopped + "bomb", links=1)
            self.assertEqual(crawled.targets(name), ["/", "/before"])
        self.assert_home(crawled, "many-codings", error=stopped + "unsupported", links=0)
        self.assert_home(crawled, "false-coding", error=stopped + "corrupt", links=0)
        # What is stored is what came.
        self.assertLess(int(self.warc_fields(crawled, "gzip-bomb")["Content-Length"]), 250_000)
        self.assertLess(int(self.warc_fields(crawled, "brotli-bomb")["Content-Length"]), 1_000)
        self.assertEqual(sorted(crawled.targets("gzip-file")), ["/", "/before", "/sitemap.xml.gz"])

    def test_heads(self):
        crawled = self.crawl(
            "header-flood", "long-header", "large-head", "endless-interim", "not-http",
            "control-head", "bad-length",
        )  # fmt: skip
        for name, failure in (
            ("header-flood", "too_many_lines"),
            ("long-header", "head_too_large"),
            ("large-head", "head_too_large"),
            ("endless-interim", "too_many_lines"),
            ("not-http", "bad_response"),
            ("control-head", "bad_response"),
            ("bad-length", "bad_response"),
        ):
            self.assert_home(crawled, name, failure=failure, outcome="error")
            self.assertEqual(len(crawled.of(name)), 1, "another try would bring the same")

    def test_chunks(self):
        names = ["negative", "overflow", "not-hex", "missing", "overrun"]
        crawled = self.crawl(*[f"chunk-{name}" for name in names])
        for name in names:
            self.assert_home(crawled, f"chunk-{name}", status=200, truncated="unspecified")

    def test_redirects(self):
        crawled = self.crawl("redirect-loop", "redirect-chain", "cookie-wall")
        self.assertEqual(crawled.targets("redirect-loop"), ["/", "/there"])
        hops = [f"/hop/{i}" for i in range(1, 11)]
        self.assertEqual(crawled.targets("redirect-chain"), ["/", *hops])
        self.assertEqual(len(crawled.targets("cookie-wall")), 11)

    def test_robots(self):
        crawled = self.crawl(
            "robots-huge", "robots-delay", "retry-after", "robots-error", "robots-broken",
            "robots-redirects", "robots-loop", secure=["retry-after"],
        )  # fmt: skip
        # What stands behind the first 512 KiB does not count.
        self.assertEqual(sorted(crawled.targets("robots-huge")), ["/", "/late/1", "/open"])
        self.assertEqual(crawled.reasons("robots-huge"), ["robots"])
        (line,) = crawled.of("robots-huge", "robots")
        self.assertLess(line["bytes"], 530_000)
        for name in ("robots-delay", "robots-error", "robots-broken"):
            self.assertEqual(crawled.targets(name), [], name)
            self.assertEqual(crawled.reasons(name), ["parked"], name)
        # One of its two pages is asked for, and the other does not wait for ten years.
        self.assertEqual(crawled.targets("retry-after"), ["/"])
        self.assertEqual(crawled.reasons("retry-after"), ["parked"])
        self.assertEqual(
            sorted(crawled.targets("robots-redirects")),
            ["/", "/open", *[f"/rules/{i}" for i in range(1, 6)]],
        )
        self.assertEqual(crawled.reasons("robots-redirects"), ["robots"])
        self.assertIn("/1", crawled.targets("robots-loop"))

    def test_private_addresses(self):
        crawled = self.crawl(
            "private-address", "private-address6", "metadata-address", "mixed-addresses",
            "redirect-inside",
        )  # fmt: skip
        for name in ("private-address", "private-address6", "metadata-address"):
            self.assertEqual(crawled.reasons(name), ["forbidden"], name)
            self.assertEqual(crawled.of(name), [])
        self.assert_home(crawled, "mixed-addresses", status=200)
        self.assertEqual(crawled.targets("redirect-inside"), ["/", "/1", "/2", "/3"])
        inside = [line for line in crawled.lines if ".test" not in line["host"]]
        self.assertEqual({line.get("reason") for line in inside}, {"forbidden"})
        self.assertEqual(
            {line["host"] for line in inside},
            {"10.0.0.1", "169.254.169.254", "[fe80::1]", "192.168.0.1", "[::ffff:a00:1]"},
        )
        self.assert_connected_to_the_loopback(crawled)

    def assert_connected_to_the_loopback(self, crawled):
        for line in crawled.lines:
            self.assertTrue(line.get("address", "127.").startswith("127."), line)

    def test_traps(self):
        crawled = self.crawl(
            "calendar", "session-ids", "repeated-segments", "deep-paths", "endless-pages",
            "long-links",
        )  # fmt: skip
        # This year and the next, as [traps] says.
        years = {target.split("/")[2] for target in crawled.targets("calendar") if target != "/"}
        self.assertEqual(len(years), 2)
        self.assertEqual(len(set(crawled.targets("calendar"))), 25)
        self.assertEqual(crawled.targets("session-ids"), ["/", "/plain"])
        self.assertEqual(
            sorted(crawled.targets("repeated-segments")),
            ["/", "/more/", "/more/more/", "/some/way/", "/some/way/some/way/"],
        )
        depths = [target.count("/") - 1 for target in crawled.targets("deep-paths")]
        self.assertEqual(depths, list(range(21)))
        self.assertEqual(len(crawled.targets("endless-pages")), 30)
        lengths = sorted(len(target) for target in crawled.targets("long-links"))
        self.assertEqual(lengths, [1, 7, 3006])

    def test_resets(self):
        crawled = self.crawl(
            "reset-on-connect", "reset-after-request", "reset-in-head", "reset-in-body",
            "short-body", secure=["reset-in-handshake"],
        )  # fmt: skip
        for name in ("reset-on-connect", "reset-in-handshake"):
            self.assertEqual(crawled.reasons(name), ["parked"], name)
            self.assertEqual(crawled.of(name), [], name)
        for name in ("reset-after-request", "reset-in-head"):
            self.assert_home(crawled, name, failure="reset", outcome="error")
            self.assertEqual(len(crawled.of(name)), 2, name)
        for name in ("reset-in-body", "short-body"):
            first = crawled.of(name)[0]
            self.assertEqual((first["status"], first["truncated"]), (200, "disconnect"), first)

    def test_certificates(self):
        names = ["expired-certificate", "wrong-certificate-name", "self-signed-certificate"]
        crawled = self.crawl(secure=names)
        for name in names:
            self.assertEqual(crawled.targets(name), [], name)
            self.assertEqual(crawled.reasons(name), ["parked"], name)
            failures = {line["failure"] for line in crawled.of(name, "robots")}
            self.assertEqual(failures, {"certificate"})
        for name, reason in zip(names, ("expired", "matches target host name", "self-signed")):
            self.assertIn(reason, crawled.of(name, "robots")[0]["error"])

    def test_content(self):
        crawled = self.crawl(
            "control-body", "many-links", "deep-nesting", "wrong-type", "wrong-charset"
        )
        self.assertEqual(
            sorted(crawled.targets("control-body")),
            ["/", "/bell%07%7F", "/lineX-Injected:%20yes", "/nul%EF%BF%BDnul", "/plain", "/tabtab"],
        )
        self.assert_home(crawled, "many-links", status=200, links=10_000)
        self.assertEqual(len(crawled.targets("many-links")), 30)
        self.assertEqual(sorted(crawled.targets("deep-nesting")), ["/", "/after", "/before"])
        self.assertEqual(
            sorted(crawled.targets("wrong-type")),
            ["/", "/as-text", "/before", "/garbled", "/in-a-picture", "/page.png"]
            + ["/picture.html", "/untyped"],
        )
        self.assertIn("/after", crawled.targets("wrong-charset"))

    def test_sitemaps(self):
        crawled = self.crawl(
            "entity-sitemap", "huge-sitemap", replace=('body_size = "2MB"', 'body_size = "8MB"')
        )
        # Entities are text, and stay what they are.
        self.assertEqual(
            sorted(crawled.targets("entity-sitemap")),
            ["/", "/&file;", "/after", "/before", "/sitemap.xml"],
        )
        (line,) = [one for one in crawled.of("huge-sitemap") if "sitemap.xml" in one["url"]]
        self.assertEqual(line["links"], 50_000)
        self.assertEqual(len(crawled.targets("huge-sitemap")), 30)


class Rebinding(HostileCase):
    def test_an_address_is_judged_when_it_is_used(self):
        """Look-ups lead to the host and to a private address in turn."""
        world = [*WORLD, "--hostile", "rebinding"]
        log = os.path.join(self.folder, "access.log")
        authority = os.path.join(self.folder, "ca.pem")
        path = self.write("meguri.toml", CONFIG)
        with VirtualWeb(
            *world, *CLOCK, "--delay", "0", "--log", log, "--https-port", "0",
            "--ca", authority,
        ) as web:  # fmt: skip
            # A slow crawl may have asked twice, so that the next one is led to the host again.
            crawls = []
            for archive in ("first", "second", "third", "fourth"):
                crawls.append(
                    self.crawl_once(web, world, path, archive, ["rebinding"], [])
                )
                if len(crawls) > 1 and crawls[-1].reasons("rebinding") == ["forbidden"]:
                    break
        for crawled in crawls:
            for line in crawled.of("rebinding"):
                self.assertTrue(line["address"].startswith("127."), line)
        self.assertGreater(len(crawls[0].of("rebinding")), 0)
        self.assertEqual(crawls[-1].of("rebinding"), [])
        self.assertEqual(crawls[-1].reasons("rebinding"), ["forbidden"])
        self.check_log(world, log, "--tolerance", "500ms")


# The sizes are the defaults, and large bodies have the time to come.
DEFAULT_SIZES = "".join(
    line + "\n"
    for line in CONFIG.splitlines()
    if line.partition(" ")[0] not in ("body_size", "html_size", "bodies_size")
).replace('fetch_time = "12m"', 'fetch_time = "40m"')


class Together(HostileCase):
    def peak_mb(self, hostile):
        """The memory of a crawl with the default limits of sizes, in MB."""
        world = [*WORLD, *(["--hostile", "all"] if hostile else [])]
        authority = os.path.join(self.folder, "ca.pem")
        path = self.write("meguri.toml", DEFAULT_SIZES)
        log = os.path.join(self.folder, f"access-{hostile}.log")
        archive = os.path.join(self.folder, f"archive-{hostile}")
        with VirtualWeb(
            *world, *CLOCK, "--delay", "0", "--log", log, "--https-port", "0",
            "--ca", authority,
        ) as web:  # fmt: skip
            seeds = []
            for host in web.ready.get("hostile", []):
                seeds.append(f"http://{host}:{web.port}/")
                seeds.append(f"https://{host}:{web.ready['https_port']}/")
            done = testing.run(
                [sys.executable, "-c", MEMORY_SCRIPT]
                + crawl_command(web, archive, *CLOCK, "--json", "--config", path)
                + ["--ca", authority, *seeds],
                timeout=200,
            )
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertTrue(json.loads(done.stdout.splitlines()[-1])["finished"])
        self.check_log(world, log, "--tolerance", "500ms")
        self.assertEqual(os.listdir(os.path.join(archive, "state", "spool")), [])
        return int(done.stderr.rsplit("peak ", 1)[1]) / 1024

    def test_all_of_them_take_little_memory(self):
        calm = self.peak_mb(False)
        troubled = self.peak_mb(True)
        print(f"{calm:.0f} MB, with hostile hosts {troubled:.0f} MB", file=sys.stderr)
        self.assertLess(troubled - calm, 64)


class Documented(testing.TestCase):
    def test_every_host_stands_in_the_document(self):
        with open(os.path.join(testing.ROOT, "docs/hostile.md"), encoding="utf-8") as file:
            document = file.read()
        listed = testing.run([MEGURI, "virtual-web", "hostile", "--json"])
        self.assertEqual(listed.returncode, 0, listed.stderr)
        hosts = [json.loads(line) for line in listed.stdout.splitlines()]
        self.assertGreater(len(hosts), 50)
        self.assertEqual([one["name"] for one in hosts if f"`{one['name']}`" not in document], [])

    def test_a_host_that_is_none_gets_one_sentence(self):
        done = testing.run([MEGURI, "virtual-web", "--hostile", "silent,gzip-bom"])
        self.assert_says_one_sentence(done, 2, "gzip-bom", "did you mean 'gzip-bomb'")


if __name__ == "__main__":
    unittest.main()
