"""`meguri report`: the figures of paper 002 of a crawl, at rest and running."""

import html.parser
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
from crawl_testing import CrawlCase, checkpoint_states, clock, crawl_command
from virtual_web_test import MEGURI, VirtualWeb

SPEED = 10000
VOID = {"meta", "br", "hr", "img", "link", "input"}


class Page(html.parser.HTMLParser):
    """A document of which every element is closed in its order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open = []
        self.count = {}
        self.text = []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (self.open, tag)
        self.open.pop()

    def handle_data(self, data):
        self.text.append(data)


def log_lines(archive):
    """Those that count: what came after the last checkpoint is cut by the next crawl."""
    serial, offset = checkpoint_states(archive)["log"].decode("ascii").split(" ")
    assert serial == "1", serial
    with open(os.path.join(archive, "logs", "crawl.jsonl"), "rb") as file:
        return [json.loads(line) for line in file.read(int(offset)).splitlines()]


class Reports(CrawlCase):
    def ask(self, command, *arguments):
        done = testing.run([MEGURI, command, *arguments, "--json"])
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check_parts(self, report):
        """What the numbers of any report have to do with each other."""
        pages, hosts, visits = report["pages"], report["hosts"], report["visits"]
        bins = pages["intervals"]
        self.assertEqual(sum(one["pages"] for one in bins), pages["seen_again"])
        self.assertEqual(
            sum(pages["reasons"].values()), report["standing"]["done"], pages["reasons"]
        )
        self.assertGreaterEqual(pages["visits"], pages["versions"])
        for one in bins:
            self.assertLessEqual(one["versions"], one["visits"])
        self.assertEqual(hosts["between"]["count"], hosts["loaded"])
        for name in ("between", "downloads", "ratios"):
            below = [row["below"] for row in hosts[name]["cumulative"]]
            self.assertEqual(below, sorted(below))
            self.assertLessEqual(below[-1], hosts[name]["count"])  # some may lie above all edges
        self.assertEqual(sum(visits["outcomes"].values()), visits["pages"])
        # A visit stands in the log with its epoch, and in the pages' records too.
        self.assertEqual(visits["pages"], pages["visits"])


class OfAContinuousCrawl(Reports):
    WORLD = ["--hosts", "8", "--pages", "120", "--servers", "8", "--seed", "5"]

    def check_against_others(self, archive, report):
        """The same as the commands say that ask for less."""
        status = self.ask("status", archive)
        for name in ("pages", "done", "waiting", "visited", "refused"):
            self.assertEqual(report["standing"][name], status[name], name)
        rows = self.ask("hosts", archive, "--limit", "1000")["hosts"]
        listed = {row["host"]: row for row in rows}
        self.assertEqual(report["hosts"]["hosts"], len(listed))
        loaded = [row for row in listed.values() if row["visits_a_day_wanted"] > 1e-6]
        self.assertEqual(report["hosts"]["loaded"], len(loaded))
        self.assertGreater(len(loaded), 0)
        self.assertAlmostEqual(
            report["hosts"]["visits_a_day_wanted"],
            sum(row["visits_a_day_wanted"] for row in loaded),
            places=3,
        )
        for row in report["hosts"]["tightest"]:
            other = listed[row["host"]]
            for name in ("pages", "download_ms", "visits_a_day_wanted", "feasibility"):
                self.assertEqual(row[name], other[name], (name, row, other))

    def check_against_log(self, archive, report):
        lines = log_lines(archive)
        pages = [line for line in lines if line["type"] == "page"]
        visits = report["visits"]
        self.assertEqual(visits["pages"], len(pages))
        self.assertEqual(visits["robots"], sum(line["type"] == "robots" for line in lines))
        self.assertEqual(visits["refusals"], sum(line["type"] == "refusal" for line in lines))
        self.assertEqual(visits["bytes"], sum(line.get("bytes", 0) for line in lines))
        self.assertEqual(visits["not_modified"], sum(line.get("status") == 304 for line in pages))
        self.assertGreater(visits["not_modified"], 0)

    def test_says_the_same_as_status_hosts_and_the_log(self):
        archive = os.path.join(self.folder, 'archive <b>&"')
        os.makedirs(archive)
        with open(os.path.join(archive, "meguri.toml"), "w", encoding="utf-8") as file:
            file.write('[revisit]\nfirst_max = "6h"\n')
        with VirtualWeb(*self.WORLD, *clock(SPEED), "--delay", "0") as web:
            command = crawl_command(web, archive, *clock(SPEED), "--quiet")
            command.remove("--once")
            page_path = os.path.join(self.folder, "page.html")
            for _ in range(8):  # a busy machine may need more than one
                done = testing.run([*command, "--for", "6s"])
                self.assertEqual(done.returncode, 0, done.stderr)
                report = self.ask("report", archive, "-o", page_path)
                if report["pages"]["seen_again"] > 20 and report["visits"]["not_modified"] > 0:
                    break
            self.assertFalse(report["running"])
            self.assertEqual(report["notes"], [])
            self.assertGreater(report["pages"]["seen_again"], 20)
            self.check_parts(report)
            self.check_against_others(archive, report)
            self.check_against_log(archive, report)
            self.check_page(page_path)
            self.check_running([*command, "--for", "60s"], archive, report)

    def check_page(self, path):
        with open(path, encoding="utf-8") as file:
            page = Page(file.read())
        self.assertEqual(page.count["svg"], 5)
        self.assertGreaterEqual(page.count["table"], 7)
        self.assertNotIn("b", page.count)
        self.assertNotIn("script", page.count)
        self.assertIn('archive <b>&"', "".join(page.text))

    def check_running(self, command, archive, before):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as crawl:
            try:
                testing.wait_until(lambda: self.ask("status", archive)["running"])
                for _ in range(3):
                    report = self.ask("report", archive)
                    self.assertTrue(report["running"])
                    self.assertEqual(report["notes"], [])
                    self.check_parts(report)
                self.assertGreaterEqual(report["epoch"], before["epoch"])
                self.assertGreaterEqual(report["visits"]["pages"], before["visits"]["pages"])
            finally:
                crawl.terminate()
                crawl.communicate()


class OfLess(Reports):
    def fails(self, code, sentence, *arguments):
        done = testing.run([MEGURI, "report", *arguments])
        self.assert_says_one_sentence(done, code, sentence)

    def test_what_cannot_be_done_is_said_in_one_sentence(self):
        self.fails(1, "there is no archive", os.path.join(self.folder, "missing"))
        empty = os.path.join(self.folder, "empty")
        os.makedirs(empty)
        self.fails(1, "is no archive", empty)
        with open(os.path.join(empty, "meguri.toml"), "w", encoding="utf-8"):
            pass
        self.fails(1, f"no crawl has kept anything in {empty} yet", empty)
        self.fails(2, "--json and -o - both want standard output", empty, "--json", "-o", "-")
        self.fails(2, "--min-delay", empty, "--min-delay", "often")

    def test_a_crawl_that_visited_nothing_has_a_report(self):
        archive = os.path.join(self.folder, "archive")
        with VirtualWeb("--hosts", "2", "--pages", "4") as web:
            command = crawl_command(web, archive, "--quiet")
            command[2] = "http://there-is-no-such-host.test/"
            self.assertEqual(testing.run(command).returncode, 1)
        done = testing.run([MEGURI, "report", archive])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        path = os.path.join(archive, "report.html")
        self.assertEqual(done.stdout, f"the report is in {path}\n")
        with open(path, encoding="utf-8") as file:
            page = Page(file.read())
        self.assertEqual(page.count.get("svg", 0), 0)
        self.assertIn("There is nothing to show yet.", "".join(page.text))
        to_stdout = testing.run([MEGURI, "report", archive, "-o", "-"])
        self.assertTrue(to_stdout.stdout.startswith("<!DOCTYPE html>"))
        nowhere = os.path.join(self.folder, "no", "such", "folder.html")
        self.fails(1, "the report cannot be written", archive, "-o", nowhere)


if __name__ == "__main__":
    unittest.main()
