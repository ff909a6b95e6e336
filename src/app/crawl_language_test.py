"""`meguri crawl --language`: links are followed by the language of the page that has them."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
from crawl_testing import CrawlCase, clock, crawl_command
from virtual_web_test import MEGURI, VirtualWeb

WORLD = ["--hosts", "30", "--pages", "300", "--seed", "5", "--sound", "--still"]


class Languages(CrawlCase):
    def crawl(self, *more):
        """Crawls the web to its end; returns the lines of the crawl log that are of pages."""
        archive = os.path.join(self.folder, f"archive{len(more)}")
        with VirtualWeb(*WORLD, *clock(1000), "--delay", "0") as web:
            done = testing.run(crawl_command(web, archive, *clock(1000), "--json", *more))
            self.assertEqual(done.returncode, 0, done.stderr[-2000:])
            self.assertTrue(json.loads(done.stdout)["finished"])
            listed = testing.run(
                [MEGURI, "virtual-web", "pages", *WORLD, "--port", str(web.port), "--json"]
            )
            self.assertEqual(listed.returncode, 0, listed.stderr)
            pages = map(json.loads, listed.stdout.splitlines())
            self.language = {page["url"]: page["language"] for page in pages}
            self.seed = web.ready["first"]
            self.port = f":{web.port}/"
        with open(os.path.join(archive, "logs", "crawl.jsonl"), encoding="utf-8") as lines:
            return [line for line in map(json.loads, lines) if line["type"] == "page"]

    def without_port(self, visits):
        return {visit["url"].replace(self.port, "/") for visit in visits}

    def test_only_links_of_pages_in_the_language_are_followed(self):
        visits = self.crawl("--language", "ja")
        own = foreign = 0
        for visit in visits:
            language = self.language.get(visit["url"])
            if language is None or visit["url"] == self.seed:
                self.assertNotIn("foreign_links", visit)
            elif language == "ja":
                self.assertNotIn("foreign_links", visit)
                own += 1
            elif "foreign_links" in visit:
                foreign += 1
            if visit["offer"] in ("link", "hint") and visit["via"] != self.seed:
                self.assertEqual(self.language.get(visit["via"], "ja"), "ja", visit)
        self.assertGreater(own, 20)
        self.assertGreater(foreign, 5)
        self.assertLess(own + foreign, len(self.language) * 3 / 4)

    def test_links_of_other_pages_can_come_last(self):
        every = self.without_port(self.crawl())
        visits = self.crawl("--language", "ja", "--foreign-links", "last")
        self.assertEqual(self.without_port(visits), every)
        self.assertGreater(sum(visit.get("foreign_links", 0) for visit in visits), 0)


if __name__ == "__main__":
    unittest.main()
