"""`meguri bench` from outside: sentences and exit codes."""

import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
from cli_test import MEGURI, meguri


class Bench(testing.TestCase):
    def names(self):
        done = meguri("bench", "list")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [line.split()[0] for line in done.stdout.splitlines()]

    def some_name(self):
        names = self.names()
        if not names:
            self.skipTest("there is no benchmark")
        return names[0]

    def test_unknown_name_is_wrong_use(self):
        self.assert_says_one_sentence(
            meguri("bench", "frobnicate"), 2, "no benchmark 'frobnicate'", "bench list"
        )

    def test_program_that_is_not_built_is_explained(self):
        alone = shutil.copy(MEGURI, self.folder)
        done = testing.run([alone, "bench", "list"])
        self.assert_says_one_sentence(done, 1, "is not built", "'./meguri bench' builds it")

    def test_read_only_folder_is_explained(self):
        name = self.some_name()
        command = [MEGURI, "bench", name, "--quick", "--dir", self.folder]
        os.chmod(self.folder, 0o555)
        done = testing.run(testing.as_nobody(command))
        self.assert_says_one_sentence(done, 1, self.folder, "Permission denied", "--dir")

    def test_missing_folder_of_the_report_is_explained(self):
        path = os.path.join(self.folder, "none/report")
        done = meguri("bench", self.some_name(), "--quick", "--output", path)
        self.assert_says_one_sentence(done, 1, "cannot write " + path)

    def test_full_disk_is_explained(self):
        name = self.some_name()
        if not testing.can_mount(self.folder):
            self.skipTest("needs the right to mount a file system")
        command = [MEGURI, "bench", name, "--quick", "--dir", self.folder]
        done = testing.run(testing.on_tmpfs(self.folder, "nr_inodes=1", command))
        self.assert_says_one_sentence(done, 1, "No space left on device")


if __name__ == "__main__":
    unittest.main()
