"""What sitemaps and feeds say of pages: the pages of honest hosts are visited soon after they have
changed, and lies cost little."""

import datetime
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
from crawl_revisit_test import for_ever
from crawl_testing import CrawlCase, clock, crawl_command, read_log
from virtual_web_test import MEGURI, VirtualWeb

HOUR_MS = 3_600_000


def milliseconds(text):
    moment = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ")
    return moment.replace(tzinfo=datetime.timezone.utc).timestamp() * 1000


class Hints(CrawlCase):
    # After their first visit pages are left alone for days; sitemaps and feeds for an hour.
    CONFIG = """
[revisit]
first_min = "1h"
first_max = "10d"
[politeness]
duration_factor = 1
[scope]
embeds = false
[hints]
pull = {pull}
"""
    WORLD = ["--hosts", "8", "--pages", "240", "--servers", "8", "--size-exponent", "0",
             "--seed", "3", "--sound"]  # fmt: skip
    SPEEDS = (10000, 4000, 1500)
    HOURS = 36

    def crawl_patiently(self, check, *lists, **pull):
        """Crawls and calls check(accesses), with a slower clock as long as that fails: what a busy
        machine does not get done in an hour of a fast clock. What crawl() asks for always holds."""
        for speed in self.SPEEDS:
            accesses = self.crawl(speed, *lists, **pull)
            try:
                return check(accesses)
            except AssertionError as error:
                print(f"at a speed of {speed}: {error}", file=sys.stderr)
                if speed == self.SPEEDS[-1]:
                    raise

    def crawl(self, speed, lists, pull="true"):
        """Lets a crawl go on for HOURS of its clock; returns the accesses."""
        self.world = [*self.WORLD, "--lists", lists]
        self.archive = os.path.join(self.folder, f"archive-{speed}")
        self.write(f"archive-{speed}/meguri.toml", self.CONFIG.format(pull=pull))
        log = os.path.join(self.folder, f"access-{speed}.log")
        seconds = self.HOURS * 3600 // speed
        with VirtualWeb(*self.world, *clock(speed), "--delay", "0", "--log", log) as web:
            command = for_ever(crawl_command(web, self.archive, *clock(speed)))
            done = testing.run([*command, "--for", f"{seconds}s"], timeout=seconds + 60)
            self.assertEqual(done.returncode, 0, done.stderr[-2000:])
            self.port = web.port
        self.check_log(self.world, log, "--host-factor", "1", "--tolerance", "20ms")
        accesses = read_log(log, self.port)
        self.visits = {}
        for access in accesses:
            self.visits.setdefault(access.url, []).append(access)
        self.begin_ms = min(access.arrival_ms for access in accesses)
        self.end_ms = max(access.arrival_ms for access in accesses)
        return accesses

    def pages(self):
        """The times of all changes of each page, in milliseconds."""
        until = datetime.datetime.fromtimestamp(self.end_ms / 1000, datetime.timezone.utc)
        listed = testing.run(
            [MEGURI, "virtual-web", "pages", *self.world, "--port", str(self.port), "--json"]
            + ["--until", until.strftime("%Y-%m-%dT%H:%M:%SZ")]
        )
        self.assertEqual(listed.returncode, 0, listed.stderr)
        pages = map(json.loads, listed.stdout.splitlines())
        return {
            page["url"]: [milliseconds(version["since"]) for version in page["versions"]]
            for page in pages
        }

    def share_seen(self, within_ms):
        """Of the pages that changed when hosts had been judged for 12 hours, while there was time
        to see it: how many were visited soon after the first such change."""
        seen = 0
        known = 0
        for url, changes in self.pages().items():
            visits = [visit.arrival_ms for visit in self.visits.get(url, [])]
            since = max(visits[0], self.begin_ms + 12 * HOUR_MS) if visits else self.end_ms
            later = [change for change in changes if change > since]
            if not later or later[0] > self.end_ms - within_ms:
                continue
            known += 1
            seen += any(later[0] <= visit <= later[0] + within_ms for visit in visits)
        self.assertGreater(known, 20)
        return seen / known

    def hosts(self):
        done = testing.run([MEGURI, "hosts", self.archive, "--json"])
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["hosts"]

    def trust(self):
        """The mean over all hosts that were judged by some visits."""
        found = [host["hints"] for host in self.hosts()]
        judged = [hints for hints in found if hints["right"] + hints["wrong"] >= 3]
        self.assertTrue(judged, found)
        return sum(hints["trust"] for hints in judged) / len(judged)


class HonestHosts(Hints):
    def test_changes_are_seen_soon(self):
        self.crawl_patiently(self.check_seen_soon, "true")

    def check_seen_soon(self, accesses):
        soon = self.share_seen(12 * HOUR_MS)
        trust = self.trust()
        print(f"{soon:.2f} of changes seen within 12 hours; trust {trust:.2f}", file=sys.stderr)
        self.assertGreater(soon, 0.5)
        self.assertGreater(trust, 0.6)
        lists = [one for one in accesses if one.target in ("/sitemap.xml", "/feed.xml")]
        self.assertIn(304, [one.status for one in lists])


class NobodyListens(Hints):
    def test_changes_are_seen_late(self):
        self.crawl_patiently(self.check_seen_late, "true", pull="false")

    def check_seen_late(self, _):
        soon = self.share_seen(12 * HOUR_MS)
        print(f"{soon:.2f} of changes seen within 12 hours", file=sys.stderr)
        self.assertLess(soon, 0.25)


class LyingHosts(Hints):
    def test_lies_lose_their_weight(self):
        self.crawl_patiently(self.check_lies, "lying")

    def check_lies(self, _):
        trust = self.trust()
        print(f"trust {trust:.2f}", file=sys.stderr)
        self.assertLess(trust, 0.4)
        self.check_reasons()

    def check_reasons(self):
        """Some page is to be visited because of what a sitemap says, and `meguri url` says so. On
        honest hosts such a visit is soon over."""
        for url in self.visits:
            done = testing.run([MEGURI, "url", self.archive, url, "--json"])
            if done.returncode != 0:
                continue
            revisit = json.loads(done.stdout).get("revisit", {})
            if revisit.get("reason") != "hint":
                continue
            self.assertLess(revisit["next_visit"], revisit["own_next_visit"])
            said = testing.run([MEGURI, "url", self.archive, url])
            self.assertIn("a sitemap or feed says that it changed at", said.stdout)
            return
        self.fail("no page is due by a hint")


if __name__ == "__main__":
    unittest.main()
