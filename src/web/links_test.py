"""Links that `meguri inspect` finds, against those of html5lib, which builds a browser's tree."""

import html
import json
import os
import sys
import unittest
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
import testing

try:
    import html5lib
except ImportError:
    html5lib = None

BINARIES = os.environ.get("MEGURI_BINARY_DIR", os.path.join(testing.ROOT, "build/release"))
MEGURI = os.path.join(BINARIES, "meguri")
URL = "https://example.com/docs/page.html"
XHTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}href"


def pages_of(folder, bytes_max, count_max):
    """Paths of the pages of a package that are not too large for a slow parser."""
    found = []
    for path, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            page = os.path.join(path, name)
            if name.endswith(".html") and os.path.getsize(page) <= bytes_max:
                found.append(page)
    return found[:count_max]


def links_in_tree(page):
    """The addresses of anchors and areas as html5lib sees them, and the base."""
    with open(page, "rb") as file:
        tree = html5lib.parse(file, treebuilder="etree")
    base, links = None, []
    for element in tree.iter():
        if element.tag == XHTML + "base" and base is None:
            base = element.get("href")
        if element.tag in (XHTML + "a", XHTML + "area"):
            links.append(element.get("href"))
        if element.tag == SVG + "a":
            links.append(element.get("href") or element.get(XLINK))
    return base, [link for link in links if link and link.strip(" \t\n\f\r")]


class RealPages(testing.TestCase):
    def navigation(self, path):
        """The addresses that inspect finds, made absolute."""
        done = testing.run([MEGURI, "inspect", "--json", "--url", URL, path])
        self.assertEqual((done.returncode, done.stderr), (0, ""), path)
        links = json.loads(done.stdout)["links"]
        return [link["url"] for link in links if link["source"] in ("a", "area", "svg")
                and link["kind"] == "navigation"]

    def compare(self, pages, links_min):
        if html5lib is None:
            self.skipTest("no python3-html5lib")
        if not pages:
            self.skipTest("the package with the pages is not installed")
        total = 0
        for page in pages:
            base, links = links_in_tree(page)
            # The tree's links as a page of their own, so that both are made absolute alike.
            plain = f'<base href="{html.escape(base)}">' if base else ""
            plain += "".join(f'<a href="{html.escape(link)}">x</a>' for link in links)
            expected = self.navigation(self.write("plain.html", '<meta charset=utf-8>' + plain))
            with self.subTest(page):
                self.assertEqual(set(self.navigation(page)), set(expected))
            total += len(expected)
        self.assertGreater(total, links_min)

    def test_an_english_manual(self):
        self.compare(pages_of("/usr/share/doc/clang-15/html", 60_000, 40), 1500)

    def test_a_japanese_manual(self):
        self.compare(pages_of("/usr/share/doc/maint-guide-ja/html", 120_000, 40), 500)

    def test_whatever_is_installed(self):
        pages = pages_of("/usr/share/doc", 30_000, 100_000)
        self.compare(pages[:: max(1, len(pages) // 60)], 100)


class OddPages(testing.TestCase):
    """What the tree makes of markup that real manuals do not have."""

    def check(self, text):
        if html5lib is None:
            self.skipTest("no python3-html5lib")
        page = self.write("page.html", "<meta charset=utf-8>" + text)
        _, links = links_in_tree(page)
        done = testing.run([MEGURI, "inspect", "--json", "--url", "http://h/", page])
        found = [
            urllib.parse.unquote(link["url"].removeprefix("http://h/"))
            for link in json.loads(done.stdout)["links"]
            if link["source"] in ("a", "area", "svg")
        ]
        self.assertEqual(sorted(set(found)), sorted(set(links)), text)

    def test_raw_text(self):
        for tag in ("script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes"):
            self.check(f"<a href=1>x</a><{tag}><a href=2></a></{tag} x><a href=3>y</a>")
            self.check(f"<{tag}><a href=2></{tag}x></{tag}><a href=3>")
        self.check("<plaintext><a href=1></plaintext>")
        self.check("<script><!--<script></script><a href=1></script><a href=2>")

    def test_foreign_content(self):
        self.check("<svg><a xlink:href=1></a><title><a href=2></title><style><a href=3></style>")
        self.check("<svg><desc><style><a href=1></style></desc><script><a href=2></script></svg>")
        self.check("<math><mi><a href=1></mi><mtext><style><a href=2></style></math><a href=3>")
        self.check("<svg><![CDATA[<a href=1>]]></svg><![CDATA[<a href=2>]]>")
        self.check("<svg><p><a href=1><svg><g></p><a href=2>")
        self.check("<svg><foreignObject><div><a href=1></div></foreignObject><a href=2 /></svg>")

    def test_broken_markup(self):
        self.check("<a href=1<a href=2><a href='3'<a href=\"4>5\">")
        self.check("<a href=1 / href=2><a/href=3><a\nhref\n=\n4>")
        self.check("<!-- <a href=1> --!><a href=2><!--><a href=3><!-- <a href=4>")
        self.check("<?php <a href=1> ?><a href=2></ <a href=3>><a href=4>")
        self.check("<table><a href=1><tr><a href=2><td><a href=3></table><a href=4")


if __name__ == "__main__":
    unittest.main()
