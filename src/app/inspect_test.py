"""`meguri inspect URL` on the virtual web: what it fetches, shows, saves and refuses."""

import gzip
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
from virtual_web_test import MEGURI, STANDING, VirtualWeb

WORLD = ["--hosts", "12", "--pages", "300", "--seed", "4", *STANDING, "--delay", "0"]


class Inspect(testing.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.web = VirtualWeb(*WORLD)
        cls.addClassCleanup(cls.web.stop)
        listed = testing.run(
            [MEGURI, "virtual-web", "pages", *WORLD, "--port", str(cls.web.port), "--json"]
            + ["--reachable-from", cls.web.ready["first"], "--everything", "--agent", "none"]
        )
        cls.pages = [json.loads(line) for line in listed.stdout.splitlines()]

    def command(self, url, *more):
        return [
            MEGURI, "inspect", url, "--dns", self.web.ready["dns"],
            "--allow-network", "127.0.0.0/8", *more,
        ]  # fmt: skip

    def inspect(self, url, *more):
        done = testing.run(self.command(url, "--json", *more))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def first_with(self, *statuses):
        return next(page["url"] for page in self.pages if page["status"] in statuses)

    def test_shows_a_page_as_it_was_sent(self):
        url = self.web.ready["first"]
        found = self.inspect(url)
        self.assertEqual((found["url"], found["status"], found["format"]), (url, 200, "html"))
        self.assertEqual(found["hops"], [{"url": url, "status": 200}])
        self.assertGreater(len(found["links"]), 3)
        self.assertTrue(found["address"].startswith("127."), found["address"])
        self.assertTrue(found["request_head"].startswith("GET / HTTP/1.1\r\nHost: "))
        self.assertIn("meguri", found["request_head"])
        self.assertTrue(found["response_head"].endswith("\r\n\r\n"))
        self.assertEqual(found["tls"], "")
        text = testing.run(self.command(url)).stdout
        self.assertIn(f"fetched     200 {url}\n", text)
        self.assertIn("received    HTTP/1.", text)

    def test_follows_redirects_hop_by_hop(self):
        url = self.first_with(301, 302)
        found = self.inspect(url, "--ignore-robots")
        self.assertIn(found["hops"][0]["status"], (301, 302))
        self.assertEqual(found["hops"][0]["url"], url)
        self.assertEqual(len(found["hops"]), 2)
        self.assertEqual(found["url"], found["hops"][1]["url"])

    def test_obeys_robots_txt_unless_told_otherwise(self):
        allowed = testing.run(
            [MEGURI, "virtual-web", "pages", *WORLD, "--port", str(self.web.port)]
            + ["--reachable-from", self.web.ready["first"], "--everything"]
        )
        allowed = {line.split("\t")[0] for line in allowed.stdout.splitlines()}
        forbidden = next(
            page["url"] for page in self.pages
            if page["url"] not in allowed and page["status"] == 200
        )  # fmt: skip
        done = testing.run(self.command(forbidden))
        self.assert_says_one_sentence(
            done, 1, "forbids it in line", "--ignore-robots", forbidden
        )
        self.assertEqual(self.inspect(forbidden, "--ignore-robots")["status"], 200)

    def test_saves_what_came(self):
        path = os.path.join(self.folder, "one.warc.gz")
        url = self.first_with(301, 302)
        self.inspect(url, "--ignore-robots", "--save", path)
        with gzip.open(path) as file:
            text = file.read().decode("latin-1")
        self.assertEqual(text.count("WARC-Type: warcinfo"), 1)
        self.assertEqual(text.count("WARC-Type: response"), 2)
        self.assertEqual(text.count("WARC-Type: request"), 2)
        self.assertIn(f"WARC-Target-URI: {url}\r\n", text)
        again = testing.run(self.command(url, "--ignore-robots", "--save", path))
        self.assert_says_one_sentence(again, 1, path)

    def test_failures_are_one_sentence(self):
        nowhere = f"http://no-such-host.test:{self.web.port}/"
        self.assert_says_one_sentence(
            testing.run(self.command(nowhere)), 1, 'knows no host "no-such-host.test"'
        )
        done = testing.run([MEGURI, "inspect", "http://127.0.0.1:1/"])
        self.assert_says_one_sentence(done, 1, "not public (loopback)", "--allow-network 127.0.0.1")
        done = testing.run(self.command("http://127.0.0.1:1/"))
        self.assert_says_one_sentence(done, 1, "http://127.0.0.1:1 does not answer")
        done = testing.run([MEGURI, "inspect", "http://[broken/"])
        self.assert_says_one_sentence(done, 2, "is no URL")
        done = testing.run([MEGURI, "inspect", self.write("x.html", ""), "--save", "y"])
        self.assert_says_one_sentence(done, 2, "--save")


if __name__ == "__main__":
    unittest.main()
