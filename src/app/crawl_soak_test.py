"""`meguri crawl` that goes on for days of its clock and is killed with -9 all the while: what was
durable stays as it was, and memory, files and disk do not grow with time.
"""

import hashlib
import json
import os
import random
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
from crawl_testing import (
    CrawlCase,
    archived,
    checkpoint_states,
    clock,
    crawl_command,
    start_quietly,
    warc_files,
)
from virtual_web_test import MEGURI, VirtualWeb


def durable_end(archive):
    """Up to where the last checkpoint declares the WARC files durable: name and offset."""
    state = checkpoint_states(archive).get("writer", b"").decode("ascii")
    if not state.startswith("+"):
        return None
    offset, name = state[1:].split(" ")
    return name, int(offset)


def digest_until(archive, end):
    """Of all that the WARC files hold up to there."""
    digest = hashlib.sha1()
    for path in sorted(warc_files(archive)):
        if os.path.basename(path) > end[0]:
            continue
        with open(path, "rb") as file:
            is_last = os.path.basename(path) == end[0]
            digest.update(file.read(end[1]) if is_last else file.read())
    return digest.hexdigest()


def folder_use(folder):
    """Files, and the disk they take in MB."""
    files = 0
    blocks = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                blocks += os.stat(os.path.join(place, name)).st_blocks
                files += 1
            except FileNotFoundError:
                pass
    return files, blocks / 2048


def memory_of(process):
    """The most that it has had, in MB."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as lines:
        for line in lines:
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    return 0


class Life:
    """What was there when a crawl was killed."""

    def __init__(self, archive, memory):
        self.memory = memory
        self.files, self.disk = folder_use(os.path.join(archive, "state"))
        self.end = durable_end(archive)
        self.digest = digest_until(archive, self.end) if self.end else None


class Soaked(CrawlCase):
    # Logs begin anew many times, as they do over months.
    CONFIG = """
[limits]
store_log = "2MB"
"""

    def live(self, world, speed, seconds, life_s):
        """Crawls for so many real seconds in lives that a kill ends; returns them."""
        chance = random.Random(1)
        self.log = os.path.join(self.folder, "access.log")
        self.archive = os.path.join(self.folder, "archive")
        self.write("archive/meguri.toml", self.CONFIG)
        lives = []
        with VirtualWeb(*world, *clock(speed), "--delay", "0", "--log", self.log) as web:
            command = crawl_command(web, self.archive, *clock(speed))
            command.remove("--once")
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                crawl = start_quietly(command)
                time.sleep(chance.uniform(*life_s))
                self.assertIsNone(crawl.poll(), "it ended by itself")
                memory = memory_of(crawl)
                crawl.kill()
                crawl.wait()
                lives.append(Life(self.archive, memory))
            done = testing.run([*command, "--for", "5s", "--json"], timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr[-2000:])
            self.standing = json.loads(done.stdout)
        return lives

    def check(self, world, lives):
        for life in lives:
            if life.end:
                self.assertEqual(digest_until(self.archive, life.end), life.digest, life.end)
        self.assertIsNotNone(lives[-1].end)
        visits = archived(self.archive)
        stored = {one.id for ones in visits.values() for one in ones if one.kind == "response"}
        for ones in visits.values():
            for one in ones:
                if one.kind == "revisit":
                    self.assertIn(one.fields["WARC-Refers-To"], stored, one)
        # A page that is in the archive is known, and nothing in the state is damaged.
        self.assertGreaterEqual(self.standing["pages"], len(visits))
        checked = testing.run([MEGURI, "store", "check", self.archive])
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        self.check_log(world, self.log, "--tolerance", "20ms")

    def check_flat(self, lives, name, spare):
        """The last third needs no more than a quarter above the middle one, and `spare`."""
        third = len(lives) // 3
        middle = max(getattr(life, name) for life in lives[third : 2 * third])
        last = max(getattr(life, name) for life in lives[2 * third :])
        print(f"{name}: at most {middle:.0f}, then {last:.0f}", file=sys.stderr)
        self.assertLessEqual(last, 1.25 * middle + spare, name)


class Soak(Soaked):
    WORLD = ["--hosts", "10", "--pages", "300", "--servers", "10", "--seed", "3"]

    def test_kills_over_days_lose_nothing(self):
        lives = self.live(self.WORLD, 3600, 12, (0.5, 4))
        self.check(self.WORLD, lives)


class LongSoak(Soaked):
    WORLD = ["--hosts", "60", "--pages", "5000", "--seed", "4"]

    def test_a_week_with_a_kill_every_few_hours(self):
        lives = self.live(self.WORLD, 720, 840, (5, 25))
        print(f"{len(lives)} kills, {self.standing['pages']} pages known", file=sys.stderr)
        self.check_flat(lives, "memory", 8)
        self.check_flat(lives, "files", 8)
        self.check_flat(lives, "disk", 4)
        self.check(self.WORLD, lives)


if __name__ == "__main__":
    unittest.main()
