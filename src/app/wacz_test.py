"""WACZ files as others read them: Python's zipfile, Info-ZIP, py-wacz, pywb, and ReplayWeb.page in
a browser, which shows what the archived pages say.

The peers are fetched by name with pip and npm into the build folder; without them, or without
Chromium, their tests are skipped.
"""

import collections
import gzip
import hashlib
import json
import os
import sys
import unittest
import uuid
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../archive"))
import replayweb_testing
import testing
import warc_peers_test as peers
from pywb_testing import Pywb
from virtual_web_test import MEGURI

Visit = collections.namedtuple("Visit", ["url", "date"])
SITE = "http://site.example/"
STORED = ["archive/data.warc.gz", "indexes/index.cdx.gz"]
LARGE_SECONDS_MAX = 1200  # for files of gigabytes
DEFLATED = ["indexes/index.idx", "pages/pages.jsonl", "datapackage.json", "datapackage-digest.json"]


def read_wacz(path):
    """Checks that all its parts fit together; returns its pages and the lines of its index."""
    with zipfile.ZipFile(path) as package:
        assert package.testzip() is None
        names = [entry.filename for entry in package.infolist()]
        assert names == STORED + DEFLATED, names
        for entry in package.infolist():
            stored = entry.compress_type == zipfile.ZIP_STORED
            assert stored == (entry.filename in STORED), entry
        manifest_text = package.read("datapackage.json")
        digest = json.loads(package.read("datapackage-digest.json"))
        assert digest["hash"] == "sha256:" + hashlib.sha256(manifest_text).hexdigest()
        manifest = json.loads(manifest_text)
        assert sorted(one["path"] for one in manifest["resources"]) == sorted(names[:4])
        for one in manifest["resources"]:
            with package.open(one["path"]) as file:
                assert "sha256:" + hashlib.file_digest(file, "sha256").hexdigest() == one["hash"]
            assert package.getinfo(one["path"]).file_size == one["bytes"], one
        index = package.read("indexes/index.cdx.gz")
        lines = gzip.decompress(index).decode("utf-8").splitlines()
        assert lines == sorted(lines)
        blocks = package.read("indexes/index.idx").decode("utf-8").splitlines()
        for block in blocks[1:]:
            front, _, place = block.partition(" {")
            place = json.loads("{" + place)
            member = index[place["offset"] : place["offset"] + place["length"]]
            assert gzip.decompress(member).decode("utf-8").startswith(front + " {")
        with package.open("archive/data.warc.gz") as warc:
            for line in lines:
                record = json.loads(line.split(" ", 2)[2])
                warc.seek(int(record["offset"]))
                member = gzip.decompress(warc.read(int(record["length"])))
                assert f"WARC-Target-URI: {record['url']}\r\n".encode() in member, line
        pages = package.read("pages/pages.jsonl").decode("utf-8").splitlines()
        return [json.loads(page) for page in pages[1:]], lines


class Wacz(testing.TestCase):
    """A WACZ of the pages http://replay.example/pN/, one minute after the other."""

    def make(self, pages, zeros=0):
        path = os.path.join(self.folder, "made.wacz")
        done = testing.run(
            [os.path.join(peers.BINARIES, "tests/archive_test")],
            environment={
                "MEGURI_TEST_CHILD": "write_wacz",
                "MEGURI_TEST_CHILD_ARGUMENT": f"{path} {pages} {zeros}",
            },
            timeout=LARGE_SECONDS_MAX,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return path


class Zip(Wacz):
    def test_python_reads_every_part(self):
        pages, lines = read_wacz(self.make(700))
        self.assertEqual(len(pages), 700)
        self.assertEqual(len(lines), 1400)  # each URL has two keys
        self.assertEqual(pages[0]["url"], "http://replay.example/p0/")
        self.assertEqual(pages[0]["ts"], "2026-01-01T00:01:00.123Z")
        self.assertEqual(pages[0]["title"], "Page 0")
        self.assertEqual(len({page["id"] for page in pages}), 700)

    def test_info_zip_finds_no_fault(self):
        done = testing.run(["unzip", "-t", self.make(3)])
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn("No errors detected", done.stdout)


class LongZip(Wacz):
    def test_entries_beyond_4_gib(self):
        path = self.make(3, 5 << 30)
        with zipfile.ZipFile(path) as package:
            self.assertGreater(package.getinfo("archive/data.warc.gz").file_size, 5 << 30)
            self.assertGreater(package.getinfo("indexes/index.cdx.gz").header_offset, 5 << 30)
        read_wacz(path)
        done = testing.run(["unzip", "-tq", path], timeout=LARGE_SECONDS_MAX)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)


def validate(case, path):
    """Whether py-wacz finds a WACZ valid, and all that it says."""
    if not peers.has_wacz():
        case.skipTest("py-wacz cannot be installed")
    script = "from wacz.main import main; main()"
    done = testing.run([peers.WACZ_PYTHON, "-c", script, "validate", "-f", path])
    said = done.stdout + done.stderr
    return "Validation succeeded, the passed WACZ is valid" in said, said


class PyWacz(Wacz):
    def test_finds_no_fault(self):
        is_valid, said = validate(self, self.make(700))
        self.assertTrue(is_valid, said)

    def test_finds_a_changed_byte(self):
        path = self.make(3)
        changed = os.path.join(self.folder, "changed.wacz")
        with zipfile.ZipFile(path) as package, zipfile.ZipFile(changed, "w") as copy:
            for entry in package.infolist():
                content = package.read(entry)
                if entry.filename == "pages/pages.jsonl":
                    content = content.replace(b"Page 1", b"Page 2")
                copy.writestr(entry.filename, content)
        is_valid, said = validate(self, changed)
        self.assertFalse(is_valid)
        self.assertIn("does not match the expected hash", said)


class InPywb(Wacz):
    def test_shows_pages_by_the_index_of_the_package(self):
        if not peers.has_pywb():
            self.skipTest("pywb cannot be installed")
        with Pywb(self.folder, ["--unpack-wacz", self.make(700)]) as pywb:
            for number in (0, 1, 368, 369, 699):
                visit = Visit(f"http://replay.example/p{number}/", "2026-01-01T00:00:00Z")
                shown = pywb.show(visit)
                self.assertEqual(shown.status, 200)
                self.assertIn(f"This is what page {number} said.", shown.text().decode("utf-8"))


class Replayed(Wacz):
    def show(self, wacz, numbers):
        missing = replayweb_testing.missing()
        if missing:
            self.skipTest(missing)
        with replayweb_testing.Viewer({"made.wacz": wacz}) as viewer:
            for number in numbers:
                sentence = f"This is what page {number} said."
                url = f"http://replay.example/p{number}/"
                texts = viewer.show("made.wacz", url, sentence)
                self.assertIn(sentence, texts.get(url, ""), texts)
            self.assertGreater(viewer.server.ranges, 0)


class Browser(Replayed):
    def test_replayweb_page_shows_what_pages_said(self):
        self.show(self.make(3), [0, 2])

    def test_replayweb_page_finds_the_first_and_last_of_blocks(self):
        wacz = self.make(700)
        with zipfile.ZipFile(wacz) as package:
            blocks = package.read("indexes/index.idx").decode("utf-8").splitlines()[1:]
            lines = gzip.decompress(package.read("indexes/index.cdx.gz")).decode().splitlines()
        self.assertEqual(len(blocks), 5)
        borders = [line for at, line in enumerate(lines) if at % 300 in (0, 299)][:8]
        numbers = [json.loads(line.split(" ", 2)[2])["url"].split("/p")[1][:-1] for line in borders]
        self.show(wacz, numbers)


def record(month, url, body, kind="text/html"):
    """A member with a visit of 2026."""
    block = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n{body}"
    return gzip.compress(
        (
            "WARC/1.1\r\nWARC-Type: response\r\n"
            f"WARC-Record-ID: <urn:uuid:{uuid.uuid4()}>\r\nWARC-Target-URI: {url}\r\n"
            f"WARC-Date: 2026-{month:02}-01T00:00:00Z\r\n"
            "Content-Type: application/http; msgtype=response\r\n"
            f"Content-Length: {len(block)}\r\n\r\n{block}\r\n\r\n"
        ).encode("utf-8")
    )


class OfAnArchive(testing.TestCase):
    """What `meguri snapshot` makes."""

    def setUp(self):
        super().setUp()
        self.archive = os.path.join(self.folder, "archive")
        warc = os.path.join(self.folder, "made.warc.gz")
        page = "<!doctype html><title>{0}</title><h1>{0}</h1><p>It was {0} then.</p>"
        with open(warc, "wb") as file:
            file.write(record(1, SITE, page.format("one")))
            file.write(record(1, SITE + "notes/", page.format("a note")))
            file.write(record(1, SITE + "plain", "nothing but text", "text/plain"))
            file.write(record(3, SITE, page.format("two")))
        done = testing.run([MEGURI, "import", self.archive, warc])
        self.assertEqual(done.returncode, 0, done.stderr)

    def run_snapshot(self, *arguments):
        return testing.run([MEGURI, "snapshot", self.archive, *arguments])

    def make(self, *arguments):
        path = os.path.join(self.folder, "snapshot.wacz")
        done = self.run_snapshot("--output", "wacz", "-o", path, "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path, json.loads(done.stdout)

    def test_holds_what_the_archive_had(self):
        path, told = self.make("--at", "2026-03-15", "--title", "In March")
        pages, lines = read_wacz(path)
        self.assertEqual(told["listed"], len(pages))
        self.assertEqual(told["bytes"], os.path.getsize(path))
        self.assertEqual(
            {(page["url"], page["ts"], page["title"]) for page in pages},
            {(SITE, "2026-03-01T00:00:00Z", "two"),
             (SITE + "notes/", "2026-01-01T00:00:00Z", "a note")},
        )
        urls = {json.loads(line.split(" ", 2)[2])["url"] for line in lines}
        self.assertEqual(urls, {SITE, SITE + "notes/", SITE + "plain"})
        self.assertEqual(told["records"], 3)
        with zipfile.ZipFile(path) as package:
            manifest = json.loads(package.read("datapackage.json"))
        self.assertEqual(manifest["title"], "In March")
        self.assertIn("2026-03-15", manifest["description"])
        self.assertRegex(manifest["software"], "^meguri/")

    def test_py_wacz_finds_no_fault(self):
        path, _ = self.make("--at", "2026-03-15")
        is_valid, said = validate(self, path)
        self.assertTrue(is_valid, said)

    def test_replayweb_page_shows_each_page_as_it_was_then(self):
        missing = replayweb_testing.missing()
        if missing:
            self.skipTest(missing)
        for moment, said in (("2026-02-15", "one"), ("2026-03-15", "two")):
            path, _ = self.make("--at", moment)
            with replayweb_testing.Viewer({"snapshot.wacz": path}) as viewer:
                for url, text in ((SITE, said), (SITE + "notes/", "a note")):
                    sentence = f"It was {text} then."
                    texts = viewer.show("snapshot.wacz", url, sentence)
                    self.assertIn(sentence, texts.get(url, ""), texts)

    def test_title_is_of_wacz(self):
        done = self.run_snapshot("--title", "x")
        self.assert_says_one_sentence(done, 2, "--title is of --output wacz")


class LongBrowser(Replayed):
    def test_replayweb_page_opens_more_than_4_gib(self):
        self.show(self.make(3, 5 << 30), [1])


if __name__ == "__main__":
    unittest.main()
