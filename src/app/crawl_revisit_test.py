"""`meguri crawl` without --once: pages are visited again and again, each at its own pace."""

import base64
import collections
import hashlib
import json
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../archive"))
import testing
import warc_peers_test as peers
from crawl_testing import CrawlCase, archived, clock, clock_ms, crawl_command, read_log, warc_files
from pywb_testing import Pywb
from virtual_web_test import MEGURI, VirtualWeb


def ranks(values):
    """The rank of each value; equal ones share the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    found = [0.0] * len(values)
    begin = 0
    while begin < len(order):
        end = begin
        while end < len(order) and values[order[end]] == values[order[begin]]:
            end += 1
        for place in order[begin:end]:
            found[place] = (begin + end - 1) / 2
        begin = end
    return found


def correlation(a, b):
    """Spearman's, of two lists of equal length."""
    a, b = ranks(a), ranks(b)
    mean = (len(a) - 1) / 2
    product = sum((x - mean) * (y - mean) for x, y in zip(a, b))
    squares = sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b)
    return product / squares**0.5


def for_ever(command):
    return [word for word in command if word != "--once"]


class Revisits(CrawlCase):
    CONFIG = ""

    def crawl(self, world, speed, seconds, accesses_min=0):
        """Lets a crawl go on for so many real seconds, and on again until there were so many
        accesses; returns its last standing and the accesses."""
        self.log = os.path.join(self.folder, "access.log")
        self.archive = os.path.join(self.folder, "archive")
        os.makedirs(self.archive)
        with open(os.path.join(self.archive, "meguri.toml"), "w", encoding="utf-8") as file:
            file.write(self.CONFIG)
        with VirtualWeb(*world, *clock(speed), "--delay", "0", "--log", self.log) as web:
            command = for_ever(crawl_command(web, self.archive, *clock(speed), "--json"))
            begin = clock_ms(speed)
            for _ in range(8):
                done = testing.run([*command, "--for", f"{seconds}s"], timeout=seconds + 60)
                self.assertEqual(done.returncode, 0, done.stderr[-2000:])
                if len(read_log(self.log, web.port)) >= accesses_min:
                    break
            self.days = (clock_ms(speed) - begin) / 86_400_000
            self.port = web.port
        # A millisecond of each clock's rounding, ten times by the factor.
        self.check_log(world, self.log, "--host-factor", "10", "--tolerance", "20ms")
        return json.loads(done.stdout), read_log(self.log, self.port)

    def true_intervals(self, world):
        """Seconds between changes of every page, on the mean."""
        listed = testing.run(
            [MEGURI, "virtual-web", "pages", *world, "--port", str(self.port), "--json"]
            + ["--until", "2026-01-02"]
        )
        self.assertEqual(listed.returncode, 0, listed.stderr)
        pages = map(json.loads, listed.stdout.splitlines())
        return {page["url"]: page["interval_s"] for page in pages}

    def check_paces(self, world, accesses, least):
        """Fast pages are visited more often than slow ones, of those with five visits or more."""
        truth = self.true_intervals(world)
        visits = {}
        for access in accesses:
            if access.url in truth:
                visits[access.url] = visits.get(access.url, 0) + 1
        often = {url: count for url, count in visits.items() if count >= 5}
        rates = [1 / truth[url] for url in often]
        found = correlation(rates, list(often.values()))
        print(
            f"{self.days:.1f} days, {len(accesses)} accesses, {len(visits)} pages,"
            f" {len(often)} of them five times; rank correlation {found:.3f}",
            file=sys.stderr,
        )
        self.assertGreater(len(often), 50)
        self.assertGreaterEqual(found, least)

    def check_archive(self):
        """What did not change is told by revisit records, and 304 was used."""
        visits = archived(self.archive)
        stored = {one.id for ones in visits.values() for one in ones if one.kind == "response"}
        again = [one for ones in visits.values() for one in ones if one.kind == "revisit"]
        self.assertTrue(any(one.status == 304 for one in again))
        for one in again:
            self.assertIn(one.fields["WARC-Refers-To"], stored, one)
        # To pywb a host is the same with and without www., and a second is one moment.
        moment = lambda one: (one.date[:19], one.url.replace("//www.", "//", 1))
        times = collections.Counter(moment(one) for ones in visits.values() for one in ones)
        return [one for one in again if times[moment(one)] == 1]

    def check_replay(self, revisits):
        """pywb shows of a revisit what the record it refers to has."""
        if not peers.has_pywb():
            self.skipTest("pywb cannot be installed")
        chosen = random.Random(1).sample(revisits, min(len(revisits), 60))
        self.assertTrue(any(one.status == 304 for one in chosen))
        with Pywb(self.folder, warc_files(self.archive)) as pywb:
            for one in chosen:
                shown = pywb.show(one)
                digest = base64.b32encode(hashlib.sha1(shown.body).digest()).decode()
                self.assertEqual(f"sha1:{digest}", one.fields["WARC-Payload-Digest"], one)
                self.assertEqual(shown.status, 200, one)


class EachAtItsPace(Revisits):
    # Within days, which last seconds.
    CONFIG = '[revisit]\nfirst_max = "6h"\n'
    WORLD = ["--hosts", "12", "--pages", "300", "--servers", "12", "--seed", "5", "--sound"]

    def test_fast_pages_are_visited_more_often(self):
        standing, accesses = self.crawl(self.WORLD, 10000, 12, accesses_min=4000)
        self.assertFalse(standing["finished"])
        self.assertGreater(standing["revisits"], 0)
        self.check_paces(self.WORLD, accesses, 0.4)
        self.check_replay(self.check_archive())


class LongLive(Revisits):
    WORLD = ["--hosts", "40", "--pages", "3000", "--seed", "6"]

    def test_ten_minutes_at_an_hour_a_second(self):
        _, accesses = self.crawl(self.WORLD, 3600, 600)
        revisits = self.check_archive()
        self.check_paces(self.WORLD, accesses, 0.8)
        self.check_replay(revisits)


if __name__ == "__main__":
    unittest.main()
