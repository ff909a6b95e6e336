"""What the tests of whole crawls share: a crawl of the virtual web, its archive, and the truth."""

import gzip
import io
import os
import re
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
from virtual_web_test import MEGURI, VirtualWeb

# Whether a crawl reads the sitemaps that robots.txt names; the truth then holds them too.
READS_SITEMAPS = True

# In seconds since 1970. Now: a fast clock that began long ago would be far ahead, and further with
# every day that goes by.
CLOCK_ORIGIN = int(time.time())


def clock(speed):
    """The options of a clock that all programs of a test share."""
    origin = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(CLOCK_ORIGIN))
    return ["--speed", str(speed), "--clock-origin", origin]


def clock_ms(speed):
    """What that clock shows, in milliseconds."""
    return int((CLOCK_ORIGIN + (time.time() - CLOCK_ORIGIN) * speed) * 1000)


class Visit:
    """What a record of the archive tells of one visit."""

    def __init__(self, kind, url, fields, status):
        self.kind = kind
        self.url = url
        self.id = fields["WARC-Record-ID"]
        self.date = fields["WARC-Date"]
        self.status = status
        self.digest = fields.get("WARC-Payload-Digest")
        self.fields = fields

    def __repr__(self):
        return f"{self.kind} {self.url} {self.status}"


def status_of(fields, block):
    if fields["WARC-Type"] == "metadata":
        return 0
    if fields.get("WARC-Profile", "").endswith("/server-not-modified"):
        return 304
    return int(block.split(b" ", 2)[1][:3])


def read_visits(file):
    """The visits of pages in an open WARC file, in order; those of robots.txt left out."""
    with gzip.open(file) as records:
        while line := records.readline():
            assert line == b"WARC/1.1\r\n", line
            fields = {}
            while (line := records.readline()) != b"\r\n":
                name, value = line.decode("latin-1").rstrip("\r\n").split(": ", 1)
                fields[name] = value
            block = records.read(int(fields["Content-Length"]))
            assert records.read(4) == b"\r\n\r\n"
            kind = fields["WARC-Type"]
            if kind not in ("response", "revisit", "metadata"):
                continue
            if fields.get("X-Meguri-Purpose") == "robots" or "X-Meguri-Removed" in fields:
                continue
            yield Visit(kind, fields["WARC-Target-URI"], fields, status_of(fields, block))


def warc_files(archive):
    folder = os.path.join(archive, "warc")
    paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    return [path for path in paths if os.path.isfile(path)]  # not what was imported


def archived(archive):
    """All visits in an archive, by URL."""
    visits = {}
    for path in warc_files(archive):
        with open(path, "rb") as file:
            for visit in read_visits(file):
                visits.setdefault(visit.url, []).append(visit)
    return visits


def checkpoint_states(archive):
    """What each instance returned at the last checkpoint; docs/formats/checkpoint.md."""
    try:
        with open(os.path.join(archive, "state", "checkpoint"), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return {}
    kind, count = struct.unpack_from("<4sI", data)
    (version,) = struct.unpack_from("<I", data, 40)
    assert (kind, version) == (b"MGCK", 2)
    place = 44
    states = {}
    for _ in range(count):
        texts = []
        for _ in range(2):
            (size,) = struct.unpack_from("<I", data, place)
            texts.append(data[place + 4 : place + 4 + size])
            place += 4 + size
        states[texts[0].decode("ascii")] = texts[1]
    return states


def durable(archive):
    """The visits that the last checkpoint declares durable, by URL, as after a crash."""
    state = checkpoint_states(archive).get("writer", b"").decode("ascii")
    if not state.startswith("+"):
        return {}
    offset, name = state[1:].split(" ")
    visits = {}
    for path in warc_files(archive):
        if os.path.basename(path) > name:
            continue
        with open(path, "rb") as file:
            data = file.read(int(offset)) if os.path.basename(path) == name else file.read()
        for visit in read_visits(io.BytesIO(data)):
            visits[visit.url] = visit
    return visits


class Access:
    """One line of the servers' log."""

    def __init__(self, line, port):
        arrival, end, _, host, target, status, _ = line.rstrip("\n").split("\t")
        self.arrival_ms = int(arrival)
        self.end_ms = int(end)
        self.host = host
        self.target = target
        self.status = int(status)
        self.url = f"http://{host}:{port}{target}"


def read_log(path, port):
    with open(path, encoding="utf-8") as lines:
        return [Access(line, port) for line in lines]


def crawl_command(web, archive, *more):
    return [
        MEGURI, "crawl", web.ready["first"], "--archive", archive, "--once", "--scope", "any",
        "--dns", web.ready["dns"], "--allow-network", "127.0.0.0/8", *more,
    ]  # fmt: skip


def start_quietly(command):
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def truth(world, web):
    """All that a crawl of `world` must archive, with the status of each URL."""
    listed = testing.run(
        [MEGURI, "virtual-web", "pages", *world, "--port", str(web.port), "--everything"]
        + ["--reachable-from", web.ready["first"]]
        + ["--sitemaps" if READS_SITEMAPS else "--hints"]
    )
    assert listed.returncode == 0, listed.stderr
    found = {}
    for line in listed.stdout.splitlines():
        url, status = line.split("\t")[:2]
        found[url] = int(status)
    return found


class CrawlCase(testing.TestCase):
    def check_log(self, world, log, *more):
        """Requires that the servers' log shows no breach."""
        check = testing.run([MEGURI, "virtual-web", "check", *world, "--log", log, *more])
        self.assertEqual(check.returncode, 0, check.stdout[:3000] + check.stderr)
        self.assertRegex(check.stdout, r"^[0-9]+ requests, 0 breaches\n$")

    def check_exact(self, visits, expected):
        """Each URL of the truth was visited once, with its status, and no other was. What a server
        could not answer may have been tried again: a web that stands still says the same."""
        missing = set(expected) - set(visits)
        self.assertEqual(sorted(missing)[:20], [], f"{len(missing)} are missing")
        beyond = set(visits) - set(expected)
        self.assertEqual(sorted(beyond)[:20], [], f"{len(beyond)} are no part of the truth")
        for url, ones in visits.items():
            statuses = [one.status for one in ones]
            if expected[url] >= 500:
                statuses = sorted(set(statuses))
            self.assertEqual(statuses, [expected[url]], ones)
