"""The WARC files of a real crawl as others read them: warcio, FastWARC and warcio.js check and
index them, and pywb replays their pages as the virtual web serves them.

They are fetched by name with pip and npm into the build folder; without them, their tests are
skipped.
"""

import json
import os
import sys
import unittest
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../archive"))
import testing
import warc_peers_test as peers
from crawl_testing import CrawlCase, archived, clock, crawl_command, truth, warc_files
from pywb_testing import Pywb, Shown
from virtual_web_test import VirtualWeb

WORLD = ["--hosts", "6", "--pages", "60", "--servers", "6", "--seed", "4", "--still"]

class Archived(CrawlCase):
    """A whole crawl, at whose end `look` is called while the web is still there."""

    def crawl(self, look):
        self.archive = os.path.join(self.folder, "archive")
        with VirtualWeb(*WORLD, *clock(100), "--delay", "0") as web:
            done = testing.run(crawl_command(web, self.archive, *clock(100)))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.visits = archived(self.archive)
            self.check_exact(self.visits, truth(WORLD, web))
            look(web)

    def of_kind(self, kind):
        """One URL is visited once, so each has one record."""
        return [one for ones in self.visits.values() for one in ones if one.kind == kind]

    def lines_of(self, command):
        done = testing.run(command)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout.splitlines()


class Peers(Archived):
    def test_warcio_finds_no_fault_and_indexes_every_record(self):
        if not peers.has_python("warcio"):
            self.skipTest("warcio cannot be installed")
        self.crawl(self.check_with_warcio)

    def check_with_warcio(self, _):
        index = [peers.PYTHON, "-m", "warcio.cli", "index", "-f"]
        fields = "warc-type,warc-target-uri,http:status,offset,length"
        records = []
        for file in warc_files(self.archive):
            text = "\n".join(self.lines_of([peers.PYTHON, "-m", "warcio.cli", "check", "-v", file]))
            self.assertNotIn("fail", text)
            self.assertIn("digest pass", text)
            end = 0
            for line in self.lines_of([*index, fields, file]):
                records.append(json.loads(line))
                self.assertEqual(int(records[-1]["offset"]), end)
                end += int(records[-1]["length"])
            self.assertEqual(end, os.path.getsize(file))
        found = {
            record["warc-target-uri"]: int(record["http:status"])
            for record in records
            if record["warc-type"] in ("response", "revisit")
            and not record["warc-target-uri"].endswith("/robots.txt")
        }
        self.assertEqual(found, {url: ones[0].status for url, ones in self.visits.items()})

    def test_fastwarc_confirms_every_digest(self):
        if not peers.has_python("fastwarc"):
            self.skipTest("FastWARC cannot be installed")
        self.crawl(self.check_with_fastwarc)

    def check_with_fastwarc(self, _):
        for file in warc_files(self.archive):
            for line in self.lines_of([peers.PYTHON, "-c", peers.FASTWARC_SCRIPT, file]):
                record = json.loads(line)
                self.assertEqual(record[4], [], record)

    def test_warcio_js_indexes_every_record(self):
        if not peers.has_npm():
            self.skipTest("warcio.js cannot be installed")
        self.crawl(self.check_with_warcio_js)

    def check_with_warcio_js(self, _):
        found = set()
        for file in warc_files(self.archive):
            for line in self.lines_of([peers.WARCIO_JS, "index", file]):
                record = json.loads(line)
                if record["warc-type"] in ("response", "revisit"):
                    found.add(record["warc-target-uri"])
        found = {url for url in found if not url.endswith("/robots.txt")}
        self.assertEqual(found, set(self.visits))


class Replay(Archived):
    def test_pywb_shows_every_page_and_every_revisit(self):
        if not peers.has_pywb():
            self.skipTest("pywb cannot be installed")
        self.crawl(self.check_with_pywb)

    def check_with_pywb(self, web):
        with Pywb(self.folder, warc_files(self.archive)) as pywb:
            self.compare(web, pywb)

    def compare(self, web, pywb):
        """Replayed pages with those that the virtual web serves now: it stands still."""
        pages = [one for one in self.of_kind("response") if one.status == 200]
        revisits = self.of_kind("revisit")
        self.assertGreater(len(pages), 20)
        self.assertGreater(len(revisits), 3)
        for visit in pages + revisits:
            shown = pywb.show(visit)
            host, target = visit.url.removeprefix("http://").split("/", 1)
            real = Shown(
                urllib.request.Request(
                    f"http://127.0.0.1:{web.port}/{target}", headers={"Host": host}
                )
            )
            self.assertEqual((shown.status, shown.text()), (real.status, real.text()), visit)


if __name__ == "__main__":
    unittest.main()
