"""`meguri crawl` killed with -9 again and again: the same archive in the end, and no host troubled.

What was durable at each kill is read from the checkpoint and the WARC files, and what was fetched
from the servers' log, so that neither is the crawler's own account.
"""

import os
import random
import socket
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
from crawl_testing import (
    CrawlCase,
    archived,
    clock,
    clock_ms,
    crawl_command,
    durable,
    read_log,
    start_quietly,
    truth,
)
from virtual_web_test import VirtualWeb

SPEED = 100
WITNESS = "witness.test"  # the host that the test asks for itself
HOSTS = 12
WORLD = ["--hosts", str(HOSTS), "--pages", "400", "--servers", "10", "--seed", "9", "--still"]


def versions(visits):
    return {url: {(one.status, one.digest) for one in ones} for url, ones in visits.items()}


class Kill:
    """When a crawl was killed, by its clock, and what was durable then."""

    def __init__(self, start_ms, archive):
        self.start_ms = start_ms
        self.time_ms = clock_ms(SPEED)
        self.durable = durable(archive)

    def has_answer(self, url):
        """What failed may be tried again."""
        return url in self.durable and 0 < self.durable[url].status < 500


class Victim:
    """A crawl that is to be killed at some moment, or ends before."""

    def __init__(self, web, archive, log):
        self.checkpoint = os.path.join(archive, "state", "checkpoint.new")
        self.log = log
        self.end = time.monotonic() + 60
        self.process = start_quietly(crawl_command(web, archive, *clock(SPEED)))

    def wait_until(self, condition, pause_s):
        while self.process.poll() is None and time.monotonic() < self.end and not condition():
            time.sleep(pause_s)

    def wait_for_requests(self, count):
        """Until the servers have answered so many more."""
        wanted = lines_of(self.log) + count
        self.wait_until(lambda: lines_of(self.log) >= wanted, 0.005)

    def wait_for_checkpoint(self):
        """Until one is being written."""
        self.wait_until(lambda: os.path.exists(self.checkpoint), 0)

    def kill(self):
        self.process.kill()
        self.process.wait()


def lines_of(path):
    with open(path, "rb") as file:
        return file.read().count(b"\n")


def wait_for_servers(web):
    """Until they have read what was sent to them before: their log says when they read."""
    for _ in range(2):
        with socket.create_connection(("127.0.0.1", web.port), timeout=60) as own:
            own.sendall(f"GET / HTTP/1.0\r\nHost: {WITNESS}\r\n\r\n".encode("ascii"))
            while own.recv(4096):
                pass


class KilledCrawl(CrawlCase):
    def crawl_with_kills(self, web, archive, log, count, seed):
        chance = random.Random(seed)
        kills = []
        for i in range(count):
            start_ms = clock_ms(SPEED)
            crawl = Victim(web, archive, log)
            if i % 4 == 0:
                time.sleep(chance.uniform(0, 0.1))  # in its start
            else:
                crawl.wait_for_requests(chance.randint(1, 20))
            if i % 4 == 1:
                crawl.wait_for_checkpoint()
            elif i % 4 == 2:
                time.sleep(chance.uniform(0, 0.05))
            crawl.kill()
            wait_for_servers(web)
            kills.append(Kill(start_ms, archive))
        done = testing.run(crawl_command(web, archive, *clock(SPEED)))
        self.assertEqual(done.returncode, 0, done.stderr)
        return kills

    def check_kills(self, count, seed):
        log = os.path.join(self.folder, "access.log")
        archive = os.path.join(self.folder, "archive")
        calm = os.path.join(self.folder, "calm")
        with VirtualWeb(*WORLD, *clock(SPEED), "--delay", "0", "--log", log) as web:
            kills = self.crawl_with_kills(web, archive, log, count, seed)
            end_ms = clock_ms(SPEED)
            undisturbed = testing.run(crawl_command(web, calm, *clock(SPEED)))
            self.assertEqual(undisturbed.returncode, 0, undisturbed.stderr)
            expected = truth(WORLD, web)
        visits = archived(archive)
        self.check_exact(visits, expected)
        self.assertEqual(versions(visits), versions(archived(calm)))
        accesses = [one for one in read_log(log, web.port) if one.arrival_ms <= end_ms]
        # What a server could not answer may be tried again.
        pages = [one for one in accesses if one.target != "/robots.txt" and one.host != WITNESS]
        pages = [one for one in pages if one.status < 500]
        answers = [url for url, status in expected.items() if status < 500]
        for kill in kills:
            self.check_nothing_lost(kill, visits)
            self.check_refetches(kill, pages)
        # The kills did hurt, but not much, and there was something to lose. An epoch is a second,
        # in which a host is asked once.
        self.assertGreater(len(pages), len(answers))
        self.assertLess(len(pages) - len(answers), count * HOSTS)
        self.assertGreater(len(kills[-1].durable), 0)
        self.check_politeness(log, end_ms)
        most = max(len(self.in_flight(kill, pages)) for kill in kills)
        print(
            f"{count} kills, {len(answers)} URLs, {len(pages) - len(answers)} refetches, "
            f"at most {most} at once in flight",
            file=sys.stderr,
        )

    def check_nothing_lost(self, kill, visits):
        for url, visit in kill.durable.items():
            self.assertIn(visit.id, [one.id for one in visits[url]])

    def in_flight(self, kill, pages):
        """What the servers were asked for in the life that the kill ended, and is not durable."""
        life = [one for one in pages if kill.start_ms <= one.arrival_ms <= kill.time_ms]
        return [one for one in life if one.url not in kill.durable]

    def check_refetches(self, kill, pages):
        again = [one.url for one in pages if one.arrival_ms > kill.time_ms]
        self.assertEqual([url for url in again if kill.has_answer(url)], [])
        # What is not durable is what was asked last: of every host an unbroken end.
        lost = self.in_flight(kill, pages)
        self.assertLessEqual(len({one.url for one in lost}), len(lost))
        for host in {one.host for one in lost}:
            first_ms = min(one.arrival_ms for one in lost if one.host == host)
            later = [
                one
                for one in pages
                if one.host == host and first_ms <= one.arrival_ms <= kill.time_ms
            ]
            self.assertEqual([one.url for one in later if one.url in kill.durable], [])

    def check_politeness(self, log, end_ms):
        """Of the disturbed crawl; the other has a log of its own beside it."""
        own = os.path.join(self.folder, "own.log")
        with open(log, encoding="utf-8") as lines, open(own, "w", encoding="utf-8") as file:
            file.writelines(
                line
                for line in lines
                if int(line.split("\t")[0]) <= end_ms and f"\t{WITNESS}\t" not in line
            )
        self.check_log(WORLD, own)


class Kills(KilledCrawl):
    def test_ten_leave_the_same_archive(self):
        self.check_kills(10, 1)


class LongKills(KilledCrawl):
    def test_thirty_leave_the_same_archive(self):
        self.check_kills(30, 2)

    def test_thirty_others_too(self):
        self.check_kills(30, 3)


if __name__ == "__main__":
    unittest.main()
