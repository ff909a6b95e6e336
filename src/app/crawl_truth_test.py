"""`meguri crawl --once` archives exactly what is there, by the virtual web's truth and log."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
from crawl_testing import CrawlCase, archived, clock, crawl_command, truth
from virtual_web_test import VirtualWeb

# Measured by the system for every child that has ended, the largest in KiB: so a test that asks
# for the memory of a crawl is a process of its own, as ctest runs it.
MEMORY_SCRIPT = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
sys.stderr.write(f"\\npeak {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}")
sys.exit(code)
"""


class WholeCrawl(CrawlCase):
    def crawl(self, world, speed, seconds_max):
        """Crawls a web to its end and compares; returns how many URLs, and the memory in MB."""
        world = [*world, "--still"]
        log = os.path.join(self.folder, "access.log")
        archive = os.path.join(self.folder, "archive")
        with VirtualWeb(*world, *clock(speed), "--delay", "0", "--log", log) as web:
            done = testing.run(
                [sys.executable, "-c", MEMORY_SCRIPT]
                + crawl_command(web, archive, *clock(speed), "--json"),
                timeout=seconds_max,
            )
            self.assertEqual(done.returncode, 0, done.stderr[-2000:])
            expected = truth(world, web)
        standing = json.loads(done.stdout)
        self.assertTrue(standing["finished"])
        self.assertEqual(standing["waiting"], 0)
        self.check_exact(archived(archive), expected)
        # A millisecond of each clock's rounding, ten times by the factor.
        self.check_log(
            world, log, "--once", "--seed-url", web.ready["first"], "--host-factor", "10",
            "--tolerance", "20ms",
        )  # fmt: skip
        return len(expected), int(done.stderr.rsplit("peak ", 1)[1]) / 1024


class Exact(WholeCrawl):
    def test_fifty_hosts(self):
        urls, _ = self.crawl(["--hosts", "50", "--pages", "2000", "--seed", "11"], 1000, 240)
        self.assertGreater(urls, 1500)


class LongExact(WholeCrawl):
    def test_a_thousand_hosts_in_little_memory(self):
        urls, memory_mb = self.crawl(["--hosts", "1000", "--pages", "100000"], 500, 3000)
        print(f"{urls} URLs, {memory_mb:.0f} MB", file=sys.stderr)
        self.assertGreater(urls, 80000)
        self.assertLess(memory_mb, 600)


if __name__ == "__main__":
    unittest.main()
