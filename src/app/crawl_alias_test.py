"""Hosts with the same pages are taken for one, and for two again when they part."""

import json
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
from crawl_testing import CLOCK_ORIGIN, CrawlCase, clock, crawl_command
from virtual_web_test import MEGURI, VirtualWeb

SPEED = 10000
# Of three hosts with a "www." and without it, two have the same pages under both names.
WORLD = ["--hosts", "12", "--pages", "240", "--size-exponent", "0", "--seed", "4"]
COPIES = {frozenset((name, "www." + name)) for name in ("bebaba.test", "bibaba.test")}
# Within days, which last seconds. Hosts whose pages changed between two visits get another chance.
CONFIG = """
[revisit]
first_max = "2h"
max_interval = "6h"
[aliases]
check = "1h"
apart = "12h"
"""
RUNS_MAX = 20


class Aliases(CrawlCase):
    def crawl_until(self, is_enough, *world, port=0):
        """Lets a crawl go on, some seconds at a time, until its hosts are as they should be.

        Called again, with the port of before, it goes on in the same archive.
        """
        archive = os.path.join(self.folder, "archive")
        os.makedirs(archive, exist_ok=True)
        with open(os.path.join(archive, "meguri.toml"), "w", encoding="utf-8") as file:
            file.write(CONFIG)
        with VirtualWeb(*WORLD, *world, *clock(SPEED), "--delay", "0", "--no-crawl-delay",
                        port=port) as web:
            command = crawl_command(web, archive, *clock(SPEED))
            command = [word for word in command if word != "--once"]
            for run in range(RUNS_MAX):
                # Longer and longer: a busy machine does little in a few seconds.
                done = testing.run([*command, "--for", f"{3 + run}s"])
                self.assertEqual(done.returncode, 0, done.stderr[-2000:])
                aliases = self.aliases(archive)
                if is_enough(aliases):
                    break
            self.port = web.port
        self.archive = archive
        return aliases

    def ask(self, *words):
        done = testing.run([MEGURI, *words])
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def aliases(self, archive):
        hosts = json.loads(self.ask("hosts", archive, "--json"))["hosts"]
        return {host["host"]: host["alias_of"] for host in hosts if "alias_of" in host}

    def test_same_hosts_are_merged_and_others_are_not(self):
        # On a busy machine the pages of a pair may be seen so far apart that they differ.
        aliases = self.crawl_until(lambda found: len(found) > 0)
        self.assertGreater(len(aliases), 0)
        self.assertLessEqual({frozenset(pair) for pair in aliases.items()}, COPIES)
        alias, kept = sorted(aliases.items())[0]
        self.assertRegex(self.ask("hosts", self.archive), f"{alias} .* an alias of {kept}")
        why = self.ask("why", self.archive, f"http://{alias}:{self.port}/")
        self.assertIn(f"Its host {alias} is an alias of {kept}", why)

    def test_hosts_that_part_are_two_again(self):
        merged = self.crawl_until(lambda found: len(found) > 0)
        self.assertGreater(len(merged), 0)
        # From now on, however long that took.
        now = time.gmtime(CLOCK_ORIGIN + (time.time() - CLOCK_ORIGIN) * SPEED)
        until = time.strftime("%Y-%m-%dT%H:%M:%SZ", now)
        parted = self.crawl_until(
            lambda found: not found, "--copies-until", until, port=self.port)
        self.assertEqual(parted, {})


if __name__ == "__main__":
    unittest.main()
