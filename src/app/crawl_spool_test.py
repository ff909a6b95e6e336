"""Large bodies do not live in memory: several at once, a disk that is full, and kill -9."""

import base64
import glob
import hashlib
import http.server
import json
import os
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
from crawl_testing import archived, start_quietly
from crawl_truth_test import MEMORY_SCRIPT
from virtual_web_test import MEGURI

PIECE = bytes(range(256)) * 4096  # 1 MiB that is no text
LARGE_BYTES = 60 * len(PIECE)
HOSTS = [f"127.0.0.{number}" for number in range(2, 6)]  # each a host and a server of its own

CONFIG = """
[politeness]
delay = "100ms"
server_gap = "100ms"
duration_factor = 0
[limits]
tries = 1
[hints]
well_known = false
[archive]
disk_floor = "{floor}"
"""


class Handler(http.server.BaseHTTPRequestHandler):
    """/large is large, /stuck is that but never ends, any other page but robots.txt is small."""

    def do_GET(self):
        if self.path == "/robots.txt":
            self.send_error(404)
            return
        self.send_response(200)
        if self.path == "/large":
            self.send_header("Content-Type", "video/mp4")
            self.end_headers()
            self.wfile.write(self.headers["Host"].encode())  # so that no two are equal
            for _ in range(LARGE_BYTES // len(PIECE)):
                self.wfile.write(PIECE)
        elif self.path == "/stuck" and not self.server.lets_go:
            self.send_header("Content-Type", "video/mp4")
            self.end_headers()
            for _ in range(5):
                self.wfile.write(PIECE)
            self.wfile.flush()
            self.server.ended.wait()
        else:
            self.send_header("Content-Type", "text/plain")
            self.end_headers()
            self.wfile.write(b"small")

    def handle(self):
        try:
            super().handle()
        except OSError:
            pass  # the crawl was killed, or wanted no more

    def log_message(self, *arguments):
        pass


class SpoolCase(testing.TestCase):
    def setUp(self):
        super().setUp()
        self.server = http.server.ThreadingHTTPServer(("0.0.0.0", 0), Handler)
        self.server.daemon_threads = True
        self.server.lets_go = False
        self.server.ended = threading.Event()
        self.port = self.server.server_address[1]
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.addCleanup(self.server.ended.set)

    def command(self, archive, path, hosts, floor="0"):
        config = self.write("meguri.toml", CONFIG.format(floor=floor))
        seeds = [f"http://{host}:{self.port}{path}" for host in hosts]
        return [
            MEGURI, "crawl", *seeds, "--archive", archive, "--once", "--json", "--config", config,
            "--allow-network", "127.0.0.0/8",
        ]  # fmt: skip

    def log_of(self, archive):
        """The lines of the crawl log that are of pages, by URL."""
        lines = {}
        for path in glob.glob(os.path.join(archive, "logs", "*.jsonl")):
            with open(path, encoding="utf-8") as file:
                for line in map(json.loads, file):
                    if line["type"] == "page":
                        lines[line["url"]] = line
        return lines

    def spool_of(self, archive):
        return os.listdir(os.path.join(archive, "state", "spool"))


class Memory(SpoolCase):
    def peak_mb(self, path):
        """The memory of a crawl of this page on all hosts, in MB, and what it archived."""
        archive = os.path.join(self.folder, path.strip("/"))
        done = testing.run(
            [sys.executable, "-c", MEMORY_SCRIPT, *self.command(archive, path, HOSTS)]
        )
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertEqual(self.spool_of(archive), [])
        return int(done.stderr.rsplit("peak ", 1)[1]) / 1024, archived(archive)

    def test_several_large_bodies_at_once(self):
        calm, _ = self.peak_mb("/small")
        loaded, visits = self.peak_mb("/large")
        size = LARGE_BYTES >> 20
        print(
            f"{calm:.0f} MB, with {len(HOSTS)} bodies of {size} MiB {loaded:.0f} MB",
            file=sys.stderr,
        )
        self.assertLess(loaded - calm, 64)
        self.assertEqual(len(visits), len(HOSTS))
        for host in HOSTS:
            (visit,) = visits[f"http://{host}:{self.port}/large"]
            self.assertGreater(int(visit.fields["Content-Length"]), LARGE_BYTES)
            self.assertNotIn("WARC-Truncated", visit.fields)
            whole = hashlib.sha1(f"{host}:{self.port}".encode())
            for _ in range(LARGE_BYTES // len(PIECE)):
                whole.update(PIECE)
            self.assertEqual(visit.digest, "sha1:" + base64.b32encode(whole.digest()).decode())


class FullDisk(SpoolCase):
    def test_a_body_that_does_not_fit_fails_and_the_crawl_goes_on(self):
        if not testing.can_mount(self.folder):
            self.skipTest("needs the right to mount a file system")
        archive = os.path.join(self.folder, "disk", "archive")
        os.makedirs(os.path.dirname(archive))
        kept = os.path.join(self.folder, "kept")
        command = self.command(archive, "/large", HOSTS[:1])
        command.insert(2, f"http://{HOSTS[1]}:{self.port}/small")
        # What is on that disk is gone with the command, so that it is copied before.
        script = ["sh", "-c", '"$@"; code=$?; cp -r "$0" ' + kept + "; exit $code", archive]
        done = testing.run(
            testing.on_tmpfs(os.path.dirname(archive), "size=40m", [*script, *command])
        )
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertTrue(json.loads(done.stdout)["finished"])
        lines = self.log_of(kept)
        small = lines[f"http://{HOSTS[1]}:{self.port}/small"]
        self.assertEqual((small["status"], small["outcome"]), (200, "changed"))
        large = lines[f"http://{HOSTS[0]}:{self.port}/large"]
        self.assertEqual((large["failure"], large["outcome"]), ("local_failure", "error"))
        self.assertIn("its body cannot be kept: ", large["error"])
        self.assertIn("No space left on device", large["error"])


class Kill(SpoolCase):
    def uses_disk(self, pid):
        """Whether the crawl has a file without a name open."""
        for path in glob.glob(f"/proc/{pid}/fd/*"):
            try:
                target = os.readlink(path)
            except OSError:
                continue
            if "/state/spool/" in target and target.endswith("(deleted)"):
                return True
        return False

    def test_kill_9_leaves_no_litter(self):
        archive = os.path.join(self.folder, "archive")
        command = self.command(archive, "/stuck", HOSTS[:2])
        process = start_quietly(command)
        end = time.monotonic() + 60
        while not self.uses_disk(process.pid) and time.monotonic() < end:
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        self.assertTrue(self.uses_disk(process.pid))
        process.kill()
        process.wait()
        self.assertEqual(self.spool_of(archive), [])
        self.server.lets_go = True
        done = testing.run(command)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertEqual(len(archived(archive)), 2)
        self.assertEqual(self.spool_of(archive), [])


if __name__ == "__main__":
    unittest.main()
