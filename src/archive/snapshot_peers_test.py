"""The outputs of `meguri snapshot` as others read them: cdxj-indexer makes the same lines, warcio
and FastWARC find no fault in the WARC file, and pywb replays it and the CDXJ lines.

They are fetched by name with pip into the build folder; without them, their tests are skipped.
"""

import base64
import gzip
import hashlib
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../app"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
import warc_peers_test as peers
from pywb_testing import Pywb, Shown

MEGURI = os.path.join(peers.BINARIES, "meguri")
PAGE = "<html><title>One page</title>the same for all</html>"
LATER = "<html><title>Another</title>and later this</html>"


def digest_of(text):
    return "sha1:" + base64.b32encode(hashlib.sha1(text.encode()).digest()).decode()


def record(kind, url, date, block, payload=None, fields=""):
    """A record, as text."""
    number = hashlib.sha1(f"{url} {date}".encode()).hexdigest()
    said = fields + (f"WARC-Payload-Digest: {digest_of(payload)}\r\n" if payload else "")
    return (f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{number[:8]}-"
            f"{number[8:12]}-4{number[13:16]}-8{number[17:20]}-{number[20:32]}>\r\n"
            f"WARC-Date: {date}\r\nWARC-Target-URI: {url}\r\n{said}"
            f"WARC-Block-Digest: {digest_of(block)}\r\n"
            f"Content-Type: application/http; msgtype=response\r\n"
            f"Content-Length: {len(block)}\r\n\r\n{block}\r\n\r\n")


def response(url, date, body, status="200 OK"):
    block = (f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n"
             f"Content-Length: {len(body)}\r\n\r\n{body}")
    return record("response", url, date, block, body)


def revisit(url, date, original, original_date, body):
    block = (f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Own: head\r\n"
             f"Content-Length: {len(body)}\r\n\r\n")
    return record("revisit", url, date, block, body,
                  "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/"
                  "identical-payload-digest\r\n"
                  f"WARC-Refers-To-Target-URI: {original}\r\n"
                  f"WARC-Refers-To-Date: {original_date}\r\n")


# What the archive of these tests holds: URL, date and text of each visit with content, in the
# words of the record that others may not resolve.
VISITS = [
    ("http://example.com/a", "2026-01-01T00:00:00Z", PAGE),
    ("http://example.com/b", "2026-01-02T00:00:00Z", PAGE),  # a revisit of /a
    ("http://example.com/a", "2026-01-03T00:00:00Z", PAGE),  # likewise
    ("http://example.com/a", "2026-01-04T00:00:00Z", LATER),
    ("http://www.example.com/a?y=2&x=1", "2026-01-05T00:00:00Z", LATER),
]
GONE = ("http://example.com/gone", "2026-01-06T00:00:00Z", "gone")
PLAIN = ("http://example.com/plain", "2026-01-07T00:00:00Z", "plain text of a file")
SHARED = [(f"http://example.com/shared/{i}", "2026-01-08T00:00:00Z", f"number {i}")
          for i in range(3)]
OLD = ("http://example.com/old", "1996-11-04T14:21:03Z", "of an ARC file")


def members():
    """The records of the file that every tool reads."""
    first = VISITS[0]
    for number, (url, date, text) in enumerate(VISITS):
        if number in (1, 2):
            yield revisit(url, date, first[0], first[1], text)
        else:
            yield response(url, date, text)
    yield response(*GONE, "404 Not Found")


def arc_file():
    text = f"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n{OLD[2]}"
    info = ("filedesc://old.arc 0.0.0.0 19961104142103 text/plain 76\n1 0 Alexa Internet\n"
            "URL IP-address Archive-date Content-type Archive-length\n\n")
    line = f"{OLD[0]} 192.0.2.1 19961104142103 text/html {len(text)}\n"
    return gzip.compress(info.encode()) + gzip.compress(f"{line}{text}\n".encode())


class SnapshotCase(testing.TestCase):
    """An archive of files that were made by others, each in another form."""

    def setUp(self):
        super().setUp()
        self.archive = os.path.join(self.folder, "archive")
        self.files = [
            self.keep("usual.warc.gz", b"".join(gzip.compress(one.encode()) for one in members())),
            self.keep("plain.warc", response(*PLAIN).encode()),
            self.keep("old.arc.gz", arc_file()),
        ]
        shared = "".join(response(*one) for one in SHARED)
        self.shared = self.keep("shared.warc.gz", gzip.compress(shared.encode()))
        self.run_well([MEGURI, "import", self.archive, *self.files, self.shared])

    def keep(self, name, content):
        path = os.path.join(self.folder, "files", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def run_well(self, command):
        done = testing.run(command)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stderr}")
        return done.stdout

    def snapshot(self, name, *arguments):
        path = os.path.join(self.folder, name)
        self.run_well([MEGURI, "snapshot", self.archive, *arguments, "-o", path])
        return path

    def lines(self, *arguments):
        path = self.snapshot("lines", "--output", *arguments)
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()


def parts_of(line):
    surt, timestamp, rest = line.split(" ", 2)
    return surt, timestamp, json.loads(rest)


class Lines(SnapshotCase):
    def test_urls_are_those_that_were_there(self):
        urls = self.lines("urls", "--at", "2026-01-02")
        self.assertEqual(sorted(urls), [OLD[0], VISITS[0][0], VISITS[1][0]])

    def test_cdxj_indexer_makes_the_same_lines(self):
        if not peers.has_python("cdxj-indexer"):
            self.skipTest("cdxj-indexer cannot be installed")
        ours = self.lines("cdxj", "--all", "--gone", "--errors", "--raw")
        self.assertEqual(ours, sorted(ours))
        indexer = os.path.join(os.path.dirname(peers.PYTHON), "cdxj-indexer")
        theirs = sorted(self.run_well([indexer, *self.files]).splitlines())
        # It does not read members of several records, and does not count the blank lines behind
        # a record that is not compressed.
        rest = [line for line in ours if "shared.warc.gz" not in line]
        self.assertEqual(len(ours) - len(rest), len(SHARED))
        self.assertEqual(len(rest), len(theirs))
        for one, other in zip(rest, theirs):
            if '"plain.warc"' not in one:
                self.assertEqual(one, other)
                continue
            one, other = parts_of(one), parts_of(other)
            one[2]["length"] = str(int(one[2]["length"]) - 4)
            self.assertEqual(one, other)

    def test_lines_point_to_content(self):
        lines = [parts_of(line) for line in self.lines("cdxj", "--all", "--gone")]
        by_visit = {(fields["url"], fields["date"][:19] + "Z"): fields for _, _, fields in lines}
        first = by_visit[VISITS[0][:2]]
        for visit in VISITS[1:3]:
            for name in ("mime", "status", "digest", "length", "offset", "filename"):
                self.assertEqual(by_visit[visit[:2]][name], first[name])
        self.assertEqual(by_visit[VISITS[1][:2]]["kind"], "changed")
        self.assertEqual(by_visit[VISITS[2][:2]]["kind"], "unchanged")
        self.assertEqual(by_visit[GONE[:2]]["kind"], "gone")
        self.assertEqual(first["valid_to"], "2026-01-03T00:00:00.000Z")
        self.assertNotIn("valid_to", by_visit[VISITS[3][:2]])


class Warc(SnapshotCase):
    """One file of all content."""

    # /a is there with two contents; /b, which found the first one, has a record of its own.
    RECORDS = sorted([VISITS[0], VISITS[1], VISITS[3], VISITS[4], GONE, PLAIN, *SHARED, OLD])

    def setUp(self):
        super().setUp()
        self.file = self.snapshot("all.warc.gz", "--output", "warc", "--all", "--gone")

    def check_visits(self, records):
        """[type, URL, status, size of the body] of each."""
        found = sorted((one[1], int(one[2]), one[3]) for one in records if one[0] == "response")
        self.assertEqual(found, [(url, 404 if text == "gone" else 200, len(text))
                                 for url, _, text in self.RECORDS])
        self.assertEqual([one[0] for one in records if one[0] != "response"], ["warcinfo"])

    def test_warcio_finds_no_fault(self):
        if not peers.has_python("warcio"):
            self.skipTest("warcio cannot be installed")
        said = self.run_well([peers.PYTHON, "-m", "warcio.cli", "check", "-v", self.file])
        self.assertNotIn("fail", said)
        self.assertEqual(said.count("digest pass"), len(self.RECORDS) - 1 + 1)  # all but ARC's
        lines = self.run_well([peers.PYTHON, "-c", peers.WARCIO_SCRIPT, self.file]).splitlines()
        self.check_visits([json.loads(line) for line in lines])
        fields = "offset,length"
        end = 0
        for line in self.run_well([peers.PYTHON, "-m", "warcio.cli", "index", "-f", fields,
                                   self.file]).splitlines():
            place = json.loads(line)
            self.assertEqual(int(place["offset"]), end)
            end += int(place["length"])
        self.assertEqual(end, os.path.getsize(self.file))

    def test_fastwarc_finds_no_fault(self):
        if not peers.has_python("fastwarc"):
            self.skipTest("FastWARC cannot be installed")
        lines = self.run_well([peers.PYTHON, "-c", peers.FASTWARC_SCRIPT, self.file]).splitlines()
        records = [json.loads(line) for line in lines]
        # ARC has no digests, which FastWARC calls a fault.
        faults = [one[1] for one in records if one[4] and one[1] != OLD[0]]
        self.assertEqual(faults, [])
        self.check_visits(records)

    def test_pywb_replays_it(self):
        if not peers.has_pywb():
            self.skipTest("pywb cannot be installed")
        with Pywb(self.folder, [self.file]) as pywb:
            for url, date, text in self.RECORDS:
                digits = "".join(c for c in date if c.isdigit())
                shown = Shown(f"{pywb.root}/{digits}id_/{url}")
                self.assertEqual(shown.status, 404 if text == "gone" else 200, url)
                self.assertEqual(shown.text().decode(), text)

    def test_the_same_archive_makes_the_same_file(self):
        again = self.snapshot("again/all.warc.gz", "--output", "warc", "--all", "--gone")
        # But for the first record, which says when it was made.
        with gzip.open(self.file) as one, gzip.open(again) as other:
            one, other = one.read(), other.read()
        start = b"WARC/1.0\r\nWARC-Type: response"
        self.assertEqual(one[one.index(start):], other[other.index(start):])


class Replay(SnapshotCase):
    def test_pywb_replays_every_visit_by_the_lines(self):
        """With our lines as its index and the archive's files as they are."""
        if not peers.has_pywb():
            self.skipTest("pywb cannot be installed")
        index = self.snapshot("index.cdxj", "--output", "cdxj", "--all", "--gone")
        # A member of several records cannot be read by its offset.
        readable = [*VISITS, GONE, PLAIN, OLD]
        with Pywb(self.folder, self.files, index=index) as pywb:
            for url, date, text in readable:
                digits = "".join(c for c in date if c.isdigit())
                shown = Shown(f"{pywb.root}/{digits}id_/{url}")
                self.assertEqual(shown.status, 404 if text == "gone" else 200, url)
                self.assertEqual(shown.text().decode(), text, url)


if __name__ == "__main__":
    unittest.main()
