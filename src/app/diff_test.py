"""`meguri diff`: what came, went and changed between two moments of an archive."""

import gzip
import json
import os
import random
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
from virtual_web_test import MEGURI
from warc_testing import SITE, Visit, identical, moved, not_modified, page, sha1

BETWEEN = ("--from", "2026-01-15", "--to", "2026-02-15")

# Long enough to be main text; one of them changes.
STORY = [f"This is sentence number {i} of a story that goes on for quite some time." for i in
         range(8)]
STORY_AFTER = [*STORY[:3], "Nobody had expected that this sentence would ever come to change.",
               *STORY[4:]]

IMAGE = Visit(1, "image", body=b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
              head=b"Content-Type: image/png\r\n")
VISITS = [
    Visit(1, "", body=page(*STORY)),
    Visit(2, "", body=page(*STORY_AFTER)),
    Visit(2, "added", body=page("New.")),
    Visit(1, "back", 404),
    Visit(2, "back", body=page("Here again.")),
    Visit(1, "confirmed", body=page("Same.")),
    not_modified(2, "confirmed"),
    Visit(1, "error", body=page("Same.")),
    Visit(2, "error", 500),
    Visit(1, "gone", body=page("Here.")),
    Visit(2, "gone", 410),
    Visit(1, "gzip", body=gzip.compress(page(*STORY), mtime=0),
          head=b"Content-Type: text/html\r\nContent-Encoding: gzip\r\n"),
    Visit(2, "gzip", body=gzip.compress(page(*STORY_AFTER), mtime=0),
          head=b"Content-Type: text/html\r\nContent-Encoding: gzip\r\n"),
    Visit(1, "identical", body=page("The same.")),
    identical(2, "identical", page("The same.")),
    IMAGE,
    Visit(2, "image", body=IMAGE.body + b"\1\2\3", head=IMAGE.head),
    Visit(3, "later", body=page("Later.")),
    Visit(1, "markup", body=page("Words.")),
    Visit(2, "markup", body=page("Words.") + b"<!-- nothing -->"),
    moved(1, "moved", "/one"),
    moved(2, "moved", "/two"),
    moved(1, "moved-still", "/one"),
    moved(2, "moved-still", "/one"),
    Visit(1, "once", body=page("Once.")),
    Visit(1, "https://other.example/", body=page("A.")),
    Visit(2, "https://other.example/", body=page("B.")),
]
EXPECTED = {
    "https://other.example/": "changed",
    SITE: "changed",
    SITE + "added": "added",
    SITE + "back": "added",
    SITE + "confirmed": "unchanged",
    SITE + "error": "unchanged",
    SITE + "gone": "gone",
    SITE + "gzip": "changed",
    SITE + "identical": "unchanged",
    SITE + "image": "changed",
    SITE + "markup": "changed",
    SITE + "moved": "changed",
    SITE + "moved-still": "unchanged",
    SITE + "once": "unchanged",
}
MARKS = {"+": "added", "-": "gone", "~": "changed", "=": "unchanged"}


class DiffCase(testing.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = os.path.join(self.folder, "archive")

    def fill(self, visits):
        """Makes an archive of two files, each of some of the records."""
        paths = []
        for i in range(2):
            paths.append(os.path.join(self.folder, f"{i}.warc.gz"))
            with open(paths[-1], "wb") as file:
                for visit in visits[i::2]:
                    file.write(visit.record())
        done = testing.run([MEGURI, "import", self.archive, *paths, "--copy", "--quiet"])
        self.assertEqual(done.returncode, 0, done.stderr)

    def diff(self, *arguments, code=0):
        done = testing.run([MEGURI, "diff", self.archive, *arguments])
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def lines(self, *arguments):
        done = self.diff(*arguments)
        self.assertEqual(done.stderr, "")
        return done.stdout.splitlines()

    def listed(self, *arguments):
        """What the list says, by URL."""
        *lines, counts = self.lines(*arguments)
        found = {line[2:]: MARKS[line[0]] for line in lines}
        self.assertEqual(len(found), len(lines))
        return found, counts


class Diff(DiffCase):
    def setUp(self):
        super().setUp()
        self.fill(VISITS)

    def test_every_page_is_listed_as_what_it_is(self):
        found, counts = self.listed(*BETWEEN, "--only", "added,gone,changed,unchanged")
        self.assertEqual(found, EXPECTED)
        self.assertEqual(list(found), list(EXPECTED))  # in the order of their keys
        self.assertEqual(counts, "2 added, 1 gone, 6 changed, 5 unchanged")

    def test_without_only_what_is_unchanged_is_counted_alone(self):
        found, counts = self.listed(*BETWEEN)
        expected = {url: kind for url, kind in EXPECTED.items() if kind != "unchanged"}
        self.assertEqual(found, expected)
        self.assertEqual(counts, "2 added, 1 gone, 6 changed, 5 unchanged")
        found, counts = self.listed(*BETWEEN, "--only", "gone")
        self.assertEqual(found, {SITE + "gone": "gone"})
        self.assertEqual(counts, "2 added, 1 gone, 6 changed, 5 unchanged")

    def test_other_moments(self):
        self.assertEqual(self.listed("--from", "2026-02-15"), (
            {SITE + "later": "added"}, "1 added, 0 gone, 0 changed, 13 unchanged"))
        found, _ = self.listed("--from", "2025")
        self.assertEqual(set(found.values()), {"added"})
        self.assertEqual(self.lines("--from", "2025", "--to", "2025"),
                         ["0 added, 0 gone, 0 changed, 0 unchanged"])

    def test_selectors(self):
        found, _ = self.listed(*BETWEEN, "--host", "other.example")
        self.assertEqual(found, {"https://other.example/": "changed"})
        found, _ = self.listed(*BETWEEN, "--prefix", SITE + "g")
        self.assertEqual(found, {SITE + "gone": "gone", SITE + "gzip": "changed"})
        found, _ = self.listed(*BETWEEN, "--mime", "image/*")
        self.assertEqual(found, {SITE + "image": "changed"})
        found, _ = self.listed(*BETWEEN, "--status", "3xx", "--only", "unchanged,changed")
        self.assertEqual(found, {SITE + "moved": "changed", SITE + "moved-still": "unchanged"})
        found, _ = self.listed(*BETWEEN, "--url", SITE + "confirmed", "--mime", "text/html",
                               "--only", "unchanged")
        self.assertEqual(found, {SITE + "confirmed": "unchanged"})

    def test_text_shows_the_sentence_that_changed(self):
        for url in (SITE, SITE + "gzip"):
            self.assertEqual(self.lines(*BETWEEN, "--text", "--url", url), [
                f"~ {url}",
                "  --- 2026-01-01T00:00:00.000Z",
                "  +++ 2026-02-01T00:00:00.000Z",
                "  @@ -1,7 +1,7 @@",
                *[f"   {line}" for line in STORY[:3]],
                f"  -{STORY[3]}",
                f"  +{STORY_AFTER[3]}",
                *[f"   {line}" for line in STORY[4:7]],
                "0 added, 0 gone, 1 changed, 0 unchanged"])

    def test_text_says_why_there_is_none(self):
        def remark(url):
            return self.lines(*BETWEEN, "--text", "--url", SITE + url)[1:-1]

        self.assertEqual(remark("markup"), ["  (the text is the same)"])
        self.assertEqual(remark("image"), ["  (the content from before is no text)"])
        self.assertEqual(remark("moved"), ["  (it leads elsewhere; the text is the same)"])
        self.assertEqual(remark("added"), [])

    def test_json_tells_the_same(self):
        answer = json.loads(self.diff(*BETWEEN, "--json", "--text", "--only",
                                      "added,gone,changed,unchanged").stdout)
        self.assertEqual(answer["from"], "2026-01-15T23:59:59.999Z")
        self.assertEqual(answer["to"], "2026-02-15T23:59:59.999Z")
        self.assertEqual(answer["counts"], {"added": 2, "gone": 1, "changed": 6, "unchanged": 5})
        self.assertEqual(answer["lost"], 0)
        pages = {one["url"]: one for one in answer["differences"]}
        self.assertEqual({url: one["difference"] for url, one in pages.items()}, EXPECTED)
        changed = pages[SITE]
        self.assertEqual(changed["before"], {
            "date": "2026-01-01T00:00:00.000Z", "status": 200, "mime": "text/html",
            "digest": sha1(page(*STORY))})
        self.assertEqual(changed["after"]["digest"], sha1(page(*STORY_AFTER)))
        self.assertEqual((changed["lines_removed"], changed["lines_inserted"]), (1, 1))
        self.assertIn(f"\n-{STORY[3]}\n+{STORY_AFTER[3]}\n", changed["text_diff"])
        self.assertEqual(pages[SITE + "gone"]["after"],
                         {"date": "2026-02-01T00:00:00.000Z", "status": 410})
        self.assertNotIn("before", pages[SITE + "added"])
        self.assertEqual(pages[SITE + "back"]["before"]["status"], 404)
        self.assertEqual(pages[SITE + "confirmed"]["after"]["mime"], "text/html")

    def test_json_of_nothing(self):
        answer = json.loads(self.diff("--from", "2025", "--to", "2025", "--json").stdout)
        self.assertEqual(answer["differences"], [])
        self.assertEqual(sum(answer["counts"].values()), 0)

    def test_a_file_holds_what_would_have_been_printed(self):
        path = os.path.join(self.folder, "list")
        for more in ([], ["--json"]):
            printed = self.diff(*BETWEEN, *more).stdout
            said = self.diff(*BETWEEN, "-o", path, "--quiet", *more).stdout
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), printed)
            if more:
                self.assertEqual(json.loads(said)["counts"], json.loads(printed)["counts"])
                self.assertEqual(json.loads(said)["file"], path)
            else:
                self.assertIn("2 added, 1 gone, 6 changed, 5 unchanged", said)
        self.assertEqual([name for name in os.listdir(self.folder) if "part" in name], [])

    def test_content_that_is_lost_is_told(self):
        shutil.rmtree(os.path.join(self.archive, "warc"))
        self.assertEqual(self.listed(*BETWEEN)[1], "2 added, 1 gone, 6 changed, 5 unchanged")
        done = self.diff(*BETWEEN, "--text", "--url", SITE, code=1)
        self.assertIn("No such file", done.stdout)
        self.assertIn("1 record could not be read", done.stderr)

    def test_wrong_use_is_told(self):
        def complaint(*arguments, code=2):
            done = testing.run([MEGURI, "diff", *arguments])
            self.assert_says_one_sentence(done, code)
            return done.stderr

        self.assertIn("--from is missing", complaint(self.archive))
        self.assertIn("must not be later",
                      complaint(self.archive, "--from", "2026-02", "--to", "2026-01"))
        for time in ("yesterdayish", "2026-13", " ", "-1"):
            complaint(self.archive, f"--from={time}")
            complaint(self.archive, "--from", "2026", f"--to={time}x")
        self.assertIn("did you mean 'changed'",
                      complaint(self.archive, *BETWEEN, "--only", "gone,changd"))
        complaint(self.archive, *BETWEEN, "--only", "gone,")
        complaint(self.archive, *BETWEEN, "--mime", "nonsense")
        complaint(self.archive, *BETWEEN, "--status", "9999")
        complaint(self.archive, *BETWEEN, "--workers", "0")
        nowhere = os.path.join(self.folder, "nowhere")
        self.assertIn("no archive", complaint(nowhere, *BETWEEN, code=1))
        self.assertFalse(os.path.exists(nowhere))
        complaint(self.archive, *BETWEEN, "-o", os.path.join(nowhere, "file"), code=1)

    def test_a_reader_that_goes_away_is_no_error_and_a_full_disk_is(self):
        with open("/dev/full", "wb") as full:
            done = testing.run([MEGURI, "diff", self.archive, *BETWEEN], stdout=full)
        self.assertEqual(done.returncode, 1)
        self.assertIn("No space left", done.stderr)
        read, write = os.pipe()
        os.close(read)
        try:
            done = testing.run([MEGURI, "diff", self.archive, *BETWEEN], stdout=write)
        finally:
            os.close(write)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Many(DiffCase):
    """Enough pages for several pieces of the index, against a model."""

    def history(self, chance, url):
        """Visits of a page in some months, and the body that it has after each; None: gone."""
        visits, bodies = [], {}
        body = None
        for month in range(1, 6):
            what = chance.choice(["none", "none", "new", "same", "gone", "error"])
            if what == "new" or (what == "same" and body is None):
                body = page(f"Version {month} of {url}.", *STORY)
                visits.append(Visit(month, url, body=body))
            elif what == "same":
                visits.append(chance.choice([not_modified(month, url),
                                             identical(month, url, body)]))
            elif what == "gone":
                body = None
                visits.append(Visit(month, url, 404))
            elif what == "error":
                visits.append(Visit(month, url, 503))
            bodies[month] = body
        return visits, bodies

    def test_it_says_what_a_model_says(self):
        chance = random.Random(4)
        histories = {}
        visits = []
        for i in range(3000):
            url = f"https://host{i % 7}.example/page/{i}"
            more, histories[url] = self.history(chance, url)
            visits += more
        self.fill(visits)
        for first, second in ((1, 2), (1, 5), (2, 4), (3, 3)):
            expected = {}
            for url, bodies in histories.items():
                before, after = bodies[first], bodies[second]
                if before is None and after is not None:
                    expected[url] = "added"
                elif before is not None and after is None:
                    expected[url] = "gone"
                elif before is not None:
                    expected[url] = "unchanged" if before == after else "changed"
            moments = ("--from", f"2026-0{first}", "--to", f"2026-0{second}")
            every = ("--only", "added,gone,changed,unchanged")
            found, counts = self.listed(*moments, *every)
            self.assertEqual(found, expected)
            numbers = [list(expected.values()).count(kind)
                       for kind in ("added", "gone", "changed", "unchanged")]
            self.assertEqual([int(part.split()[0].replace(",", ""))
                              for part in counts.split(", ")], numbers)
            texts = [self.diff(*moments, *every, "--text", "--workers", workers).stdout
                     for workers in ("1", "4")]
            self.assertEqual(texts[0], texts[1])
            self.assertEqual(texts[0].count("\n  @@ "), numbers[2])


if __name__ == "__main__":
    unittest.main()
