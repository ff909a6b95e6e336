"""`meguri demo` from outside: it runs to its end, its numbers are true, and it leaves nothing."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
from crawl_test import read_archive
from virtual_web_test import MEGURI

SMALL = ["--pages", "100"]


def processes_with(text):
    """Those whose command line holds `text`."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                if name.isdigit() and text.encode() in file.read():
                    found.append(name)
        except OSError:
            pass
    return found


class Demo(testing.TestCase):
    def test_tells_the_truth_and_keeps_what_it_is_told_to(self):
        kept = os.path.join(self.folder, "kept")
        done = testing.run([MEGURI, "demo", *SMALL, "--json", "--keep", kept])
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertTrue(result["ok"])
        self.assertTrue(all(result["checks"].values()), result)
        self.assertEqual(
            set(result["checks"]), {"complete", "followed", "once", "polite", "whole", "scanned"}
        )
        self.assertEqual(result["breaches"], 0)
        self.assertGreaterEqual(result["smallest_gap_s"], 5)
        with open(os.path.join(kept, "access.log"), encoding="utf-8") as file:
            self.assertEqual(result["requests"], len(file.readlines()))
        warc = os.path.join(kept, "archive", "warc")
        archived = read_archive(warc)
        self.assertGreaterEqual(len(archived), result["reachable"])
        self.assertGreater(result["reachable"], 50)
        self.assertEqual(set(archived.values()), {1})
        bytes_kept = sum(os.path.getsize(os.path.join(warc, name)) for name in os.listdir(warc))
        self.assertEqual(result["warc_bytes"], bytes_kept)
        types = []
        for name in os.listdir(warc):
            with gzip.open(os.path.join(warc, name)) as file:
                types += re.findall(rb"(?:^|\r\n\r\n)WARC/1\.1\r\nWARC-Type: (\w+)", file.read())
        counts = {one.decode(): types.count(one) for one in set(types)}
        self.assertEqual(result["records"], counts)
        self.assert_plain(done.stderr)
        self.assertIn(kept, done.stderr)

    def assert_plain(self, text):
        self.assertNotIn("\x1b", text)
        self.assertNotIn("\r", text)
        self.assertLessEqual(max(len(line) for line in text.splitlines()), 80)

    def test_leaves_nothing_behind_when_it_is_stopped(self):
        demo = subprocess.Popen(
            [MEGURI, "demo", *SMALL],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env={**os.environ, "TMPDIR": self.folder},
        )
        shown = ""
        while "meguri crawl" not in shown:  # by then two programs run
            line = demo.stdout.readline()
            self.assertNotEqual(line, "", shown)
            shown += line
        time.sleep(0.3)
        self.assertEqual(len(os.listdir(self.folder)), 1)
        self.assertGreater(len(processes_with(self.folder)), 1)
        demo.send_signal(signal.SIGINT)
        shown, errors = demo.communicate(timeout=60)
        self.assertEqual(demo.returncode, 1)
        self.assertEqual(
            errors, "meguri demo: stopped before the end; what it made is removed.\n"
        )
        self.assertEqual(os.listdir(self.folder), [])
        self.assertEqual(processes_with(self.folder), [])

    def test_gets_one_sentence_when_it_cannot_run(self):
        self.write("full/file", "")
        full = os.path.join(self.folder, "full")
        self.assert_says_one_sentence(
            testing.run([MEGURI, "demo", "--keep", full]), 2, "is not empty"
        )
        self.assert_says_one_sentence(
            testing.run([MEGURI, "demo", "--pages", "3"]), 2, "--pages takes 100 to 100,000, not 3"
        )
        self.assert_says_one_sentence(
            testing.run([MEGURI, "demo"], environment={"TMPDIR": "/proc"}), 1, "/proc"
        )


if __name__ == "__main__":
    unittest.main()
