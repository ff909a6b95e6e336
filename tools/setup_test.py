"""The launcher ./meguri and ./test, tried on a small project that builds in a second."""

import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing

CMAKE_LISTS = """
cmake_minimum_required(VERSION 3.25)
project(toy LANGUAGES C)
file(GLOB sources CONFIGURE_DEPENDS src/*.c)
add_executable(meguri ${sources})
add_executable(meguri-bench EXCLUDE_FROM_ALL ${sources})
enable_testing()
if(FUZZ)
  add_custom_target(fuzzers)
  add_test(NAME toy.LongFuzz.PassesIn COMMAND true)
  return()
endif()
add_test(NAME toy.Good.Passes COMMAND true)
add_test(NAME toy.Good.Fails COMMAND sh -c "echo planted failure; false")
add_test(NAME toy.Other.Skips COMMAND echo "[  SKIPPED ]")
set_tests_properties(toy.Other.Skips PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")
add_test(NAME toy.Other.Disabled COMMAND false)
set_tests_properties(toy.Other.Disabled PROPERTIES DISABLED TRUE)
add_test(NAME toy.Other.Missing COMMAND no-such-program)
add_test(NAME toy.LongOne.Passes COMMAND true)
add_test(NAME toy.Seeds/LongTwo.Passes/0 COMMAND true)
add_test(NAME toy.Good.LongNameIsNotLong COMMAND true)
"""
PRESETS = """
{"version": 6, "configurePresets": [
  {"name": "release", "generator": "Ninja"},
  {"name": "fuzz", "generator": "Ninja", "cacheVariables": {"FUZZ": "ON"}}]}
"""
# Prints its arguments in brackets, and ends with their number.
MAIN = """
#include <stdio.h>
int extra(void) __attribute__((weak));
int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) printf("[%s]\\n", argv[i]);
  if (extra) printf("extra %d\\n", extra());
  return argc - 1;
}
"""


class Toy(testing.TestCase):
    """A copy of the set-up round a program of one file, in a folder with a space in its name."""

    def setUp(self):
        super().setUp()
        self.root = os.path.join(self.folder, "a b")
        os.makedirs(os.path.join(self.root, "tools"))
        for name in ("meguri", "test", "tools/common.sh", "tools/count_tests"):
            shutil.copy(os.path.join(testing.ROOT, name), os.path.join(self.root, name))
        self.write("a b/tools/packages", "build cmake\nbuild ninja-build\ntest python3\n")
        self.write("a b/CMakeLists.txt", CMAKE_LISTS)
        self.write("a b/CMakePresets.json", PRESETS)
        self.write("a b/src/main.c", MAIN)
        self.launcher = os.path.join(self.root, "meguri")

    def call(self, *arguments, **options):
        return testing.run([self.launcher, *arguments], **options)

    def stub(self, name, script):
        """A command of this name that comes before the real one in stub_path()."""
        self.write(f"stubs/{name}", "#!/bin/bash\n" + script + "\n", 0o755)

    def stub_path(self):
        return {"PATH": os.path.join(self.folder, "stubs") + ":" + os.environ["PATH"]}

    def only_path(self, *names):
        """A PATH that holds the stubs, what every Debian has, and these commands."""
        folder = os.path.join(self.folder, "only")
        os.makedirs(folder)
        usual = "bash sh env readlink find mkdir mktemp mv rm cat awk df tail flock grep cp true id"
        for name in (*usual.split(), *names):
            os.symlink(shutil.which(name), os.path.join(folder, name))
        return {"PATH": os.path.join(self.folder, "stubs") + ":" + folder}


class Launcher(Toy):
    def test_builds_then_becomes_the_program(self):
        done = self.call("one", "two words", "", "*", "--help", "$HOME", 'q"uote')
        self.assertEqual(done.stdout, '[one]\n[two words]\n[]\n[*]\n[--help]\n[$HOME]\n[q"uote]\n')
        self.assertEqual(done.returncode, 7)
        self.assertIn("meguri: building", done.stderr)

    def test_second_call_builds_nothing(self):
        self.assertEqual(self.call().returncode, 0)
        for name in ("ninja", "cmake", "apt-get", "dpkg-query"):
            self.stub(name, "echo called >&2; exit 1")
        done = self.call("x", environment=self.stub_path())
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("[x]\n", "", 1))

    def test_changed_added_and_removed_files_are_built(self):
        self.assertEqual(self.call().stdout, "")
        extra = self.write("a b/src/extra.c", "int extra(void) { return 1; }\n")
        self.assertEqual(self.call().stdout, "extra 1\n")
        self.write("a b/src/extra.c", "int extra(void) { return 2; }\n")
        self.assertEqual(self.call().stdout, "extra 2\n")
        os.remove(extra)
        done = self.call()
        self.assertEqual((done.stdout, done.stderr), ("", ""))

    def test_touched_file_that_changes_nothing_is_quiet(self):
        self.assertEqual(self.call().returncode, 0)
        self.write("a b/src/notes.txt", "")
        done = self.call()
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("", "", 0))

    def test_works_from_elsewhere_and_through_links(self):
        os.symlink(self.launcher, os.path.join(self.folder, "link"))
        os.makedirs(os.path.join(self.folder, "else"))
        os.symlink("../link", os.path.join(self.folder, "else", "m"))
        done = testing.run(["./m", "x"], cwd=os.path.join(self.folder, "else"))
        self.assertEqual((done.stdout, done.returncode), ("[x]\n", 1))

    def test_bench_builds_its_own_program(self):
        release = os.path.join(self.root, "build", "release")
        self.assertEqual(self.call().returncode, 0)
        self.assertFalse(os.path.exists(os.path.join(release, "meguri-bench")))
        self.assertEqual(self.call("bench").returncode, 1)
        self.assertTrue(os.path.exists(os.path.join(release, "meguri-bench")))

    def test_build_folder_can_be_elsewhere(self):
        environment = {"MEGURI_BUILD_DIR": "elsewhere"}
        done = self.call("x", environment=environment, cwd=self.folder)
        self.assertEqual(done.stdout, "[x]\n")
        self.assertTrue(os.path.exists(os.path.join(self.folder, "elsewhere/release/meguri")))
        self.assertFalse(os.path.exists(os.path.join(self.root, "build")))

    def test_read_only_folder_is_explained(self):
        self.addCleanup(os.chmod, self.root, 0o755)
        os.chmod(self.root, 0o555)
        command = testing.as_nobody([self.launcher, "x"])
        self.assert_says_one_sentence(
            testing.run(command), 1, "cannot build in", "Permission denied", "MEGURI_BUILD_DIR"
        )
        with_folder = {"MEGURI_BUILD_DIR": os.path.join(self.folder, "elsewhere")}
        os.mkdir(with_folder["MEGURI_BUILD_DIR"], 0o777)
        os.chmod(with_folder["MEGURI_BUILD_DIR"], 0o777)
        self.assertEqual(testing.run(command, environment=with_folder).stdout, "[x]\n")

    def test_read_only_folder_that_is_built_runs(self):
        self.assertEqual(self.call().returncode, 0)
        done = testing.run(testing.as_nobody([self.launcher, "x"]))
        self.assertEqual((done.stdout, done.stderr), ("[x]\n", ""))

    def test_full_disk_is_explained(self):
        build = os.path.join(self.root, "build")
        os.mkdir(build)
        if not testing.can_mount(build):
            self.skipTest("needs the right to mount a file system")
        done = testing.run(testing.on_tmpfs(build, "size=8k", [self.launcher, "x"]))
        self.assertEqual((done.stdout, done.returncode), ("", 1))
        last = done.stderr.splitlines()[-1]
        self.assertRegex(last, r"^meguri: the build failed because the disk .* is full")

    def test_broken_source_fails_and_a_repair_is_enough(self):
        self.assertEqual(self.call().returncode, 0)
        self.write("a b/src/extra.c", "broken\n")
        done = self.call()
        self.assertEqual((done.stdout, done.returncode), ("", 1))
        self.assertIn("extra.c", done.stderr)
        self.assertEqual(done.stderr.splitlines()[-1], "meguri: the build failed, see above")
        self.write("a b/src/extra.c", "int extra(void) { return 3; }\n")
        self.assertEqual(self.call().stdout, "extra 3\n")

    def test_interrupted_configuration_and_build_go_on(self):
        for name in ("cmake", "ninja"):
            # It does part of its work, then dies with the launcher, as by Ctrl-C.
            self.stub(name, f'{shutil.which(name)} "$@" --version >/dev/null; kill -INT 0')
            subprocess.run(
                [self.launcher],
                env={**os.environ, **self.stub_path()},
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                check=False,
            )
            os.remove(os.path.join(self.folder, "stubs", name))
        self.assertEqual(self.call("x").stdout, "[x]\n")

    def test_calls_at_the_same_time_build_once(self):
        calls = [
            subprocess.Popen(
                [self.launcher, "x"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            for _ in range(3)
        ]
        outputs = [call.communicate(timeout=240) for call in calls]
        self.assertEqual([out for out, _ in outputs], ["[x]\n"] * 3)
        self.assertEqual(sum("building;" in err for _, err in outputs), 1, outputs)

    def test_copied_repository_builds_again(self):
        self.assertEqual(self.call().returncode, 0)
        copy = os.path.join(self.folder, "copy")
        shutil.copytree(self.root, copy)
        with open(os.path.join(copy, "src/extra.c"), "w", encoding="utf-8") as file:
            file.write("int extra(void) { return 4; }\n")
        done = testing.run([os.path.join(copy, "meguri")])
        self.assertEqual(done.stdout, "extra 4\n", done.stderr)


class Packages(Toy):
    """Debian's commands are stubs here: nothing is ever installed."""

    def setUp(self):
        super().setUp()
        self.write("a b/tools/packages", "# a comment\n\nbuild  zzz-one zzz-two\nbench zzz-three\n")
        self.stub("dpkg-query", "echo installed zzz-two; exit 1")
        self.stub("apt-get", f'echo "$@" >>"{self.folder}/apt.log"; echo noise')
        self.stub("sudo", 'exec "$@"')

    def apt_calls(self):
        try:
            with open(os.path.join(self.folder, "apt.log"), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def test_missing_packages_are_installed_and_named(self):
        done = self.call("x", environment=self.stub_path())
        self.assertEqual(done.stdout, "[x]\n", done.stderr)
        self.assertRegex(
            done.stderr.splitlines()[0],
            r"^meguri: installing Debian packages( through sudo)?: zzz-one$",
        )
        self.assertRegex(self.apt_calls(), r"update\n.*install .*zzz-one\n$")
        self.assertNotIn("noise", done.stderr)

    def test_bench_packages_are_installed_for_bench_alone(self):
        self.call("bench", environment=self.stub_path())
        self.assertIn("zzz-one zzz-three", self.apt_calls())

    def test_nothing_missing_leaves_apt_alone(self):
        self.stub("dpkg-query", "echo installed zzz-one; echo installed zzz-two")
        self.assertEqual(self.call("x", environment=self.stub_path()).stdout, "[x]\n")
        self.assertEqual(self.apt_calls(), "")

    def test_half_installed_package_is_missing(self):
        self.stub("dpkg-query", "echo half-configured zzz-one; echo installed zzz-two")
        self.call("x", environment=self.stub_path())
        self.assertIn("zzz-one", self.apt_calls())

    def test_failing_apt_ends_it_with_its_reason(self):
        self.stub("apt-get", "echo E: no network; exit 100")
        done = self.call("x", environment=self.stub_path())
        self.assertEqual((done.stdout, done.returncode), ("", 1))
        self.assertIn("E: no network", done.stderr)
        self.assertRegex(done.stderr.splitlines()[-1], "^meguri: apt-get failed.*zzz-one")

    def test_without_root_and_sudo_the_command_is_named(self):
        os.remove(os.path.join(self.folder, "stubs/sudo"))
        os.chmod(self.root, 0o777)
        done = testing.run(
            testing.as_nobody([self.launcher, "x"]), environment=self.only_path("setpriv")
        )
        self.assert_says_one_sentence(done, 1, "as root, run: apt-get install zzz-one")

    def test_without_apt_the_packages_are_named(self):
        os.remove(os.path.join(self.folder, "stubs/apt-get"))
        os.remove(os.path.join(self.folder, "stubs/dpkg-query"))
        done = self.call("x", environment=self.only_path())
        self.assert_says_one_sentence(done, 1, "no apt", "zzz-one zzz-two")


class TestCommand(Toy):
    def call_test(self, *arguments):
        return testing.run([os.path.join(self.root, "test"), *arguments])

    def last_line(self, done):
        counts = [line for line in done.stdout.splitlines() if re.match(r"\d+ passed", line)]
        self.assertEqual(len(counts), 1, done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], counts[0])
        return counts[0]

    def test_counts_and_shows_what_failed(self):
        done = self.call_test()
        self.assertEqual(self.last_line(done), "2 passed, 2 failed, 2 skipped")
        self.assertEqual(done.returncode, 1)
        self.assertIn("planted failure", done.stdout)

    def test_selection_passes_alone(self):
        done = self.call_test("--only", r"Good\.Pass")
        self.assertEqual(self.last_line(done), "1 passed, 0 failed, 0 skipped")
        self.assertEqual(done.returncode, 0)

    def test_long_tests_run_on_request(self):
        done = self.call_test("--long", "--only=Passes")
        self.assertEqual(self.last_line(done), "4 passed, 0 failed, 0 skipped")

    def test_long_tests_fuzz(self):
        done = self.call_test("--long", "--only=PassesIn")
        self.assertEqual(self.last_line(done), "1 passed, 0 failed, 0 skipped")

    def test_selection_of_nothing_is_wrong_use(self):
        done = self.call_test("--only", "Nothing")
        self.assert_says_one_sentence(done, 2, "no test matches 'Nothing'", "--long")

    def test_wrong_use_is_explained(self):
        self.assert_says_one_sentence(self.call_test("--frob"), 2, "unknown option '--frob'")
        self.assert_says_one_sentence(self.call_test("--only"), 2, "--only needs a value")
        self.assert_says_one_sentence(self.call_test("--preset", "x"), 2, "no preset 'x'")

    def test_help_shows_an_example(self):
        done = self.call_test("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("Example:", done.stdout)

    def test_broken_build_counts_as_a_failure(self):
        self.write("a b/src/extra.c", "broken\n")
        done = self.call_test()
        self.assertEqual(self.last_line(done), "0 passed, 1 failed, 0 skipped")
        self.assertEqual(done.returncode, 1)


class Ci(testing.TestCase):
    """.ci/run, round commands that only say what they are told."""

    def run_with(self, test, lint="exit 0"):
        self.write("tools/packages", "")
        for name in (".ci/run", "tools/common.sh"):
            with open(os.path.join(testing.ROOT, name), encoding="utf-8") as file:
                self.write(name, file.read(), 0o755)
        for name, script in (("test", test), ("tools/format", "exit 0"), ("tools/lint", lint)):
            self.write(name, f"#!/bin/bash\n{script}\n", 0o755)
        done = testing.run([os.path.join(self.folder, ".ci/run")])
        return done.stdout.splitlines()[-1], done.returncode

    def test_sums_all_sections(self):
        test = "echo noise; echo 5 passed, 0 failed, 2 skipped"
        self.assertEqual(self.run_with(test), ("17 passed, 0 failed, 6 skipped", 0))

    def test_failed_test_fails_it_and_the_rest_still_runs(self):
        test = (
            "if [[ ${2-} == asan ]]; then echo 5 passed, 1 failed, 0 skipped; exit 1; fi\n"
            "echo 5 passed, 0 failed, 0 skipped"
        )
        self.assertEqual(self.run_with(test), ("17 passed, 1 failed, 0 skipped", 1))

    def test_failed_check_counts(self):
        test = "echo 1 passed, 0 failed, 0 skipped"
        result = self.run_with(test, lint="echo a.cc:1: wrong; exit 1")
        self.assertEqual(result, ("4 passed, 1 failed, 0 skipped", 1))

    def test_failure_that_is_not_counted_counts(self):
        test = "echo 1 passed, 0 failed, 0 skipped; exit 1"
        self.assertEqual(self.run_with(test), ("5 passed, 3 failed, 0 skipped", 1))

    def test_section_without_a_count_counts_as_one(self):
        self.assertEqual(self.run_with("exit 2"), ("2 passed, 3 failed, 0 skipped", 1))


if __name__ == "__main__":
    unittest.main()
