"""The program meguri from outside: output, sentences and exit codes."""

import gzip
import json
import os
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


class Canon(testing.TestCase):
    def test_prints_canonical_form_and_key(self):
        done = meguri("canon", "HTTP://www.Example.com:80/a/../B?#c", "https://例え.jp/%7ea")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(
            done.stdout,
            "http://www.example.com/B\tcom,example)/b\n"
            "https://xn--r8jz45g.jp/~a\tjp,xn--r8jz45g)/~a\n",
        )

    def test_json(self):
        done = meguri("canon", "--json", "http://a.com/x?b&a")
        self.assertEqual(
            json.loads(done.stdout)["urls"],
            [{"url": "http://a.com/x?b&a", "canonical": "http://a.com/x?b&a",
              "surt": "com,a)/x?a&b"}],
        )

    def test_what_is_no_url_is_said_and_the_rest_is_done(self):
        done = meguri("canon", "http://a.com", "http://b c/", "x")
        self.assertEqual((done.returncode, done.stdout), (1, "http://a.com/\tcom,a)/\n"))
        self.assertIn('2 of 3 are no URLs, the first: "http://b c/"', done.stderr)

    def test_no_url_is_wrong_use(self):
        self.assert_says_one_sentence(meguri("canon"), 2, "URL is required")

    def test_lines_of_standard_input(self):
        path = self.write("urls", "http://a.com/\n\n http://b.com/x \r\n")
        with open(path, encoding="utf-8") as file:
            done = meguri("canon", "-", stdin=file)
        self.assertEqual(done.stdout, "http://a.com/\tcom,a)/\nhttp://b.com/x\tcom,b)/x\n")


class Robots(testing.TestCase):
    RULES = (
        "User-agent: *\nDisallow: /a/\nAllow: /a/b\n\n"
        "User-agent: other\nCrawl-delay: 2\nDisallow: / # all\nSitemap: http://h/s.xml\n"
    )

    def test_says_the_verdict_the_url_and_the_line(self):
        path = self.write("robots.txt", self.RULES)
        done = meguri("robots", path, "http://h/a/x", "/a/b?q", "https://h/")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(
            done.stdout,
            "disallowed\thttp://h/a/x\tline 2: Disallow: /a/\n"
            "allowed\t/a/b?q\tline 3: Allow: /a/b\n"
            "allowed\thttps://h/\tno rule\n",
        )

    def test_another_agent_and_json(self):
        path = self.write("robots.txt", self.RULES)
        done = meguri("robots", path, "--agent", "Other/2.0", "--json", "http://h/x")
        self.assertEqual(
            json.loads(done.stdout),
            {
                "agent": "Other/2.0",
                "urls": [{"url": "http://h/x", "allowed": False, "line": 7,
                          "rule": "Disallow: / # all"}],
                "crawl_delay_seconds": 2.0,
                "sitemaps": ["http://h/s.xml"],
            },
        )

    def test_an_empty_file_allows(self):
        done = meguri("robots", self.write("empty", ""), "http://h/x")
        self.assertEqual(done.stdout, "allowed\thttp://h/x\tno rule\n")

    def test_bad_use(self):
        path = self.write("robots.txt", self.RULES)
        self.assert_says_one_sentence(meguri("robots", path), 2, "URL is required")
        self.assert_says_one_sentence(meguri("robots", path, "x"), 2, '"x" is no http or https URL')
        self.assert_says_one_sentence(meguri("robots", path, "ftp://h/"), 2, "ftp://h/")
        self.assert_says_one_sentence(meguri("robots", path + "x", "/"), 1, "No such file")
        self.assert_says_one_sentence(meguri("robots", self.folder, "/"), 2, "is a folder")
        self.assert_says_one_sentence(meguri("robots", path, "/", "--agent="), 2, "--agent")


class Inspect(testing.TestCase):
    def inspect(self, *arguments):
        done = meguri("inspect", "--json", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_a_page(self):
        path = self.write(
            "a.html",
            "<html lang=en><meta charset=utf-8><title>A &amp; b</title><meta name=robots "
            "content=nofollow><a href=x>y</a><img src=i><link rel=next href=n><p>This is a page "
            "with enough words in it to be seen as the main text of it.",
        )
        found = self.inspect(path, "--url", "http://Example.com/p/?")
        expected = {
            "canonical": "http://example.com/p/", "surt": "com,example)/p", "domain": "example.com",
            "filter": None, "format": "html", "charset": "UTF-8", "title": "A & b",
            "robots": "index, nofollow", "links_unresolved": 0, "remarks": [],
        }
        self.assertEqual({name: found[name] for name in expected}, expected)
        self.assertEqual(found["languages"][0]["code"], "en")
        self.assertEqual(
            [(link["kind"], link["url"]) for link in found["links"]],
            [("navigation", "http://example.com/p/x"), ("embed", "http://example.com/p/i"),
             ("hint", "http://example.com/p/n")],
        )
        self.assertIn("enough words", found["main_text"])
        self.assertRegex(found["simhash"], "^[0-9a-f]{16}$")
        text = meguri("inspect", path, "--url", "http://example.com/p/").stdout
        self.assertIn("title       A & b\n", text)
        self.assertIn("links       1 navigation, 1 embed, 1 hint\n", text)

    def test_a_list_of_files(self):
        path = self.write(
            "index.html",
            "<html><head><title>Index of /pub</title></head><body><h1>Index of /pub</h1><pre>"
            '<a href="../">../</a>\n<a href="a.txt">a.txt</a>  15-Nov-2026 10:00  12\n</pre>',
        )
        found = self.inspect(path, "--url", "http://h.example.com/pub/")
        self.assertEqual(
            [link["url"] for link in found["links"]],
            ["http://h.example.com/", "http://h.example.com/pub/a.txt"],
        )
        self.assertEqual(self.inspect(self.folder)["title"], "Index of /pub")

    def test_a_saved_response(self):
        path = os.path.join(self.folder, "response")
        body = gzip.compress("<title>日本</title>".encode("euc-jp"))
        with open(path, "wb") as file:
            file.write(b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html; charset=euc-jp\r\n"
                       b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
                       b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
        found = self.inspect(path)
        self.assertEqual(found["status"], 404)
        self.assertEqual((found["title"], found["charset"]), ("日本", "EUC-JP"))

    def test_rubbish(self):
        path = os.path.join(self.folder, "rubbish")
        with open(path, "wb") as file:
            file.write(bytes(range(256)) * 64)
        self.assertEqual(self.inspect(path)["format"], "binary")
        with open(path, "wb") as file:
            file.write(b"\x1f\x8b\x08 broken gzip")
        self.assertIn("cannot be decoded", self.inspect(path)["remarks"][0])
        with open(path, "wb") as file:
            file.write(b"<a href=\x1b[31m><title>\x1b]0;x\x07\xff</title>" * 3)
        done = testing.run([MEGURI, "inspect", path, "--type", "text/html"])
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("\x1b", done.stdout)

    def test_an_empty_file(self):
        found = self.inspect(self.write("empty.html", ""))
        self.assertEqual((found["format"], found["links"], found["main_text"]), ("html", [], ""))
        self.assertEqual(self.inspect(self.write("empty", ""))["format"], "text")

    def test_a_url_alone(self):
        found = self.inspect(
            "https://www.example.co.uk/a/?PHPSESSID=0123456789abcdef0123456789abcdef", "--offline"
        )
        self.assertEqual((found["domain"], found["filter"]), ("example.co.uk", "session-id"))

    def test_bad_use(self):
        self.assert_says_one_sentence(meguri("inspect"), 2, "DOCUMENT is required")
        self.assert_says_one_sentence(meguri("inspect", self.folder), 2, "is a folder")
        missing = os.path.join(self.folder, "none")
        self.assert_says_one_sentence(meguri("inspect", missing), 1, "No such file", missing)
        self.assert_says_one_sentence(
            meguri("inspect", self.write("x", ""), "--url", "y"), 2, '"y" is no URL'
        )


if __name__ == "__main__":
    unittest.main()
