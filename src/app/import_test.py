"""`meguri import`: WARC files of anybody's, added, killed, gone on with, copied and taken out."""

import glob
import gzip
import http.server
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../archive"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
import warc_command_test as warc
import warc_peers_test as peers
from crawl_testing import (CrawlCase, archived, clock, crawl_command, read_visits, start_quietly,
                           warc_files)
from virtual_web_test import MEGURI, VirtualWeb
from warc_command_test import LONG_URL, response

# For an index: what RocksDB takes besides what any command does.
IMPORT_MEMORY_MAX = warc.MEMORY_MAX + (64 << 20)


def file_of(count, seed, body=b"hello"):
    """A WARC file of so many visits; the seed tells files apart."""
    return b"".join(
        gzip.compress(response(f"{seed}-{i}", f"http://h{i % 5}.example/{seed}/{i}", body))
        for i in range(count)
    )


def told_member(record):
    """A gzip member that tells its lengths, as wget writes them."""
    plain = gzip.compress(record)
    lengths = struct.pack("<II", len(plain) + 14, len(record))
    return plain[:3] + b"\4" + plain[4:10] + b"\x0c\0sl\x08\0" + lengths + plain[10:]


class ImportCase(warc.WarcCase):
    def setUp(self):
        super().setUp()
        self.archive = os.path.join(self.folder, "archive")
        os.mkdir(os.path.join(self.folder, "old"))

    def run_import(self, *arguments, **options):
        return testing.run([MEGURI, "import", self.archive, *arguments], **options)

    def bring_in(self, *arguments, code=0):
        done = self.run_import("--json", "--quiet", *arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def take_out(self, *arguments):
        done = self.run_import("--remove", "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["removed"]

    def check_counts(self, report, **expected):
        for name in ("added", "replaced", "moved", "known", "failed"):
            self.assertEqual(report[name], expected.get(name, 0), report)

    def copies(self):
        return sorted(os.listdir(os.path.join(self.archive, "warc", "imported")))


class Import(ImportCase):
    def test_twice_and_more(self):
        one = self.save("old/one.warc.gz", file_of(30, 1))
        two = self.save("old/two.warc.gz", file_of(20, 2))
        report = self.bring_in(one)
        self.check_counts(report, added=1)
        self.assertEqual((report["entries"], report["bytes"]), (30, os.path.getsize(one)))
        report = self.bring_in(one, two)
        self.check_counts(report, added=1, known=1)
        self.assertEqual(report["entries"], 20)
        self.check_counts(self.bring_in(one, two, two), known=2)

    def test_a_folder(self):
        os.makedirs(os.path.join(self.folder, "old", "deep", "er"))
        for i, name in enumerate(["a.warc.gz", "deep/b.WARC.GZ", "deep/er/c.warc.gz"]):
            self.save("old/" + name, file_of(10, i))
        self.save("old/readme.txt", b"nothing here\n")
        self.save("old/deep/false.warc", b"this is no WARC file\n" * 100)
        done = self.run_import(os.path.join(self.folder, "old"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "3 files imported, 0 known already, 0 that could not be "
                                      "read; 30 new entries\n")
        self.assertRegex(done.stderr, r"importing: \d of 4 files, .* of .*, \d+ entries")
        self.check_counts(self.bring_in(os.path.join(self.folder, "old") + "/"), known=3)

    def test_removed_and_added_again(self):
        one = self.save("old/one.warc.gz", file_of(30, 1))
        two = self.save("old/two.warc.gz", file_of(20, 2))
        self.bring_in(one, two)
        self.assertEqual(self.take_out(one), 1)
        self.assertTrue(os.path.exists(one), "it is not ours")
        self.assert_says_one_sentence(self.run_import("--remove", one), 1, one, "was not imported")
        report = self.bring_in(one, two)
        self.check_counts(report, added=1, known=1)
        self.assertEqual(report["entries"], 30)
        os.remove(one)
        self.assertEqual(self.take_out(one, two), 2)
        self.check_counts(self.bring_in(two), added=1)

    def test_copies(self):
        one = self.save("old/one.warc.gz", file_of(30, 1))
        self.check_counts(self.bring_in("--copy", one), added=1)
        self.assertEqual(self.copies(), ["one.warc.gz"])
        self.check_counts(self.bring_in(one), known=1)
        two = self.save("old/two.warc.gz", file_of(10, 2))
        self.check_counts(self.bring_in(two), added=1)
        self.check_counts(self.bring_in("--copy", two), moved=1)
        self.assertEqual(self.copies(), ["one.warc.gz", "two.warc.gz"])
        # An archive can be carried away with its copies.
        os.rename(self.archive, self.archive + "2")
        self.archive += "2"
        os.remove(two)
        self.check_counts(self.bring_in(one), known=1)
        self.assertEqual(self.take_out(one), 1)
        self.assertEqual(self.copies(), ["two.warc.gz"])
        self.assertEqual(
            self.take_out(os.path.join(self.archive, "warc", "imported", "two.warc.gz")), 1)
        self.assertEqual(self.copies(), [])

    def test_moved_and_replaced(self):
        one = self.save("old/one.warc.gz", file_of(30, 1))
        self.bring_in(one)
        moved = os.path.join(self.folder, "moved.warc.gz")
        os.rename(one, moved)
        self.check_counts(self.bring_in(moved), moved=1)
        self.save("moved.warc.gz", file_of(31, 1))
        report = self.bring_in(moved)
        self.check_counts(report, replaced=1)
        self.assertEqual(report["entries"], 31)

    def test_names_do_not_matter(self):
        one = self.save("old/one.warc.gz", file_of(30, 1))
        os.symlink(one, os.path.join(self.folder, "link.warc.gz"))
        shutil.copy(one, os.path.join(self.folder, "same.warc.gz"))
        report = self.bring_in(one, os.path.join(self.folder, "link.warc.gz"),
                               os.path.join(self.folder, "old/../same.warc.gz"))
        self.check_counts(report, added=1, known=2)
        done = testing.run([MEGURI, "import", "../archive", "one.warc.gz", "--json"],
                           cwd=os.path.join(self.folder, "old"))
        self.check_counts(json.loads(done.stdout), known=1)

    def test_a_damaged_file(self):
        data = file_of(30, 1)
        path = self.save("old/bad.warc.gz", data[:700] + b"rubbish" + data[700:-9])
        report = self.bring_in(path)
        self.check_counts(report, added=1)
        self.assertEqual([one["file"] for one in report["damaged"]], [path])
        self.assertGreaterEqual(report["damaged"][0]["places"], 2)
        self.assertGreaterEqual(report["entries"], 28)
        self.take_out(path)
        done = self.run_import(path)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"bad.warc.gz: damaged in \d places; the rest was read")

    def test_damage_behind_the_front_of_a_member(self):
        body = random.Random(5).randbytes(100_000).hex().encode()
        members = [told_member(response(str(i), f"http://h.example/{i}", body)) for i in range(3)]
        middle = len(members[0]) // 2
        members[0] = members[0][:middle] + b"?!?" + members[0][middle + 3:]
        path = self.save("old/bad.warc.gz", b"".join(members))
        report = self.bring_in(path)
        self.assertEqual((report["entries"], report["damaged"]), (3, []))
        self.take_out(path)
        report = self.bring_in("--check", path)
        self.assertEqual(report["damaged"], [{"file": path, "places": 1}])
        done = self.run_import("--check", "--remove", path)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--check brings files in", done.stderr)

    def test_urls_of_all_kinds(self):
        urls = [LONG_URL, "http://example.com/" + "z" * 65_000, "http://example.com/café",
                "http://bücher.example/%00", "dns:example.com"]
        path = self.save("old/a.warc", b"".join(
            response(str(i), url, b"x") for i, url in enumerate(urls)))
        self.assertEqual(self.bring_in(path)["entries"], len(urls))


class WrongUse(ImportCase):
    def test_what_cannot_be_imported(self):
        missing = os.path.join(self.folder, "missing.warc")
        self.assert_says_one_sentence(self.run_import(missing), 1, missing, "no such file")
        self.assert_says_one_sentence(self.run_import(os.path.join(self.folder, "old")), 2,
                                      "there are no WARC files in it")
        self.assertFalse(os.path.exists(self.archive), "nothing was begun")
        text = self.save("text", b"This is no WARC file.\n" * 1000)
        good = self.save("old/one.warc.gz", file_of(3, 1))
        for more in ([], ["--copy"]):
            report = self.bring_in(text, good, *more, code=1)
            self.assertEqual(report["failed"], 1)
            self.assertEqual(report["errors"], [{"file": text, "error": "there is no WARC record "
                                                                        "in it"}])
        self.assertEqual(self.copies(), ["one.warc.gz"])

    def test_options(self):
        good = self.save("old/one.warc.gz", file_of(3, 1))
        for arguments in ([], [good, "--workers", "0"], [good, "--workers", "x"],
                          [good, "--copy", "--remove"], [good, "--nonsense"]):
            self.assertEqual(self.run_import(*arguments).returncode, 2, arguments)
        self.assert_says_one_sentence(self.run_import("--remove", good), 1, "no archive")
        done = testing.run([MEGURI, "import", "--help"])
        self.assertEqual(done.returncode, 0)
        self.assertIn("meguri import example old-crawls/ other.warc.gz", done.stdout)

    def test_a_file_that_nobody_may_read(self):
        path = self.save("old/one.warc.gz", file_of(3, 1))
        os.chmod(path, 0)
        os.mkdir(self.archive, 0o777)
        os.chmod(self.archive, 0o777)
        done = testing.run(testing.as_nobody([MEGURI, "import", self.archive, path, "--json"]))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(json.loads(done.stdout)["failed"], 1)

    def test_a_full_disk(self):
        if not testing.can_mount(self.folder):
            self.skipTest("no file system can be mounted here")
        path = self.save("old/one.warc", b"".join(
            response(str(i), f"http://x/{i}", os.urandom(100_000)) for i in range(60)))
        os.mkdir(self.archive)
        done = testing.run(testing.on_tmpfs(
            self.archive, "size=4m", [MEGURI, "import", self.archive, "--copy", "--quiet", path]))
        self.assert_says_one_sentence(done, 1, "one.warc")
        self.assertRegex(done.stderr, "[Nn]o space")


class Killed(ImportCase):
    """Killed in the middle, again and again, it ends as if it had never been."""

    def setUp(self):
        super().setUp()
        self.paths = [self.save(f"old/{i}.warc.gz", file_of(1500, i)) for i in range(8)]

    def total(self):
        """Entries that the whole import has, by an archive that nothing happened to."""
        whole = os.path.join(self.folder, "whole")
        done = testing.run([MEGURI, "import", whole, "--json", *self.paths])
        return json.loads(done.stdout)["entries"]

    def check_killed(self, *more):
        chance = random.Random(4)
        ended = 0
        for _ in range(12):
            process = start_quietly([MEGURI, "import", self.archive, *more, *self.paths])
            time.sleep(chance.uniform(0.0, 0.15))
            process.kill()
            ended += process.wait() == 0
        self.assertLess(ended, 12)
        self.assertEqual(self.bring_in(*more, *self.paths)["failed"], 0)
        self.check_counts(self.bring_in(*more, *self.paths), known=8)
        # Taken out file by file, all of it comes in again.
        self.take_out(*self.paths)
        report = self.bring_in(*more, *self.paths)
        self.check_counts(report, added=8)
        self.assertEqual(report["entries"], 8 * 1500)

    def test_by_reference(self):
        self.assertEqual(self.total(), 8 * 1500)
        self.check_killed()

    def test_by_copy(self):
        self.check_killed("--copy")
        self.assertEqual(self.copies(), [f"{i}.warc.gz" for i in range(8)])

    def test_stopped_by_hand(self):
        large = self.save("old/large.warc.gz", file_of(40_000, 99, b"x"))
        process = subprocess.Popen([MEGURI, "import", self.archive, large], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for line in process.stderr:  # it listens by now
            if line.startswith("importing:"):
                break
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        if process.returncode != 0:
            self.assertIn("stopped; the same command goes on where it was", said)
        report = self.bring_in(large)
        self.assertEqual(report["failed"], 0)
        self.check_counts(self.bring_in(large), known=1)


class LargeImports(ImportCase):
    def check_size(self, size):
        path = warc.LargeRecords.save_large(self, size)
        out = os.path.join(self.folder, "out")
        peak = warc.LargeRecords.peak_of(
            self, [MEGURI, "import", self.archive, "--json", "--quiet", path], out)
        self.assertLess(peak, IMPORT_MEMORY_MAX)
        with open(out, encoding="utf-8") as file:
            report = json.load(file)
        self.check_counts(report, added=1)
        self.assertEqual((report["entries"], report["damaged"]), (2, []))
        self.check_counts(self.bring_in(path), known=1)
        self.assertEqual(self.take_out(path), 1)

    def test_take_no_more_memory(self):
        self.check_size(300_000_000)


class LongImports(LargeImports):
    def test_take_no_more_memory(self):
        self.check_size(5_000_000_000)


class Peers(ImportCase):
    def test_wget(self):
        if shutil.which("wget") is None:
            self.skipTest("there is no wget")

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(b"hello")

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        urls = [f"http://127.0.0.1:{server.server_address[1]}/{name}" for name in
                ("a", "b?c=d", "y" * 3700)]
        for more, name in ([], "w.warc.gz"), (["--no-warc-compression"], "w.warc"):
            done = testing.run(["wget", "-q", "--no-proxy", "-O", os.devnull, "--warc-file",
                                os.path.join(self.folder, "w"), *more, *urls])
            self.assertEqual(done.returncode, 0, done.stderr)
            report = self.bring_in(os.path.join(self.folder, name))
            self.check_counts(report, added=1)
            # Besides, wget writes its own log and arguments as records of resources.
            self.assertGreaterEqual(report["entries"], len(urls))
            self.assertEqual(report["damaged"], [])

    def test_warcio(self):
        if not peers.has_python("warcio"):
            self.skipTest("warcio cannot be installed")
        script = """
import io, sys
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter
for name, gzip in (("plain.warc", False), ("packed.warc.gz", True)):
    with open(sys.argv[1] + "/" + name, "wb") as out:
        writer = WARCWriter(out, gzip=gzip)
        head = StatusAndHeaders("200 OK", [("Content-Type", "text/plain")], protocol="HTTP/1.0")
        for url, body in (("http://x/a", b"alpha"), (sys.argv[2], b"beta")):
            writer.write_record(writer.create_warc_record(
                url, "response", payload=io.BytesIO(body), http_headers=head))
        writer.write_record(writer.create_revisit_record(
            "http://x/a", "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "http://gone/",
            "2020-01-01T00:00:00Z", http_headers=head))
        writer.write_record(writer.create_warcinfo_record("x.warc", {"software": "test"}))
"""
        old = os.path.join(self.folder, "old")
        done = testing.run([peers.PYTHON, "-c", script, old, LONG_URL])
        self.assertEqual(done.returncode, 0, done.stderr)
        report = self.bring_in(old)
        self.check_counts(report, added=2)
        self.assertEqual((report["entries"], report["damaged"]), (6, []))

    def test_samples(self):
        folder = os.path.join(os.environ.get("MEGURI_TEST_DATA", ""), "warc")
        samples = sorted(glob.glob(os.path.join(folder, "*.warc*")))
        if not samples:
            self.skipTest("no warc in MEGURI_TEST_DATA")
        for more in ([], ["--copy"]):
            report = self.bring_in(*more, *samples)
            self.assertEqual(report["failed"], 0, report)
        self.assertEqual(self.bring_in(*samples)["known"], len(samples))
        self.assertEqual(self.take_out(*samples), len(samples))
        report = self.bring_in(folder)
        self.check_counts(report, added=len(samples))
        self.assertGreaterEqual(report["entries"], len(samples))


WORLD = ["--hosts", "20", "--pages", "200", "--seed", "3", "--sound"]
SPEED = clock(3600)  # a second is an hour


class CrawlsBefore(CrawlCase):
    """What was imported gives the pages of a crawl their first estimate."""

    def setUp(self):
        super().setUp()
        self.web = VirtualWeb(*WORLD, *SPEED, "--delay", "0")
        self.enterContext(self.web)
        self.archive = os.path.join(self.folder, "archive")

    def crawl_once(self, name):
        archive = os.path.join(self.folder, name)
        done = testing.run(crawl_command(self.web, archive, *SPEED, "--json"))
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return archive

    def run_import(self, *arguments):
        done = testing.run([MEGURI, "import", self.archive, "--json", *arguments])
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def crawl(self, time="2s", *more):
        command = crawl_command(self.web, self.archive, *SPEED, "--json", "--for", time, *more)
        command.remove("--once")
        done = testing.run(command)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return json.loads(done.stdout), done.stderr

    def revisit_of(self, url):
        done = testing.run([MEGURI, "url", self.archive, url, "--json"])
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["revisit"]

    def check_known(self, visits):
        """Pages know of a visit that was imported, as their first."""
        settled = sorted(url for url, ones in visits.items()
                         if {one.status for one in ones} == {200})
        self.assertGreater(len(settled), 40)
        for url in random.Random(1).sample(settled, 20):
            self.assertEqual(self.revisit_of(url)["since"][:19], visits[url][0].date[:19], url)

    def test_own_files_are_imported_and_go_on(self):
        first = self.crawl_once("first")
        before = archived(first)
        for more in ([], ["--copy"]):
            shutil.rmtree(self.archive, ignore_errors=True)
            report = self.run_import(*more, *warc_files(first))
            self.assertGreaterEqual(report["entries"], sum(map(len, before.values())))
            end, said = self.crawl()
            self.assertRegex(said, r"reading what was archived before: 1 of 1 file, .* visits")
            self.assertGreater(end["from_history"], 100)
            self.check_known(before)
            # And no more when it goes on.
            end, said = self.crawl()
            self.assertNotIn("reading what was archived before", said)
            self.assertEqual(end["from_history"], 0)

    def test_files_imported_later_are_read_alone(self):
        first = self.crawl_once("first")
        files = self.halves_of(warc_files(first)[0])
        self.run_import(files[0])
        end, said = self.crawl("1s")
        self.assertIn("1 of 1 file", said)
        self.assertGreater(end["from_history"], 20)
        self.run_import(files[1])
        _, said = self.crawl("1s")
        self.assertRegex(said, "reading what was archived before: 1 of 1 file,")

    def test_killed_anywhere_and_more_imported_nothing_is_lost(self):
        first = self.crawl_once("first")
        files = self.halves_of(warc_files(first)[0])
        before = {}
        with open(files[0], "rb") as file:
            for visit in read_visits(file):
                before.setdefault(visit.url, []).append(visit)
        self.run_import(files[0])
        command = crawl_command(self.web, self.archive, *SPEED)
        command.remove("--once")
        chance = random.Random(5)
        for _ in range(8):
            crawl = start_quietly(command)
            time.sleep(chance.uniform(0.02, 0.5))
            crawl.kill()
            crawl.wait()
        self.run_import("--copy", *files)
        self.crawl("2s")
        self.check_known(before)

    def test_removed_files_are_not_read(self):
        first = self.crawl_once("first")
        files = self.halves_of(warc_files(first)[0])
        self.run_import(*files)
        self.run_import("--remove", files[1])
        os.remove(files[1])
        _, said = self.crawl("1s")
        self.assertRegex(said, "reading what was archived before: 1 of 1 file,")

    def test_a_file_that_is_gone_is_told_and_passed_over(self):
        first = self.crawl_once("first")
        self.run_import(*warc_files(first))
        shutil.rmtree(first)
        end, said = self.crawl("1s")
        self.assertIn("an imported file is gone", said)
        self.assertEqual(end["from_history"], 0)

    def test_nobody_imports_while_a_crawl_runs(self):
        first = self.crawl_once("first")
        command = crawl_command(self.web, self.archive, *SPEED)
        command.remove("--once")
        crawl = start_quietly(command)
        try:
            testing.wait_until(lambda: os.path.exists(os.path.join(self.archive, "control.sock")))
            done = testing.run([MEGURI, "import", self.archive, *warc_files(first)])
            self.assert_says_one_sentence(done, 1, self.archive)
        finally:
            crawl.terminate()
            crawl.wait()
        self.assertGreater(self.run_import(*warc_files(first))["entries"], 100)

    def halves_of(self, path):
        """Two files of the records of one."""
        listed = testing.run([MEGURI, "warc", "ls", "--json", path])
        records = [json.loads(line) for line in listed.stdout.splitlines()]
        cut = next(record["offset"] for record in records[len(records) // 2 :]
                   if record["type"] == "request" or record["type"] == "response")
        with open(path, "rb") as file:
            data = file.read()
        halves = []
        for name, part in (("a.warc.gz", data[:cut]), ("b.warc.gz", data[cut:])):
            halves.append(os.path.join(self.folder, name))
            with open(halves[-1], "wb") as file:
                file.write(part)
        return halves


if __name__ == "__main__":
    unittest.main()
