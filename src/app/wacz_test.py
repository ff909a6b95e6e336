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
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../archive"))
import replayweb_testing
import testing
import warc_peers_test as peers
from pywb_testing import Pywb

Visit = collections.namedtuple("Visit", ["url", "date"])
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


class PyWacz(Wacz):
    def validate(self, path):
        if not peers.has_wacz():
            self.skipTest("py-wacz cannot be installed")
        command = os.path.join(os.path.dirname(peers.WACZ_PYTHON), "wacz")
        return testing.run([command, "validate", "-f", path])

    def test_finds_no_fault(self):
        done = self.validate(self.make(700))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Validation succeeded, the passed WACZ is valid", done.stdout)

    def test_finds_a_changed_byte(self):
        path = self.make(3)
        changed = os.path.join(self.folder, "changed.wacz")
        with zipfile.ZipFile(path) as package, zipfile.ZipFile(changed, "w") as copy:
            for entry in package.infolist():
                content = package.read(entry)
                if entry.filename == "pages/pages.jsonl":
                    content = content.replace(b"Page 1", b"Page 2")
                copy.writestr(entry.filename, content)
        done = self.validate(changed)
        self.assertNotIn("Validation succeeded", done.stdout)


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


class LongBrowser(Replayed):
    def test_replayweb_page_opens_more_than_4_gib(self):
        self.show(self.make(3, 5 << 30), [1])


if __name__ == "__main__":
    unittest.main()
