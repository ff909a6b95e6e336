"""`meguri snapshot`: what an archive had at a moment, or during a period."""

import json
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
from crawl_testing import CrawlCase, clock, crawl_command, start_quietly
from virtual_web_test import MEGURI, VirtualWeb
from warc_testing import SITE, Visit, not_modified, page

VISITS = [
    Visit(1, "", body=page("One.")),
    not_modified(2, ""),
    Visit(3, "", body=page("Two.")),
    Visit(4, "", 404),
    Visit(5, "", body=page("Two.")),
    Visit(1, "failing", body=page("Here.")),
    Visit(2, "failing", 500),
    Visit(3, "image", body=b"\x89PNG", head=b"Content-Type: image/png\r\n"),
    Visit(1, "http://other.example/", body=page("Other.")),
]

# Periods of 2026 to which February, the second visit to the first page, lies so.
RELATIONS = {
    "before": "2026-03-02..2026-04",
    "meets": "2026-03..2026-04",
    "overlaps": "2026-02-10..2026-03",
    "finished-by": "2026-02-10..2026-02",
    "contains": "2026-02-10..2026-02-11",
    "starts": "2026-02..2026-03",
    "equals": "2026-02..2026-02",
    "started-by": "2026-02..2026-02-10",
    "during": "2026-01..2026-03",
    "finishes": "2026-01..2026-02",
    "overlapped-by": "2026-01..2026-02-10",
    "met-by": "2026-01..2026-01",
    "after": "2026-01-10..2026-01-20",
}


class SnapshotCase(testing.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = os.path.join(self.folder, "archive")
        self.warc = os.path.join(self.folder, "made.warc.gz")
        with open(self.warc, "wb") as file:
            file.writelines(visit.record() for visit in VISITS)
        done = testing.run([MEGURI, "import", self.archive, self.warc])
        self.assertEqual(done.returncode, 0, done.stderr)

    def run_snapshot(self, *arguments):
        return testing.run([MEGURI, "snapshot", self.archive, *arguments])

    def lines(self, *arguments):
        done = self.run_snapshot(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def urls(self, *arguments):
        return [line.removeprefix(SITE) for line in self.lines(*arguments)]

    def cdxj(self, *arguments):
        found = []
        for line in self.lines("--output", "cdxj", *arguments):
            surt, timestamp, fields = line.split(" ", 2)
            found.append((surt, timestamp, json.loads(fields)))
        return found


class Snapshot(SnapshotCase):
    def test_at_a_moment(self):
        other = "http://other.example/"
        self.assertEqual(self.urls("--at", "2025"), [])
        self.assertEqual(self.urls("--at", "2026-01"), [other, "", "failing"])
        # What failed is still what it was; what is gone is not.
        self.assertEqual(self.urls("--at", "20260210"), [other, "", "failing"])
        self.assertEqual(self.urls("--at", "2026-03-01T00:00:00Z"), [other, "", "failing", "image"])
        self.assertEqual(self.urls("--at", "2026-04"), [other, "failing", "image"])
        self.assertEqual(self.urls("--at", "2026-04", "--gone"), [other, "", "failing", "image"])
        self.assertEqual(self.urls(), [other, "", "failing", "image"])

    def test_content_is_found_however_long_ago_it_was_stored(self):
        (line,) = self.cdxj("--at", "2026-02-15", "--url", SITE)
        self.assertEqual(line[:2], ("example,site)/", "20260201000000"))
        fields = line[2]
        self.assertEqual(fields["offset"], "0")
        self.assertEqual((fields["status"], fields["mime"]), ("200", "text/html"))
        self.assertEqual(fields["kind"], "unchanged")
        self.assertEqual(fields["valid_from"], "2026-02-01T00:00:00.000Z")
        self.assertEqual(fields["valid_to"], "2026-03-01T00:00:00.000Z")
        (raw,) = self.cdxj("--at", "2026-02-15", "--url", SITE, "--raw")
        self.assertEqual(raw[2]["mime"], "warc/revisit")
        self.assertNotEqual(raw[2]["offset"], "0")

    def test_each_relation_to_a_period(self):
        for name, period in RELATIONS.items():
            for relation in RELATIONS:
                asked = ["--during", period, "--relation", relation]
                found = self.cdxj(*asked, "--url", SITE, "--all")
                february = [line for line in found if line[1].startswith("202602")]
                self.assertEqual(len(february), relation == name, (name, relation))

    def test_the_default_relation_is_begun_and_still_so(self):
        self.assertEqual(self.urls("--during", "2026-03"), ["", "image"])
        self.assertEqual(self.urls("--during", "2026-02-10..2026-02-20"), [])
        january = ["http://other.example/", "", "failing"]
        self.assertEqual(self.urls("--during", "2026-01..2026-01"), january)

    def test_versions(self):
        found = self.cdxj("--during", "..", "--relation", "during,finishes", "--view", "versions",
                          "--all", "--url", SITE)
        spans = [(line[2]["valid_from"][:7], (line[2].get("valid_to") or "")[:7]) for line in found]
        self.assertEqual(spans, [("2026-01", "2026-03"), ("2026-03", "2026-04"), ("2026-05", "")])

    def test_filters(self):
        self.assertEqual(self.urls("--host", "site.example"), ["", "failing", "image"])
        self.assertEqual(self.urls("--domain", "example", "--mime", "image/*"), ["image"])
        self.assertEqual(self.urls("--prefix", SITE + "f"), ["failing"])
        self.assertEqual(self.urls("--status", "5xx", "--errors"), ["failing"])
        self.assertEqual(self.urls("--status", "404", "--gone", "--at", "2026-04"), [""])
        # What a 304 confirms is asked for by what it is.
        self.assertEqual(self.urls("--at", "2026-02", "--mime", "text/html", "--url", SITE), [""])

    def test_a_warc_file_that_needs_no_other(self):
        file = os.path.join(self.folder, "out.warc.gz")
        done = self.run_snapshot("--at", "2026-02-15", "--output", "warc", "-o", file, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual((told["items"], told["records"], told["lost"]), (3, 3, 0))
        self.assertEqual(told["bytes"], os.path.getsize(file))
        os.remove(self.warc)
        checked = testing.run([MEGURI, "warc", "check", file])
        self.assertEqual(checked.returncode, 0, checked.stdout)
        # It is an archive's material again.
        again = os.path.join(self.folder, "again")
        self.assertEqual(testing.run([MEGURI, "import", again, file]).returncode, 0)
        self.archive = again
        self.assertEqual(self.urls(), ["http://other.example/", "", "failing"])

    def test_says_what_cannot_be_read(self):
        os.truncate(self.warc, os.path.getsize(self.warc) - 10)
        file = os.path.join(self.folder, "out.warc.gz")
        done = self.run_snapshot("--output", "warc", "-o", file, "--json")
        self.assertEqual(done.returncode, 1)
        told = json.loads(done.stdout)
        self.assertEqual((told["records"], told["lost"]), (3, 1))
        self.assertIn("made.warc.gz", told["losses"][0]["file"])

    def test_a_file_is_there_whole_or_not_at_all(self):
        file = os.path.join(self.folder, "urls")
        done = self.run_snapshot("-o", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^4 items of 4 pages by the newest visits: \d+ B in ")
        with open(file, encoding="utf-8") as text:
            self.assertEqual(len(text.readlines()), 4)
        self.assertEqual(os.listdir(self.folder).count("urls.part"), 0)


class WrongUse(SnapshotCase):
    def test_is_said(self):
        for arguments, part in (
            (["--at", "yesterday"], "yesterday"),
            (["--during", "2026-02..2026-01"], "ends before it begins"),
            (["--at", "2026", "--during", "2026"], "exclude each other"),
            (["--relation", "before"], "--during"),
            (["--during", "2026", "--relation", "beside"], "overlapped-by"),
            (["--view", "things"], "--view"),
            (["--view", "versions", "--errors"], "--errors"),
            (["--output", "pdf"], "--output"),
            (["--output", "warc"], "-o FILE"),
            (["--json"], "-o FILE"),
            (["--raw"], "cdxj"),
            (["--host", "a b"], "a b"),
            (["--mime", "html"], "html"),
            (["--status", "ok"], "ok"),
            (["--workers", "0"], "--workers"),
        ):
            self.assert_says_one_sentence(self.run_snapshot(*arguments), 2, part)

    def test_no_archive(self):
        self.archive = os.path.join(self.folder, "none")
        self.assert_says_one_sentence(self.run_snapshot(), 1, "none")
        self.archive = self.folder
        self.assert_says_one_sentence(self.run_snapshot(), 1, self.folder)


class RunningCrawl(CrawlCase):
    """A snapshot of a crawl that goes on is taken at its last epoch, and can be repeated."""

    def test_is_repeatable(self):
        world = ["--hosts", "20", "--pages", "400", "--seed", "3", "--sound"]
        speed = clock(3600)
        archive = os.path.join(self.folder, "archive")
        with VirtualWeb(*world, *speed, "--delay", "0") as web:
            command = crawl_command(web, archive, *speed)
            command.remove("--once")
            crawl = start_quietly(command)
            try:
                urls = []
                for _ in range(600):
                    done = testing.run([MEGURI, "snapshot", archive, "--at", "2100"])
                    urls = done.stdout.splitlines() if done.returncode == 0 else []
                    if len(urls) > 100:
                        break
                    time.sleep(0.1)
                self.assertGreater(len(urls), 100, done.stderr)
                dates = [
                    line.split(" ")[1]
                    for line in testing.run(
                        [MEGURI, "snapshot", archive, "--at", "2100", "--output", "cdxj", "--raw"]
                    ).stdout.splitlines()
                ]
                # Of a moment that all epochs are past, whatever comes later.
                moment = sorted(dates)[len(dates) // 4]
                ask = [MEGURI, "snapshot", archive, "--at", moment]
                first = testing.run(ask)
                self.assertEqual(first.returncode, 0, first.stderr)
                time.sleep(2)
                self.assertEqual(testing.run(ask).stdout, first.stdout)
                self.assertGreater(len(first.stdout), 0)
            finally:
                crawl.terminate()
                crawl.wait(60)


if __name__ == "__main__":
    unittest.main()
