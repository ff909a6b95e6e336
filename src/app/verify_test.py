"""`meguri verify`, `repair` and `remove` on the archive of a crawl, with imported files."""

import bisect
import glob
import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../archive"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
import warc_peers_test as peers
from crawl_testing import CrawlCase, archived, clock, crawl_command, start_quietly
from virtual_web_test import MEGURI, VirtualWeb

WORLD = ["--hosts", "5", "--pages", "150", "--seed", "7", "--still", "--delay", "0"]
SPEED = clock(1000)
OTHERS = "http://others.example/"  # a page that only imported files have

# Prints [type, URL] of each record, with its digests checked.
WARCIO_SCRIPT = """
import json, sys
from warcio.archiveiterator import ArchiveIterator
for record in ArchiveIterator(open(sys.argv[1], "rb"), check_digests="raise"):
    record.raw_stream.read()
    print(json.dumps([record.rec_type, record.rec_headers.get_header("WARC-Target-URI")]))
"""


def record(kind, url, date, body):
    """A record as others write it, in a gzip member of its own."""
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
    number = random.Random(f"{url} {date}").getrandbits(48)
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: {date}\r\n"
        f"WARC-Record-ID: <urn:uuid:01234567-89ab-4cde-8f01-{number:012x}>\r\n"
        f"Content-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(block)}\r\n\r\n"
    )
    return gzip.compress(head.encode("ascii") + block + b"\r\n\r\n")


def others_file(path, url, count):
    with open(path, "wb") as file:
        for i in range(count):
            body = f"<p>version {i} of a page of others".encode("ascii")
            file.write(record("response", url, f"2020-01-01T00:00:{i:02}Z", body))
    return path


def flip(path, bit):
    with open(path, "r+b") as file:
        file.seek(bit // 8)
        byte = file.read(1)[0]
        file.seek(bit // 8)
        file.write(bytes([byte ^ (1 << (bit % 8))]))


def members_of(path):
    """Where the gzip members of a file begin, and its end."""
    with open(path, "rb") as file:
        data = file.read()
    places = [0]
    while places[-1] < len(data):
        member = zlib.decompressobj(wbits=31)
        member.decompress(data[places[-1] :])
        places.append(len(data) - len(member.unused_data))
    return places


def crawl_files(archive):
    return sorted(glob.glob(os.path.join(archive, "warc", "*.warc.gz")))


class Maintenance(CrawlCase):
    """One crawl for all tests, of which each has a copy of its own."""

    @classmethod
    def setUpClass(cls):
        cls.web = VirtualWeb(*WORLD, *SPEED)
        cls.addClassCleanup(cls.web.stop)
        cls.base = tempfile.mkdtemp(prefix="meguri-test-")
        cls.addClassCleanup(shutil.rmtree, cls.base, ignore_errors=True)
        cls.original = os.path.join(cls.base, "archive")
        os.makedirs(cls.original)
        with open(os.path.join(cls.original, "meguri.toml"), "w", encoding="ascii") as file:
            file.write('[archive]\nfile_size = "100kB"\n')
        done = testing.run(crawl_command(cls.web, cls.original, *SPEED, "--quiet"))
        assert done.returncode == 0, done.stderr
        cls.reference = others_file(os.path.join(cls.base, "r.warc.gz"), OTHERS + "r", 20)
        copied = others_file(os.path.join(cls.base, "c.warc.gz"), OTHERS + "c", 20)
        for path, more in ((cls.reference, []), (copied, ["--copy"])):
            done = testing.run([MEGURI, "import", cls.original, path, *more, "--quiet"])
            assert done.returncode == 0, done.stderr

    def setUp(self):
        super().setUp()
        self.archive = os.path.join(self.folder, "archive")
        no_socket = shutil.ignore_patterns("*.sock")
        shutil.copytree(self.original, self.archive, ignore=no_socket)

    def ask(self, command, *arguments, code=0, archive=None):
        done = testing.run([MEGURI, command, archive or self.archive, *arguments, "--json"])
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def verify_sound(self, archive=None):
        found = self.ask("verify", archive=archive)
        self.assertEqual((found["damages"], found["damaged"]), (0, []))
        return found

    def verify_damaged(self, file, *words):
        """The damages that name this file; one of them has all words."""
        found = self.ask("verify", code=1)
        own = [one for one in found["damaged"] if one["file"] == file]
        self.assertTrue(own, found)
        texts = [one["what"] for one in own]
        self.assertTrue(any(all(word in text for word in words) for text in texts), texts)
        return own

    def every_visit(self):
        """All that the index has, as CDXJ lines."""
        done = testing.run([MEGURI, "snapshot", self.archive, "--during", "1900..9999",
                            "--relation", "during,finishes,overlapped-by", "--all", "--raw",
                            "--gone", "--errors", "--output", "cdxj"])
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def check_stops(self, command, *arguments, says):
        """A command to which Ctrl-C came before it could look."""
        def interrupt():
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            os.kill(os.getpid(), signal.SIGINT)

        done = testing.run([MEGURI, command, self.archive, *arguments], preexec_fn=interrupt)
        self.assert_says_one_sentence(done, 1, "stopped", says)

    def lose_index(self):
        shutil.rmtree(os.path.join(self.archive, "index"))

    # --- verify

    def test_a_crawl_is_sound(self):
        found = self.verify_sound()
        self.assertEqual(found["files"], len(crawl_files(self.archive)) + 2)
        visits = sum(len(ones) for ones in archived(self.archive).values())
        self.assertGreaterEqual(found["entries"], visits + 40)
        self.assertGreater(len(crawl_files(self.archive)), 2)
        text = testing.run([MEGURI, "verify", self.archive])
        self.assertEqual(text.returncode, 0)
        self.assertIn("all is well", text.stdout)

    def test_flipped_bits_in_warc_files_are_named(self):
        path = crawl_files(self.archive)[0]
        chance = random.Random(1)
        members = members_of(path)
        missed = 0
        for _ in range(25):
            bit = chance.randrange(members[-1] * 8)
            flip(path, bit)
            done = testing.run([MEGURI, "verify", self.archive, "--json"])
            flip(path, bit)
            if done.returncode == 0:
                missed += 1  # of the few that no reader looks at
                continue
            found = json.loads(done.stdout)["damaged"]
            self.assertEqual({one["file"] for one in found}, {"warc/" + os.path.basename(path)})
            # The record itself, or the next that could be read, which says what lies before it.
            i = bisect.bisect_right(members, bit // 8)
            places = {one.get("offset") for one in found}
            self.assertTrue(places & set(members[i - 1 : i + 1]), (bit // 8, found))
        self.assertLessEqual(missed, 2)
        self.verify_sound()

    def test_flipped_bits_in_the_index_are_found_and_repaired(self):
        chance = random.Random(2)
        tables = glob.glob(os.path.join(self.archive, "index", "*.sst"))
        self.assertTrue(tables)
        for _ in range(20):
            path = chance.choice(tables)
            bit = chance.randrange(os.path.getsize(path) * 8)
            flip(path, bit)
            done = testing.run([MEGURI, "verify", self.archive])
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("meguri repair", done.stdout)
            flip(path, bit)
        flip(chance.choice(tables), 4000)
        self.ask("repair")
        self.verify_sound()

    def test_what_is_not_as_the_index_says_is_named(self):
        files = crawl_files(self.archive)
        name = "warc/" + os.path.basename(files[0])
        os.truncate(files[0], os.path.getsize(files[0]) - 1)
        self.verify_damaged(name, "the file ends here")
        shutil.move(files[0], self.folder)
        self.verify_damaged(name, "missing")
        shutil.copy(os.path.join(self.original, name), files[0])
        self.verify_sound()
        copy = os.path.join(self.archive, "warc", "imported", "c.warc.gz")
        others_file(copy, OTHERS + "c", 21)
        self.verify_damaged("warc/imported/c.warc.gz", "not the file that was imported")
        others_file(copy, OTHERS + "c", 20)
        shutil.copy(self.reference, os.path.join(self.archive, "warc", "stranger.warc.gz"))
        self.verify_damaged("warc/stranger.warc.gz", "the index does not know it")

    def test_says_one_sentence_where_there_is_nothing(self):
        for command in ("verify", "repair", "remove"):
            more = ["--host", "a.example"] if command == "remove" else []
            done = testing.run([MEGURI, command, os.path.join(self.folder, "none"), *more])
            self.assert_says_one_sentence(done, 1, "none")
        self.assert_says_one_sentence(testing.run([MEGURI, "remove", self.archive]), 2, "--url")

    # --- repair

    def test_a_lost_index_is_made_again(self):
        before = self.verify_sound()
        visits = self.every_visit()
        self.assertEqual(len(visits), before["entries"])
        self.lose_index()
        self.verify_damaged("index", "meguri repair")
        done = self.ask("repair")
        self.assertEqual((done["lost"], done["notes"], done["damaged"]), ([], [], []))
        self.assertEqual(self.verify_sound(), before)
        self.assertEqual(self.every_visit(), visits)
        again = testing.run([MEGURI, "import", self.archive, self.reference, "--json"])
        self.assertEqual(json.loads(again.stdout)["known"], 1, "the reference is known by its list")

    def test_references_that_are_not_there_are_kept_or_told(self):
        entries = self.verify_sound()["entries"]
        away = os.path.join(self.folder, "away.warc.gz")
        reference = others_file(away, OTHERS + "away", 5)
        testing.run([MEGURI, "import", self.archive, reference, "--quiet"])
        os.rename(away, away + ".hidden")
        done = self.ask("repair")
        self.assertEqual(done["lost"], [])
        self.assertIn("taken from the old index", done["notes"][0])
        os.rename(away + ".hidden", away)
        self.assertEqual(self.verify_sound()["entries"], entries + 5)
        os.rename(away, away + ".hidden")
        self.lose_index()
        self.assertEqual(self.ask("repair")["lost"], [away])
        os.rename(away + ".hidden", away)
        self.ask("repair")
        self.assertEqual(self.verify_sound()["entries"], entries + 5)

    def test_repair_killed_anywhere_goes_on(self):
        chance = random.Random(3)
        before = self.verify_sound()
        for i in range(12):
            process = start_quietly([MEGURI, "repair", self.archive, "--workers", "1"])
            time.sleep(chance.uniform(0, 0.15))
            process.send_signal(signal.SIGTERM if i % 3 == 2 else signal.SIGKILL)
            process.wait()
            self.assertEqual(self.verify_sound(), before, "an index counts at any moment")
        self.ask("repair")
        self.assertEqual(self.verify_sound(), before)
        left = sorted(name for name in os.listdir(self.archive) if name.startswith("index"))
        self.assertEqual(left, ["index"])

    def test_repair_stopped_by_hand_goes_on(self):
        before = self.verify_sound()
        self.check_stops("repair", says="the old index is as it was")
        self.assertEqual(self.verify_sound(), before)
        self.ask("repair")
        self.assertEqual(self.verify_sound(), before)

    def test_repair_says_that_it_was_stopped(self):
        before = self.verify_sound()
        for _ in range(5):
            process = subprocess.Popen([MEGURI, "repair", self.archive], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True)
            for line in process.stderr:  # it listens by now
                if line.startswith("repairing:"):
                    break
            for _ in range(3):
                process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
            self.assertIn(process.returncode, (0, 1))
            if process.returncode == 1:
                self.assertIn("stopped; the old index is as it was", said)
            self.assertEqual(self.verify_sound(), before)

    def test_a_running_crawl_is_verified_and_not_repaired(self):
        archive = os.path.join(self.folder, "running")
        crawl = subprocess.Popen(
            crawl_command(self.web, archive, *clock(1), "--quiet", "--min-delay", "50ms"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            index = os.path.join(archive, "index", "CURRENT")
            testing.wait_until(lambda: os.path.exists(index) and crawl_files(archive))
            for _ in range(5):
                self.verify_sound(archive)
            for command, more in (("repair", []), ("remove", ["--host", "a.example"])):
                done = testing.run([MEGURI, command, archive, *more])
                self.assert_says_one_sentence(done, 1, "a crawl", archive)
        finally:
            crawl.kill()
            crawl.wait()
        self.verify_sound(archive)
        self.ask("repair", archive=archive)
        self.verify_sound(archive)

    # --- remove

    def some_page(self):
        """A page of the crawl that was stored, and all visits before."""
        visits = archived(self.archive)
        url = next(url for url, ones in sorted(visits.items()) if ones[0].status == 200)
        return url, visits

    def test_what_was_taken_down_does_not_come_back(self):
        entries = self.verify_sound()["entries"]
        url, visits = self.some_page()
        dry = self.ask("remove", "--url", url, "--dry-run")
        self.assertEqual(dry["entries"], len(visits[url]))
        self.assertEqual(self.verify_sound()["entries"], entries)
        done = self.ask("remove", "--url", url, "--reason", "request 7")
        self.assertEqual(done["entries"], len(visits[url]))
        left = entries - done["entries"]
        self.assertEqual(self.verify_sound()["entries"], left)
        with open(os.path.join(self.archive, "removals.jsonl"), encoding="utf-8") as file:
            kept = [json.loads(line) for line in file]
        self.assertEqual([(one["url"], one["reason"]) for one in kept], [(url, "request 7")])
        self.assertEqual(self.ask("remove", "--url", url)["entries"], 0)
        self.ask("repair")
        self.assertEqual(self.verify_sound()["entries"], left)
        self.lose_index()
        self.ask("repair")
        self.assertEqual(self.verify_sound()["entries"], left)
        again = others_file(os.path.join(self.folder, "again.warc.gz"), url, 3)
        testing.run([MEGURI, "import", self.archive, again, "--quiet"])
        self.assertEqual(self.verify_sound()["entries"], left)

    def test_a_crawl_goes_on_and_does_not_visit_what_was_taken_down(self):
        url, visits = self.some_page()
        host = url.split("/")[2]
        self.ask("remove", "--host", host.split(":")[0], "--rewrite")
        with open(os.path.join(self.archive, "exclusions.txt"), encoding="utf-8") as file:
            self.assertIn(host.split(":")[0] + "\n", file.read().splitlines(keepends=True))
        command = crawl_command(self.web, self.archive, *SPEED, "--quiet", "--for", "2s")
        command.remove("--once")
        done = testing.run(command)
        self.assertEqual(done.returncode, 0, done.stderr)
        after = archived(self.archive)
        self.assertEqual([one for one in after if one.split("/")[2] == host], [])
        for other, ones in visits.items():
            if other.split("/")[2] != host:
                self.assertGreaterEqual(len(after.get(other, [])), len(ones), other)
        self.verify_sound()

    def test_records_leave_the_files_and_nothing_moves(self):
        url, _ = self.some_page()
        sizes = {path: os.path.getsize(path) for path in crawl_files(self.archive)}
        self.ask("remove", "--url", url)
        self.assertIn(url, archived(self.archive))
        done = self.ask("remove", "--url", url, "--rewrite")
        self.assertGreaterEqual(sum(one["records"] for one in done["files"]), 2)
        self.assertEqual(sizes, {path: os.path.getsize(path) for path in sizes})
        self.verify_sound()
        for path in sizes:
            with gzip.open(path) as file:
                self.assertNotIn(f"WARC-Target-URI: {url}\r\n".encode("ascii"), file.read())
            check = testing.run([MEGURI, "warc", "check", path])
            self.assertEqual(check.returncode, 0, check.stdout)

    def test_other_readers_read_on_behind_what_was_taken_out(self):
        url, _ = self.some_page()
        before = {path: self.records_in(path) for path in crawl_files(self.archive)}
        done = self.ask("remove", "--url", url, "--rewrite")
        rewritten = [os.path.join(self.archive, one["file"]) for one in done["files"]]
        self.assertTrue(rewritten)
        for path in rewritten:
            records = self.records_in(path)
            left = [record for record in before[path] if record[1] != url]
            self.assertEqual([record for record in records if record in left], left)
            self.assertLess(len(left), len(before[path]))
            for package, script in (("warcio", WARCIO_SCRIPT),
                                    ("fastwarc", peers.FASTWARC_SCRIPT)):
                if not peers.has_python(package):
                    self.skipTest(f"{package} cannot be installed")
                read = testing.run([peers.PYTHON, "-c", script, path])
                self.assertEqual(read.returncode, 0, read.stderr)
                found = [json.loads(line) for line in read.stdout.splitlines()]
                self.assertEqual([record[:2] for record in found], records, package)
                # What stands in its place names no digest.
                faulty = [one for one in found if len(one) > 4 and one[4] and one[0] != "metadata"]
                self.assertEqual(faulty, [])

    def records_in(self, path):
        listed = testing.run([MEGURI, "warc", "ls", "--json", path])
        self.assertEqual(listed.returncode, 0, listed.stderr)
        records = [json.loads(line) for line in listed.stdout.splitlines()]
        return [[record["type"], record.get("url")] for record in records]

    def test_imported_files_are_rewritten_if_they_are_copies(self):
        done = self.ask("remove", "--domain", "others.example", "--rewrite")
        self.assertEqual(done["entries"], 40)
        found = {one["file"]: (one["records"], one["is_reference"]) for one in done["files"]}
        self.assertEqual(
            found, {"warc/imported/c.warc.gz": (20, False), self.reference: (20, True)}
        )
        self.verify_sound()
        self.ask("repair")
        self.verify_sound()
        text = testing.run([MEGURI, "remove", self.archive, "--rewrite"])
        self.assertEqual(text.returncode, 0, text.stderr)
        self.assertIn("not the archive's own", text.stdout)
        self.assertIn("0 records taken out", text.stdout)

    def test_removing_killed_anywhere_goes_on(self):
        chance = random.Random(5)
        command = ["remove", "--domain", "others.example", "--rewrite"]
        for _ in range(8):
            process = start_quietly([MEGURI, command[0], self.archive, *command[1:]])
            time.sleep(chance.uniform(0, 0.1))
            process.kill()
            process.wait()
        self.ask(*command)
        self.verify_sound()
        self.assertEqual(glob.glob(os.path.join(self.archive, "warc", "**", "*.new")), [])

    def test_removing_stopped_by_hand_goes_on(self):
        entries = self.verify_sound()["entries"]
        what = ["--domain", "others.example"]
        self.check_stops("remove", *what, "--dry-run", says="the same command goes on")
        self.assertFalse(os.path.exists(os.path.join(self.archive, "removals.jsonl")))
        self.check_stops("remove", *what, says="the same command goes on")
        self.assertEqual(self.ask("verify", code=1)["entries"], entries)
        self.assertEqual(self.ask("remove", *what)["entries"], 40)
        self.check_stops("remove", *what, "--rewrite", says="the same command goes on")
        self.ask("remove", *what, "--rewrite")
        self.assertEqual(self.verify_sound()["entries"], entries - 40)
        self.check_stops("import", self.reference, "--remove", says="the same command goes on")


if __name__ == "__main__":
    unittest.main()
