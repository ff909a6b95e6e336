"""The tidy checks find what is planted, and leave good trees alone."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing


def run_check(check, argument):
    path = os.path.join(testing.ROOT, "tools", check)
    return testing.run([sys.executable, "-B", path, argument])


class CheckCase(testing.TestCase):
    """Runs one check on a made-up tree."""

    check = ""

    def breaches(self, tree):
        for path, text in tree.items():
            self.write(path, text)
        done = run_check(self.check, self.folder)
        lines = done.stdout.splitlines()
        self.assertEqual(done.returncode, 1 if lines else 0, done.stderr)
        return lines

    def assert_finds(self, tree, *parts):
        lines = self.breaches(tree)
        self.assertEqual(len(lines), 1, lines)
        for part in parts:
            self.assertIn(part, lines[0])

    def assert_clean(self, tree):
        self.assertEqual(self.breaches(tree), [])


class Includes(CheckCase):
    check = "check_includes"

    def test_allowed_include_passes(self):
        self.assert_clean(
            {
                "src/base/a.h": "#include <vector>\n",
                "src/env/b.h": '#include "base/a.h"\n#include <string>\n',
                "src/flow/c.cc": '#include "base/a.h"\n#include "env/b.h"\n',
                "sim/d.cc": '#include "env/b.h"\n',
            }
        )

    def test_forbidden_folder_is_found(self):
        self.assert_finds(
            {"src/flow/a.h": "", "src/env/b.h": '\n#include "flow/a.h"\n'},
            "src/env/b.h:2:",
            "env may not include flow",
        )

    def test_base_includes_nothing_of_ours(self):
        self.assert_finds(
            {"src/env/a.h": "", "src/base/b.cc": '#include "env/a.h"\n'}, "base may not include env"
        )

    def test_nobody_includes_the_program(self):
        self.assert_finds(
            {"src/app/a.h": "", "src/crawl/b.cc": '#include "app/a.h"\n'},
            "crawl may not include app",
        )

    def test_folder_without_a_rule_is_found(self):
        self.assert_finds({"src/helpers/a.h": ""}, "src/helpers/a.h", "no rule")

    def test_missing_header_is_found(self):
        self.assert_finds({"src/base/a.cc": '#include "a.h"\n'}, 'there is no "a.h"')

    def test_ours_in_angle_brackets_is_found(self):
        self.assert_finds(
            {"src/base/a.h": "", "src/env/b.cc": "#include <base/a.h>\n"}, "base/a.h is ours"
        )

    def test_cycle_is_found(self):
        self.assert_finds(
            {
                "src/base/a.h": '#include "base/b.h"\n',
                "src/base/b.h": '#include "base/c.h"\n',
                "src/base/c.h": '#include "base/a.h"\n',
            },
            "src/base/a.h -> src/base/b.h -> src/base/c.h -> src/base/a.h",
        )

    def test_each_seam_is_found(self):
        for line in (
            "auto t = std::chrono::steady_clock::now();",
            "using std::chrono::system_clock;",
            "auto t = time(nullptr);",
            "auto t = std::time(0);",
            "std::this_thread::sleep_for(x);",
            "int i = rand();",
            "int i = std::rand();",
            "std::random_device device;",
            "#include <fstream>",
            "#include <filesystem>",
            "std::ofstream file(path);",
            'auto* file = fopen(path, "r");',
            "auto p = std::filesystem::path();",
            "#include <rocksdb/db.h>",
            "#include <curl/curl.h>",
            "#include <ares.h>",
            "#include <CLI/CLI.hpp>",
            "#include <tbb/concurrent_queue.h>",
        ):
            with self.subTest(line):
                self.assert_finds({"src/flow/a.cc": line + "\n"}, "src/flow/a.cc:1:", "behind")

    def test_words_that_only_look_like_seams_pass(self):
        self.assert_clean(
            {
                "src/flow/a.cc": "// std::chrono::steady_clock is not used, rand() neither\n"
                'const char* text = "fopen(std::filesystem)";\n'
                "Instant time() const;\n"
                "auto t = record.time();  /* std::random_device */\n"
                "auto r = random.rand();\n"
                "std::int64_t big = 1'000'000; auto s = R\"x(std::ofstream)x\";\n"
            }
        )

    def test_code_after_digit_separators_is_looked_at(self):
        self.assert_finds(
            {"src/flow/a.cc": "int a = 60'000;\nint b = rand();\nint c = 60'000;\n"}, "a.cc:2:"
        )

    def test_seams_pass_where_they_belong(self):
        self.assert_clean(
            {
                "src/env/clock.cc": "auto t = std::chrono::steady_clock::now();\n",
                "src/env/posix.cc": "#include <filesystem>\n",
                "src/env/rocksdb_store.cc": "#include <rocksdb/db.h>\n",
                "src/app/command_line.cc": "#include <CLI/CLI.hpp>\n",
                "bench/flow.cc": "#include <tbb/concurrent_queue.h>\n#include <chrono>\n"
                "auto t = std::chrono::steady_clock::now();\n",
            }
        )

    def test_rocksdb_elsewhere_in_env_is_found(self):
        self.assert_finds({"src/env/memory_store.cc": "#include <rocksdb/db.h>\n"}, "RocksDB")

    def test_reason_allows(self):
        self.assert_clean(
            {
                "src/app/a.cc": "// tidy: allow the pid file must work before the seams stand\n"
                "#include <fstream>\n"
                "std::ifstream file;  // tidy: allow see above\n"
            }
        )

    def test_allowing_needs_a_reason(self):
        self.assert_finds({"src/app/a.cc": "std::ifstream file;  // tidy: allow\n"}, "the disk")


class Docs(CheckCase):
    check = "check_docs"

    def test_existing_paths_pass(self):
        self.assert_clean(
            {
                "src/base/a.h": "",
                "src/base/a.cc": "",
                "meguri": "",
                "docs/A.md": "See [b](B.md#part), [root](../README.md) and `src/base/a.h:12`.\n"
                "`src/base/a.{h,cc}`, `src/*/`, `./meguri bench --quick`.\n",
                "docs/B.md": "",
                "README.md": "[docs](docs/) <https://example.org/src/none>\n[x]: docs/A.md\n",
            }
        )

    def test_paths_of_others_pass(self):
        self.assert_clean(
            {
                "README.md": "`DIR/warc/*.warc.gz`, `a/b`, `src/NAME…`, `docs/<name>.md`, src/none,"
                " [x](https://example.org/a), [y](mailto:a@example.org), [z](#part),"
                " `https://example.org/docs/x`\n"
            }
        )

    def test_missing_path_in_code_is_found(self):
        self.assert_finds(
            {"README.md": "one\n`src/base/none.h` two\n"}, "README.md:2:", "src/base/none.h"
        )

    def test_missing_command_is_found(self):
        self.assert_finds({"README.md": "Call `./megri crawl`.\n"}, "megri")

    def test_missing_path_in_a_block_is_found(self):
        self.assert_finds({"README.md": "```sh\n\ntools/none --help\n```\n"}, "README.md:3:")

    def test_missing_link_is_found(self):
        self.assert_finds({"docs/A.md": "[b](B.md)\n", "B.md": ""}, "docs/B.md")

    def test_missing_choice_is_found(self):
        self.assert_finds({"src/a.h": "", "README.md": "`src/a.{h,cc}`\n"}, "src/a.{h,cc}")

    def test_pattern_without_match_is_found(self):
        self.assert_finds({"src/a.h": "", "README.md": "`src/*_test.cc`\n"}, "src/*_test.cc")


class Style(CheckCase):
    check = "check_style"
    HEADER = "// What it is for.\n#pragma once\n"

    def test_good_files_pass(self):
        self.assert_clean(
            {
                "src/base/a.h": self.HEADER,
                "src/base/a.cc": "// " + "ä" * 97 + "\n",
                "README.md": "long " * 40 + "end\n",
                "data/quirk.bin": "\t " * 100,
                "build/a.cc": "\t\n",
                "tools/x": "#!/bin/sh\n# https://example.org/" + "x" * 100 + "\n",
            }
        )

    def test_long_line_is_found(self):
        self.assert_finds({"src/base/a.cc": "\n" + "x" * 101 + "\n"}, "a.cc:2:", "101 columns")

    def test_long_line_of_a_script_is_found(self):
        self.assert_finds({"tools/x": "#!/bin/sh\n" + "x" * 101 + "\n"}, "101 columns")

    def test_own_header_that_is_not_first_is_found(self):
        first = '#include "base/a.h"\n'
        self.assert_clean({"src/base/a.h": self.HEADER, "src/base/a.cc": first + "#include <x>\n"})
        self.assert_finds(
            {"src/base/a.h": self.HEADER, "src/base/a.cc": "#include <x>\n" + first}, "comes first"
        )

    def test_tab_is_found(self):
        self.assert_finds({"src/base/a.cc": "\tint a;\n"}, "tab")

    def test_trailing_space_is_found(self):
        self.assert_finds({"README.md": "word \n"}, "trailing")

    def test_leftover_is_found(self):
        self.assert_finds({"src/base/a.cc": "// TO" + "DO: later\n"}, "unfinished")

    def test_machine_path_is_found(self):
        for path in ("wo" + "rk/main", "ro" + "ot/x", "ho" + "me/anna/x"):
            with self.subTest(path):
                self.assert_finds({"README.md": f"see /{path}\n"}, "one machine")

    def test_paths_within_the_repository_pass(self):
        self.assert_clean({"README.md": "a/work/b, $X/root/c, https://example.org/root/\n"})

    def test_header_without_comment_is_found(self):
        self.assert_finds({"src/base/a.h": "#pragma once\n"}, "begins with a comment")

    def test_header_without_guard_is_found(self):
        self.assert_finds({"src/base/a.h": "// What.\n"}, "pragma once")

    def test_missing_end_of_line_is_found(self):
        self.assert_finds({"src/base/a.cc": "int a;"}, "no end of line")

    def test_long_file_is_named_without_failing(self):
        self.write("src/base/a.cc", "int a;\n" * 700)
        done = run_check(self.check, self.folder)
        self.assertEqual(done.returncode, 0)
        self.assertIn("700 lines", done.stderr)


class Usage(testing.TestCase):
    def test_unknown_option_is_wrong_use(self):
        for check in ("check_includes", "check_docs", "check_style"):
            done = run_check(check, "--frobnicate")
            self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
