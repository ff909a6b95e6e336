"""The programs meguri and meguri-bench from outside: output, sentences and exit codes."""

import json
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
import testing

BINARIES = os.environ.get("MEGURI_BINARY_DIR", os.path.join(testing.ROOT, "build/release"))
MEGURI = os.path.join(BINARIES, "meguri")


def meguri(*arguments, **options):
    return testing.run([MEGURI, *arguments], **options)


class Help(testing.TestCase):
    def test_program_and_every_command_explain_themselves(self):
        done = meguri("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("Example:\n", done.stdout)
        listed = done.stdout.split("Commands:\n")[1].split("\n\n")[0]
        names = [line.split()[0] for line in listed.splitlines()]
        self.assertIn("version", names)
        for name in names:
            with self.subTest(name):
                done = meguri(name, "--help")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(f"Usage: meguri {name} ", done.stdout)
                self.assertIn(f"Example:\n  meguri {name} ", done.stdout)

    def test_help_as_a_command(self):
        self.assertEqual(meguri("help").stdout, meguri("--help").stdout)
        self.assertEqual(meguri("help", "bench").stdout, meguri("bench", "--help").stdout)


class Version(testing.TestCase):
    def test_option_and_command_agree(self):
        version = json.loads(meguri("version", "--json").stdout)
        self.assertRegex(version["version"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(meguri("--version").stdout, f"meguri {version['version']}\n")
        self.assertEqual(
            meguri("version").stdout, f"meguri {version['version']} ({version['compiler']})\n"
        )


class WrongUse(testing.TestCase):
    def test_no_command(self):
        self.assert_says_one_sentence(meguri(), 2, "name a command")

    def test_unknown_command(self):
        self.assert_says_one_sentence(meguri("frobnicate"), 2, "unknown command 'frobnicate'")

    def test_misspelt_command(self):
        self.assert_says_one_sentence(meguri("verison"), 2, "did you mean 'version'?")

    def test_unknown_option(self):
        self.assert_says_one_sentence(meguri("--frob"), 2, "unknown option '--frob'")
        self.assert_says_one_sentence(meguri("version", "--jsno"), 2, "did you mean '--json'?")

    def test_missing_argument(self):
        self.assert_says_one_sentence(meguri("bench"), 2, "NAME is required", "bench --help")

    def test_missing_value(self):
        self.assert_says_one_sentence(meguri("bench", "x", "--dir"), 2, "--dir needs a value")

    def test_argument_too_many(self):
        self.assert_says_one_sentence(meguri("version", "x"), 2, "unexpected argument 'x'")


class Output(testing.TestCase):
    def test_full_disk_is_a_failure(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = meguri("version", stdout=full)
        self.assert_says_one_sentence(done, 1, "No space left on device")

    def test_reader_that_goes_away_is_none(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        done = meguri("--help", stdout=write_end)
        os.close(write_end)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


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
