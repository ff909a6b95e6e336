"""`meguri crawl --from-archive`: pages begin with what was archived of them before."""

import json
import os
import random
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
from crawl_testing import CrawlCase, archived, clock, crawl_command, start_quietly, warc_files
from virtual_web_test import MEGURI, VirtualWeb

WORLD = ["--hosts", "20", "--pages", "200", "--seed", "3", "--sound"]
SPEED = clock(3600)  # a second is an hour


def on_and_on(web, archive, *more):
    """The command of a crawl that visits pages again."""
    command = crawl_command(web, archive, *SPEED, "--json", *more)
    command.remove("--once")
    return command


class FromArchive(CrawlCase):
    def setUp(self):
        super().setUp()
        self.log = os.path.join(self.folder, "web.log")
        self.web = VirtualWeb(*WORLD, *SPEED, "--delay", "0", "--log", self.log)
        self.enterContext(self.web)

    def crawl_once(self, name):
        archive = os.path.join(self.folder, name)
        done = testing.run(crawl_command(self.web, archive, *SPEED, "--json"))
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return archive

    def warm(self, archive, *paths, time="2s"):
        named = [part for path in paths for part in ("--from-archive", path)]
        done = testing.run(on_and_on(self.web, archive, "--for", time, *named))
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return json.loads(done.stdout), done.stderr

    def facts_of(self, archive, url):
        done = testing.run([MEGURI, "url", archive, url, "--json"])
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def settled(self, *visits):
        """URLs that every one of some archives has an answer of which tells how they change."""
        urls = set.intersection(*[set(one) for one in visits])
        statuses = {url: {one.status for ones in visits for one in ones[url]} for url in urls}
        return sorted(url for url in urls if statuses[url] == {200})

    def test_pages_go_on_where_they_were(self):
        first = self.crawl_once("first")
        second = self.crawl_once("second")
        before = [archived(first), archived(second)]
        known = {url for visits in before for url, ones in visits.items() if ones[0].status < 500}
        archive = os.path.join(self.folder, "third")
        end, said = self.warm(archive, first, os.path.join(second, "warc"))
        self.assertRegex(said, r"reading what was archived before: 2 of 2 files, .* visits")
        self.assertEqual(end["from_history"], len(known))
        self.assertGreaterEqual(end["pages"], len(known))

        # Every page knows of its visits; what was visited since knows of those too.
        own = archived(archive)
        pages = self.settled(*before)
        self.assertGreater(len(pages), 50)
        changed = 0
        for url in random.Random(1).sample(pages, 30):
            facts = self.facts_of(archive, url)
            revisit = facts["revisit"]
            self.assertEqual(revisit["since"][:19], before[0][url][0].date[:19], url)
            self.assertEqual(facts["visits"], len(own.get(url, [])), url)
            self.assertEqual(revisit["visits"], 2 + len(own.get(url, [])), url)
            digests = [visits[url][0].digest for visits in before]
            if len(set(digests)) == 2:
                changed += 1
                self.assertGreaterEqual(revisit["versions"], 2, url)
            elif url not in own:
                self.assertEqual(revisit["versions"], 1, url)
        self.assertGreater(changed, 0)

        # What is in this archive refers to nothing that is not.
        records = {visit.id for visits in own.values() for visit in visits}
        for visits in own.values():
            for visit in visits:
                if visit.kind == "revisit":
                    self.assertIn(visit.fields["WARC-Refers-To"], records)
        self.check_log(WORLD, self.log)

    def test_the_same_command_does_not_read_them_again(self):
        first = self.crawl_once("first")
        archive = os.path.join(self.folder, "second")
        end, said = self.warm(archive, first)
        self.assertGreater(end["from_history"], 100)
        self.assertIn("reading what was archived before", said)
        again, said = self.warm(archive, first)
        self.assertNotIn("reading what was archived before", said)
        self.assertEqual(again["from_history"], 0)
        self.assertGreaterEqual(again["pages"], end["pages"])
        self.assertEqual(os.listdir(os.path.join(archive, "state", "history")), [])

    def test_killed_anywhere_it_loses_nothing(self):
        first = self.crawl_once("first")
        known = archived(first)
        archive = os.path.join(self.folder, "second")
        chance = random.Random(7)
        for _ in range(12):
            crawl = start_quietly(on_and_on(self.web, archive, "--from-archive", first))
            time.sleep(chance.uniform(0.02, 0.6))
            crawl.kill()
            crawl.wait()
        self.warm(archive, first, time="3s")
        for url in random.Random(2).sample(self.settled(known), 30):
            revisit = self.facts_of(archive, url)["revisit"]
            self.assertEqual(revisit["since"][:19], known[url][0].date[:19], url)
        self.check_log(WORLD, self.log)

    def test_a_damaged_file_is_read_as_far_as_it_goes(self):
        first = self.crawl_once("first")
        with open(warc_files(first)[0], "rb") as file:
            data = file.read()
        damaged = os.path.join(self.folder, "damaged.warc.gz")
        with open(damaged, "wb") as file:
            file.write(data[: len(data) // 3] + b"rubbish" + data[len(data) // 2 : -5])
        end, said = self.warm(os.path.join(self.folder, "second"), damaged)
        self.assertGreater(end["from_history"], 20)
        self.assertIn("damaged", said)


class WrongUse(CrawlCase):
    def fail(self, *more):
        command = [MEGURI, "crawl", "http://a.example/", "--archive"]
        done = testing.run([*command, os.path.join(self.folder, "archive"), *more])
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_paths_that_name_no_warc_file(self):
        self.assertRegex(self.fail("--from-archive", "/no/such/place"), "no such file or folder")
        self.assertRegex(self.fail("--from-archive", self.folder), "there are no WARC files in it")
        text = os.path.join(self.folder, "text")
        with open(text, "w", encoding="utf-8") as file:
            file.write("This is no WARC file.\n" * 100)
        self.assertRegex(self.fail("--from-archive", text), "text: there is no WARC record in it")

    def test_where_pages_are_visited_once(self):
        said = self.fail("--once", "--from-archive", self.folder)
        self.assertRegex(said, "--once visits none again; leave out one of them")


if __name__ == "__main__":
    unittest.main()
