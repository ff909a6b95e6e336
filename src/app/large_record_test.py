"""A record that is larger than any memory bound, through all that an archive does with it."""

import json
import os
import sys
import unittest
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
import warc_command_test as warc
from virtual_web_test import MEGURI
from warc_command_test import LONG_URL

SMALL_URL = "http://x/"
MEMORY_MAX = 192 << 20  # bytes, with the index and the buffers of all cores


class LargeRecord(warc.WarcCase):
    def setUp(self):
        super().setUp()
        self.archive = os.path.join(self.folder, "archive")
        self.out = os.path.join(self.folder, "out")

    def do(self, *arguments):
        """Runs a command in bounded memory; returns where it wrote to."""
        peak = warc.LargeRecords.peak_of(self, [MEGURI, *arguments], self.out)
        self.assertLess(peak, MEMORY_MAX, arguments)
        return self.out

    def text(self, *arguments):
        with open(self.do(*arguments), encoding="utf-8") as file:
            return file.read()

    def check_warc(self, path, size):
        """A file with the large record and the small one, each of them whole."""
        lines = self.text("warc", "check", path)
        self.assertIn("nothing is missing or broken", lines)
        self.do("warc", "cat", path, "--url", LONG_URL)
        self.assertEqual(os.path.getsize(self.out), size)

    def test_survives_every_path(self):
        self.check_paths(250_000_000)

    def check_paths(self, size):
        path = warc.LargeRecords.save_large(self, size)
        self.do("import", self.archive, "--quiet", "--copy", path)
        os.remove(path)
        self.do("verify", self.archive, "--quiet")
        urls = self.text("snapshot", self.archive).splitlines()
        self.assertEqual(urls, [LONG_URL, SMALL_URL])
        for line in self.text("snapshot", self.archive, "--output", "cdxj").splitlines():
            fields = json.loads(line.split(" ", 2)[2])
            if fields["url"] == LONG_URL:
                self.assertGreater(int(fields["length"]), size)

        made = os.path.join(self.folder, "made.warc.gz")
        self.do("snapshot", self.archive, "--output", "warc", "-o", made, "--quiet")
        self.check_warc(made, size)
        package = os.path.join(self.folder, "made.wacz")
        self.do("snapshot", self.archive, "--output", "wacz", "-o", package, "--quiet")
        with zipfile.ZipFile(package) as parts:
            (name,) = [name for name in parts.namelist() if name.startswith("archive/")]
            inner = parts.extract(name, self.folder)
        self.check_warc(inner, size)
        os.remove(inner)

        differences = json.loads(self.text("diff", self.archive, "--from", "2000", "--text",
                                           "--json", "--quiet"))
        self.assertEqual(differences["counts"]["added"], 2)
        counted = self.text("scan", self.archive, "--quiet", "--", "count-by", "status")
        self.assertEqual(counted, "200\t2\n")

        # Again, from the packed file; by reference.
        second = os.path.join(self.folder, "second")
        self.do("import", second, "--quiet", made)
        self.do("verify", second, "--quiet")
        self.assertEqual(self.text("snapshot", second).splitlines(), urls)

        self.do("repair", self.archive, "--quiet")
        self.assertEqual(self.text("snapshot", self.archive).splitlines(), urls)
        self.do("remove", self.archive, "--url", LONG_URL, "--rewrite", "--quiet")
        self.assertEqual(self.text("snapshot", self.archive).splitlines(), [SMALL_URL])
        self.do("verify", self.archive, "--quiet")


class LongLargeRecord(LargeRecord):
    def test_survives_every_path(self):
        self.check_paths(5_000_000_000)


if __name__ == "__main__":
    unittest.main()
