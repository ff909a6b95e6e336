"""Seeing a crawl: its log, its metrics, its progress, on a crawl of the virtual web."""

import fcntl
import glob
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
from crawl_testing import clock
from virtual_web_test import MEGURI, STANDING, VirtualWeb

WORLD = ["--hosts", "8", "--pages", "80", "--servers", "8", "--seed", "3"]
FAST = clock(100)
BINARIES = os.environ.get("MEGURI_BINARY_DIR", os.path.join(testing.ROOT, "build/release"))
PEERS = os.path.join(BINARIES, "peers/metrics")
CLIENT = "prometheus-client==0.23.1"
INSTALL_SECONDS_MAX = 120

# Prints [name, type, number of samples] for each family of what it reads.
PARSER_SCRIPT = """
import json, sys
from prometheus_client.parser import text_string_to_metric_families
print(json.dumps([[family.name, family.type, len(family.samples)]
                  for family in text_string_to_metric_families(sys.stdin.read())]))
"""


def without_proxy(url):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=30) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def prometheus_parser():
    """A Python that has Prometheus' own parser, or None."""
    python = os.path.join(PEERS, "bin/python")
    os.makedirs(os.path.dirname(PEERS), exist_ok=True)
    with open(PEERS + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for command in (
            [python, "-c", "import prometheus_client"],
            [sys.executable, "-m", "venv", PEERS],
            [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", CLIENT],
        ):
            try:
                done = subprocess.run(
                    command, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                    timeout=INSTALL_SECONDS_MAX,
                )  # fmt: skip
            except (OSError, subprocess.TimeoutExpired):
                continue
            if done.returncode == 0 and command[0] == python:
                return python
    return None


def samples_of(text):
    samples = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            samples[name] = float(value)
    return samples


class Observed(testing.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = os.path.join(self.folder, "archive")

    def command(self, web, *more):
        return [
            MEGURI, "crawl", web.ready["first"], "--archive", self.archive, "--once",
            "--scope", "any", "--dns", web.ready["dns"], "--allow-network", "127.0.0.0/8", *more,
        ]  # fmt: skip

    def logged(self):
        lines = []
        for path in sorted(glob.glob(os.path.join(self.archive, "logs", "crawl*.jsonl"))):
            with open(path, encoding="utf-8") as file:
                lines += [json.loads(line) for line in file]
        return lines

    def stored(self):
        """(file, offset, URL) of each visit, by the WARC files: every record is a gzip member."""
        visits = []
        for path in glob.glob(os.path.join(self.archive, "warc", "*.warc.gz")):
            with open(path, "rb") as file:
                size = os.path.getsize(path)
                while file.tell() < size:
                    offset = file.tell()
                    head, length = self.first_member(file, offset)
                    fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:])
                    if fields["WARC-Type"] in ("response", "revisit", "metadata"):
                        name = os.path.basename(path)
                        visits.append((name, offset, fields["WARC-Target-URI"]))
                    file.seek(offset + length)
        return sorted(visits)

    @staticmethod
    def first_member(file, offset):
        """The header lines of the record at `offset`, and how long its member is."""
        unpacked, plain = zlib.decompressobj(wbits=31), b""
        file.seek(offset)
        taken = 0
        while not unpacked.eof:
            part = file.read(65536)
            plain += unpacked.decompress(part)
            taken += len(part)
        return plain.split(b"\r\n\r\n", 1)[0].decode(), taken - len(unpacked.unused_data)


class Log(Observed):
    def test_tells_of_the_visits_of_the_archive(self):
        with VirtualWeb(*WORLD, *STANDING, "--delay", "0") as web:
            stopped = subprocess.Popen(
                self.command(web, *FAST), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            time.sleep(0.7)
            stopped.send_signal(signal.SIGKILL)
            stopped.wait()
            done = testing.run(self.command(web, *FAST, "--json"))
            self.assertEqual(done.returncode, 0, done.stderr)
        lines = self.logged()
        visits = sorted(
            (line["warc"], line["offset"], line["url"])
            for line in lines
            if line["type"] in ("page", "robots")
        )
        self.assertEqual(visits, self.stored())
        pages = [line for line in lines if line["type"] == "page"]
        refusals = [line for line in lines if line["type"] == "refusal"]
        self.assertGreater(len(pages), 40)
        result = json.loads(done.stdout)
        # What failed in a way that may pass was visited again.
        urls = {line["url"] for line in pages}
        self.assertEqual(result["done"], len(urls) + len(refusals))
        self.assertEqual(result["log"], os.path.join(self.archive, "logs/crawl.jsonl"))
        self.assertEqual(sum(result["refused"].values()), len(refusals))
        for line in pages:
            self.assertRegex(line["time"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            self.assertIn("status" if "status" in line else "failure", line)
            self.assertIn(line["outcome"], ("changed", "gone", "redirected", "error"))
            self.assertTrue(line["depth"] == 0 or line["via"].startswith("http"))
        found = [line for line in pages if line.get("status") == 200]
        self.assertTrue(all(line["digest"].startswith("sha1:") for line in found))
        self.assertTrue(any(line["links"] > 3 for line in found))


class Metrics(Observed):
    def start(self, web, *more):
        crawl = subprocess.Popen(
            self.command(web, "--metrics", "127.0.0.1:0", *more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        line = crawl.stderr.readline()
        self.assertRegex(line, r"^metrics at http://127\.0\.0\.1:\d+/metrics$")
        return crawl, line.split()[-1]

    def test_are_served_while_it_runs(self):
        with VirtualWeb(*WORLD, *STANDING, "--delay", "0") as web:
            crawl, url = self.start(web, *clock(10))
            deadline = time.monotonic() + 60
            samples = {}
            while samples.get('meguri_visits_total{purpose="page"}', 0) < 3:
                self.assertLess(time.monotonic(), deadline)
                kind, text = without_proxy(url)
                self.assertTrue(kind.startswith("text/plain; version=0.0.4"), kind)
                samples = samples_of(text)
                time.sleep(0.1)
            with self.assertRaises(urllib.error.HTTPError) as missing:
                without_proxy(url.replace("/metrics", "/other"))
            self.assertEqual(missing.exception.code, 404)
            port = urllib.parse.urlparse(url).port
            busy = testing.run(
                self.command(web, "--metrics", f"127.0.0.1:{port}")[:3]
                + ["--archive", self.archive + "2", "--once", "--metrics", f"127.0.0.1:{port}"]
            )
            self.assert_says_one_sentence(busy, 1, "another program has that port")
            crawl.send_signal(signal.SIGINT)
            crawl.communicate(timeout=60)
            self.assertEqual(crawl.returncode, 0)
        known = samples["meguri_pages_known"]
        states = [samples[f'meguri_pages{{state="{s}"}}'] for s in ("waiting", "in_flight", "done")]
        self.assertGreater(known, 0)
        self.assertAlmostEqual(sum(states), known, delta=5)
        self.assertGreater(samples["meguri_received_bytes_total"], 0)
        self.assertGreater(samples["process_resident_memory_bytes"], 1e6)
        self.assertGreater(samples["meguri_epoch"], 0)
        self.assertIn('meguri_module_busy_seconds_total{module="extractor"}', samples)

    def test_are_what_prometheus_reads(self):
        python = prometheus_parser()
        if python is None:
            self.skipTest("prometheus_client cannot be installed")
        with VirtualWeb(*WORLD, *STANDING, "--delay", "0") as web:
            crawl, url = self.start(web)
            text = ""
            while "meguri_pages_known" not in text:
                text = without_proxy(url)[1]
            crawl.send_signal(signal.SIGINT)
            crawl.communicate(timeout=60)
        parsed = testing.run([python, "-c", PARSER_SCRIPT], stdin=None, input=text)
        self.assertEqual(parsed.returncode, 0, parsed.stderr)
        families = {name: (kind, size) for name, kind, size in json.loads(parsed.stdout)}
        self.assertEqual(families["meguri_visits"], ("counter", 2))
        self.assertEqual(families["meguri_fetch_duration_seconds"][0], "histogram")
        self.assertEqual(sum(size for _, size in families.values()), len(samples_of(text)))

    def test_a_wrong_address_is_wrong_use(self):
        done = testing.run(
            [MEGURI, "crawl", "http://example.org/", "--archive", self.archive, "--once"]
            + ["--metrics", "nowhere"]
        )
        self.assert_says_one_sentence(done, 2, "--metrics", "127.0.0.1:9464")


class Progress(Observed):
    def test_is_plain_lines_where_there_is_no_terminal(self):
        with VirtualWeb(*WORLD, *STANDING, "--delay", "0") as web:
            done = testing.run(self.command(web, *FAST))
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stderr.splitlines()
        self.assertGreaterEqual(len(lines), 2)
        for line in lines:
            self.assertRegex(line, r'^progress (\w+=[\d.]+ )+waits="[^"]+"$')
        last = dict(re.findall(r"(\w+)=([\d.]+)", lines[-1]))
        self.assertEqual(last["done"], last["known"])
        self.assertIn('waits="nothing is left to visit"', lines[-1])
        self.assertRegex(done.stdout, r"^\d+ of \d+ pages done, ")
        self.assertIn(os.path.join(self.archive, "logs/crawl.jsonl"), done.stdout)
        self.assertNotIn("\x1b", done.stdout + done.stderr)

    def test_is_silent_when_asked(self):
        with VirtualWeb(*WORLD, *STANDING, "--delay", "0") as web:
            done = testing.run(self.command(web, *FAST, "--quiet", "--json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        self.assertTrue(json.loads(done.stdout)["finished"])

    def on_terminal(self, web, environment, columns=100):
        """What a crawl writes to a terminal until Ctrl-C is pressed there."""
        terminal, program = pty.openpty()
        fcntl.ioctl(program, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        crawl = subprocess.Popen(
            self.command(web),
            stdin=program,
            stdout=subprocess.DEVNULL,
            stderr=program,
            env={**os.environ, "TERM": "xterm", **environment},
        )
        os.close(program)
        written, deadline, is_stopped = b"", time.monotonic() + 60, False
        while time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.2)[0]:
                try:
                    part = os.read(terminal, 65536)
                except OSError:  # the other end is closed
                    break
                written += part
            if not is_stopped and re.search(rb"for (its|their) delay", written):
                crawl.send_signal(signal.SIGINT)
                is_stopped = True
        self.assertEqual(crawl.wait(timeout=60), 0)
        os.close(terminal)
        return written.decode()

    def test_is_live_on_a_terminal_and_goes_away(self):
        with VirtualWeb(*WORLD, *STANDING, "--delay", "0") as web:
            written = self.on_terminal(web, {"NO_COLOR": ""})
        self.assertRegex(written, r"\d of \d+ pages? done")
        self.assertRegex(written, r"waits? for (its|their) delay")
        self.assertIn("\x1b[1m", written)
        # The last thing is to clear all live lines from the first on.
        self.assertRegex(written, "\r\x1b\\[\\d+A\x1b\\[J$")

    def test_has_no_colours_where_they_are_not_wanted(self):
        with VirtualWeb(*WORLD, *STANDING, "--delay", "0") as web:
            written = self.on_terminal(web, {"NO_COLOR": "1"})
        self.assertRegex(written, r"\d of \d+ pages? done")
        self.assertNotRegex(written, "\x1b\\[[0-9]*m")


if __name__ == "__main__":
    unittest.main()
