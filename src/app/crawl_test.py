"""`meguri crawl` from outside, on the virtual web: what it archives, stopped and killed."""

import gzip
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
from crawl_testing import clock, durable, read_log
from virtual_web_test import MEGURI, STANDING, VirtualWeb

WORLD = ["--hosts", "8", "--pages", "80", "--servers", "8", "--seed", "3"]
# Hosts ask for delays of up to 20 seconds.
FAST = clock(100)


def read_archive(folder):
    """How often each URL was answered, by the WARC files; robots.txt left out.

    What a server that is not well answers counts once, however often it was tried, and so does
    what did not come in time: on a clock that runs fast a busy machine is late."""
    visits = {}
    for name in sorted(os.listdir(folder)):
        with gzip.open(os.path.join(folder, name)) as file:
            text = file.read().decode("latin-1")
        record = r"(?:^|\r\n\r\n)WARC/1\.1\r\n(.*?)\r\n\r\n(HTTP/1\.. 5)?"
        for head, is_ill in re.findall(record, text, re.DOTALL):
            fields = dict(line.split(": ", 1) for line in head.split("\r\n"))
            if fields["WARC-Type"] not in ("response", "revisit", "metadata"):
                continue
            if fields.get("X-Meguri-Purpose") != "robots":
                url = fields["WARC-Target-URI"]
                is_late = fields.get("WARC-Truncated") in ("time", "disconnect")
                is_whole = not (is_ill or is_late or fields["WARC-Type"] == "metadata")
                visits[url] = visits.get(url, 0) + (1 if is_whole else 0)
    return {url: max(count, 1) for url, count in visits.items()}


class Once(testing.TestCase):
    def command(self, web, *more):
        return [
            MEGURI, "crawl", web.ready["first"], "--archive", os.path.join(self.folder, "archive"),
            "--once", "--scope", "any", "--dns", web.ready["dns"],
            "--allow-network", "127.0.0.0/8", *FAST, *more,
        ]  # fmt: skip

    def archived(self):
        return read_archive(os.path.join(self.folder, "archive", "warc"))

    def reachable(self, web):
        listed = testing.run(
            [MEGURI, "virtual-web", "pages", *WORLD, *STANDING, "--port", str(web.port)]
            + ["--reachable-from", web.ready["first"], "--from", STANDING[-1]]
        )
        self.assertEqual(listed.returncode, 0, listed.stderr)
        return {line.split("\t")[0] for line in listed.stdout.splitlines()}

    def check_store(self, visited):
        """The state of the pages is whole, and has all of them."""
        archive = os.path.join(self.folder, "archive")
        checked = testing.run([MEGURI, "store", "check", archive])
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        stat = testing.run([MEGURI, "store", "stat", archive, "--json"])
        self.assertEqual(stat.returncode, 0, stat.stderr)
        self.assertGreaterEqual(json.loads(stat.stdout)["records"], visited)

    def test_captures_every_reachable_page_once_and_politely(self):
        log = os.path.join(self.folder, "access.log")
        with VirtualWeb(*WORLD, *STANDING, "--delay", "0", "--log", log) as web:
            done = testing.run(self.command(web, "--json"))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('"finished":true', done.stdout)
            reachable = self.reachable(web)
        self.assertGreater(len(reachable), 40)
        archived = self.archived()
        self.assertEqual(reachable - set(archived), set())
        self.assertEqual(set(archived.values()), {1})
        self.check_store(len(archived))
        # The web's clock stands, and with it all gaps: only what was visited can be judged.
        check = testing.run(
            [MEGURI, "virtual-web", "check", *WORLD, "--log", log, "--once"]
            + ["--host-gap", "0", "--server-gap", "0", "--tolerance", "1h"]
            + ["--server-parallel", "1000", "--seed-url", web.ready["first"]]
        )
        kinds = re.findall(r"^  (\S+) +[0-9]+$", check.stdout, re.MULTILINE)
        self.assertEqual(set(kinds) - {"host-overlap", "crawl-delay"}, set(), check.stdout)

    def test_goes_on_after_kills_and_keeps_the_gaps(self):
        log = os.path.join(self.folder, "access.log")
        choice = random.Random(7)
        with VirtualWeb(*WORLD, *FAST, "--delay", "0", "--log", log) as web:
            for _ in range(4):
                crawl = subprocess.Popen(
                    self.command(web), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
                try:
                    crawl.wait(timeout=choice.uniform(0.2, 1.0))
                except subprocess.TimeoutExpired:
                    crawl.send_signal(signal.SIGKILL)
                crawl.wait()
            done = testing.run(self.command(web))
            self.assertEqual(done.returncode, 0, done.stderr)
            reachable = self.reachable(web)
        archived = self.archived()
        self.assertEqual(set(archived.values()), {1})
        # Links may have changed meanwhile; pages have not gone.
        self.assertGreater(len(reachable & set(archived)), len(reachable) * 0.9)
        check = testing.run([MEGURI, "virtual-web", "check", *WORLD, "--log", log])
        self.assertEqual(check.returncode, 0, check.stdout)

    def test_stops_cleanly_and_says_how_to_go_on(self):
        log = os.path.join(self.folder, "access.log")
        with VirtualWeb(*WORLD, *STANDING, "--delay", "0", "--log", log) as web:
            crawl = subprocess.Popen(
                self.command(web),
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
            )
            socket = os.path.join(self.folder, "archive", "control.sock")
            testing.wait_until(lambda: os.path.exists(socket))
            time.sleep(0.5)
            crawl.send_signal(signal.SIGINT)
            output, _ = crawl.communicate(timeout=60)
            self.assertEqual(crawl.returncode, 0)
            self.assertIn("the same command goes on", output)
            # All that was begun is in the archive, and the checkpoint knows of it.
            archive = os.path.join(self.folder, "archive")
            before = self.archived()
            self.assertEqual(set(durable(archive)), set(before))
            asked = {one.url for one in read_log(log, web.port) if one.target != "/robots.txt"}
            self.assertEqual(asked - set(before), set())
            done = testing.run(self.command(web))
            self.assertEqual(done.returncode, 0, done.stderr)
            after = self.archived()
            self.assertEqual(self.reachable(web) - set(after), set())
            self.assertEqual(set(before) - set(after), set())
            self.assertEqual(set(after.values()), {1})


class WrongUse(testing.TestCase):
    def test_gets_one_sentence(self):
        archive = ["--archive", os.path.join(self.folder, "a")]
        seed = "http://www.example.com/"
        for arguments, sentence in (
            ([seed, "--once"], "--archive DIR"),
            ([seed, *archive, "--policy", "psychic"], "psychic"),
            ([seed, *archive, "--min-interval", "9d", "--max-interval", "8d"], "[revisit]"),
            (["nonsense", *archive, "--once"], "is no http or https URL"),
            (["www.example.com", *archive, "--once"], "write https:// or http:// before it"),
            ([seed, *archive, "--once", "--scope", "world"], "--scope takes"),
            ([seed, *archive, "--once", "--include", "("], "("),
            ([seed, *archive, "--once", "--min-delay", "soon"], "--min-delay takes"),
            ([seed, *archive, "--once", "--allow-network", "10.0.0.0/99"], "10.0.0.0/99"),
            ([seed, *archive, "--once", "--dns", "not a server"], "not a server"),
        ):
            with self.subTest(arguments):
                done = testing.run([MEGURI, "crawl", *arguments])
                self.assert_says_one_sentence(done, 2, sentence)

    def test_a_crawl_that_visits_nothing_says_why(self):
        with VirtualWeb(*WORLD, *STANDING, "--delay", "0") as web:
            for seed, network, sentence in (
                (f"http://no-such-host.test:{web.port}/", "127.0.0.0/8", "how they are spelt"),
                (web.ready["first"], "10.0.0.0/8", "--allow-network"),
                ("http://127.0.0.1:1/", "127.0.0.0/8", "inspect --offline"),
            ):
                with self.subTest(seed):
                    folder = os.path.join(self.folder, sentence.replace(" ", "-"))
                    done = testing.run(
                        [MEGURI, "crawl", seed, "--archive", folder, "--once", *FAST]
                        + ["--dns", web.ready["dns"], "--allow-network", network]
                    )
                    self.assertEqual(done.returncode, 1)
                    self.assertIn("nothing was visited: ", done.stderr)
                    self.assertIn(sentence, done.stderr)


if __name__ == "__main__":
    unittest.main()
