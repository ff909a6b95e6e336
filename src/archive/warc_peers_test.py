"""Our WARC files as other readers see them: warcio, FastWARC and warcio.js.

They are fetched by name with pip and npm into the build folder; without them, their tests are
skipped.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
import testing

BINARIES = os.environ.get("MEGURI_BINARY_DIR", os.path.join(testing.ROOT, "build/release"))
PEERS = os.path.join(BINARIES, "peers")
PYTHON = os.path.join(PEERS, "python/bin/python")
# pywb has an environment of its own, since it wants old versions of many packages.
PYWB_PYTHON = os.path.join(PEERS, "pywb/bin/python")
WARCIO_JS = os.path.join(PEERS, "npm/node_modules/.bin/warcio")
# py-wacz has one too, with the packages that it checks tables with.
WACZ_PYTHON = os.path.join(PEERS, "wacz/bin/python")
REPLAYWEBPAGE = os.path.join(PEERS, "replaywebpage/package")
VERSIONS = {
    "warcio": "1.8.1",
    "fastwarc": "1.1.0",
    "cdxj-indexer": "1.5.0",
    "npm": "2.4.11",
    "pywb": "2.10.0",
    "wacz": "0.6.0",
    "replaywebpage": "2.5.3",
}
# Those of its dependencies that it talks to the archive and the browser with.
PYWB_DEPENDENCIES = ["warcio==1.8.1", "gevent==26.9.0", "Werkzeug==3.1.7", "surt==0.3.1"]
INSTALL_SECONDS_MAX = 300

# What each visit of the samples is, in order: URL, type, status, size of the body.
VISITS = [
    ("http://example.com/", "response", 200, 33),
    ("http://example.com/chunked", "response", 200, 2),
    ("https://example.com/h2", "response", 200, 3),
    ("http://example.com/icy", "response", 200, 5),
    ("http://example.com/moved", "response", 301, 0),
    ("http://example.com/" + "x" * 3000, "response", 404, 2),
    ("http://example.com/caf%C3%A9", "response", 200, 300000),
    ("http://example.com/", "revisit", 200, 0),
    ("http://example.com/", "revisit", 0, 0),  # a 304, whose head is not kept
]

# Prints [type, URI, status, size of the body, faults] for each record, as FastWARC reads it.
FASTWARC_SCRIPT = """
import json, sys
from fastwarc.warc import ArchiveIterator, WarcRecordType
for record in ArchiveIterator(open(sys.argv[1], "rb"), parse_http=False):
    headers = dict(record.headers.items())
    faults = []
    if not record.verify_block_digest(): faults.append("block digest")
    is_http = record.is_http
    status = size = None
    if is_http:
        record.parse_http()
        status = record.http_headers.status_code
        if headers["WARC-Type"] == "response" and not record.verify_payload_digest():
            faults.append("payload digest")
        size = len(record.reader.read())
    print(json.dumps([headers["WARC-Type"], headers.get("WARC-Target-URI"), status, size, faults]))
"""

WARCIO_SCRIPT = """
import json, sys
from warcio.archiveiterator import ArchiveIterator
for record in ArchiveIterator(open(sys.argv[1], "rb"), check_digests="raise"):
    status = record.http_headers.get_statuscode() if record.http_headers else None
    size = len(record.content_stream().read())
    print(json.dumps([record.rec_type, record.rec_headers.get_header("WARC-Target-URI"), status,
                      size]))
"""


def succeeds(command):
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              timeout=INSTALL_SECONDS_MAX)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def install(name, commands):
    """Runs the commands once for each build folder; false if one fails. Tests may run at a time."""
    os.makedirs(PEERS, exist_ok=True)
    done = os.path.join(PEERS, f"{name}-{VERSIONS[name]}.installed")
    with open(os.path.join(PEERS, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(done):
            return True
        if not all(succeeds(command) for command in commands):
            return False
        with open(done, "w", encoding="utf-8"):
            return True


def has_python(package):
    commands = [[PYTHON, "-m", "pip", "install", f"{package}=={VERSIONS[package]}"]]
    if not os.path.exists(PYTHON):
        commands.insert(0, ["/usr/bin/python3", "-m", "venv", os.path.join(PEERS, "python")])
    return install(package, commands)


def has_pywb():
    folder = os.path.join(PEERS, "pywb")
    return install("pywb", [
        ["/usr/bin/python3", "-m", "venv", folder],
        [PYWB_PYTHON, "-m", "pip", "install", f"pywb=={VERSIONS['pywb']}", *PYWB_DEPENDENCIES],
    ])


def has_npm():
    folder = os.path.join(PEERS, "npm")
    return shutil.which("npm") is not None and install("npm", [
        ["npm", "install", "--no-audit", "--no-fund", "--prefix", folder,
         f"warcio@{VERSIONS['npm']}"]])


def has_wacz():
    folder = os.path.join(PEERS, "wacz")
    return install("wacz", [
        ["/usr/bin/python3", "-m", "venv", folder],
        [WACZ_PYTHON, "-m", "pip", "install", f"wacz=={VERSIONS['wacz']}"],
    ])


def has_replaywebpage():
    """Two files for the browser, without what the package needs to run elsewhere."""
    folder = os.path.join(PEERS, "replaywebpage")
    name = f"replaywebpage-{VERSIONS['replaywebpage']}.tgz"
    file = os.path.join(folder, name)
    return shutil.which("npm") is not None and install("replaywebpage", [
        ["mkdir", "-p", folder],
        ["npm", "pack", f"replaywebpage@{VERSIONS['replaywebpage']}", "--pack-destination", folder],
        ["tar", "-xzf", file, "-C", folder, "package/ui.js", "package/sw.js"],
    ])


class Samples(testing.TestCase):
    def setUp(self):
        super().setUp()
        done = testing.run([os.path.join(BINARIES, "tests/archive_test")], environment={
            "MEGURI_TEST_CHILD": "write_warc_samples",
            "MEGURI_TEST_CHILD_ARGUMENT": self.folder,
        })
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.files = sorted(os.path.join(self.folder, name) for name in os.listdir(self.folder))
        self.assertEqual(len(self.files), 2)

    def lines_of(self, command):
        done = testing.run(command)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout.splitlines()

    def visits_in(self, records):
        """URL, type, status and size of responses and revisits."""
        return [(record[1], record[0], int(record[2] or 0), record[3] or 0) for record in records
                if record[0] in ("response", "revisit")]

    def check_types(self, types):
        pairs = [kind for visit in VISITS for kind in (visit[1], "request")]
        self.assertEqual(types, ["warcinfo", *pairs, "metadata"])


class Warcio(Samples):
    def setUp(self):
        super().setUp()
        if not has_python("warcio"):
            self.skipTest("warcio cannot be installed")

    def test_check_finds_no_fault(self):
        for file in self.files:
            lines = self.lines_of([PYTHON, "-m", "warcio.cli", "check", "-v", file])
            text = "\n".join(lines)
            self.assertNotIn("fail", text)
            revisits = sum(visit[1] == "revisit" for visit in VISITS)  # it does not check those
            self.assertEqual(text.count("not checked (revisit)"), revisits, text)
            self.assertEqual(text.count("digest pass"), 2 + 2 * len(VISITS) - revisits, text)

    def test_check_finds_a_changed_byte(self):
        plain = next(file for file in self.files if file.endswith(".warc"))
        with open(plain, "rb") as file:
            text = file.read()
        with open(plain, "wb") as file:
            file.write(text.replace(b"<title>hello", b"<title>jello"))
        done = testing.run([PYTHON, "-m", "warcio.cli", "check", plain])
        self.assertEqual(done.returncode, 1)

    def test_index_lists_every_record(self):
        fields = "warc-type,warc-target-uri,http:status,offset,length"
        for file in self.files:
            lines = self.lines_of([PYTHON, "-m", "warcio.cli", "index", "-f", fields, file])
            records = [json.loads(line) for line in lines]
            self.check_types([record["warc-type"] for record in records])
            blank_lines = 0 if file.endswith(".gz") else 4  # which it does not count
            end = 0
            for record in records:
                self.assertEqual(int(record["offset"]), end)
                end += int(record["length"]) + blank_lines
            self.assertEqual(end, os.path.getsize(file))

    def test_bodies_and_statuses(self):
        for file in self.files:
            lines = self.lines_of([PYTHON, "-c", WARCIO_SCRIPT, file])
            self.assertEqual(self.visits_in(json.loads(line) for line in lines), VISITS)


class FastWarc(Samples):
    def test_digests_bodies_and_statuses(self):
        if not has_python("fastwarc"):
            self.skipTest("FastWARC cannot be installed")
        for file in self.files:
            records = [json.loads(line)
                       for line in self.lines_of([PYTHON, "-c", FASTWARC_SCRIPT, file])]
            self.check_types([record[0] for record in records])
            self.assertEqual([record for record in records if record[4]], [])
            self.assertEqual(self.visits_in(records), VISITS)


class WarcioJs(Samples):
    def test_index_lists_every_record(self):
        if not has_npm():
            self.skipTest("warcio.js cannot be installed")
        for file in self.files:
            records = [json.loads(line) for line in self.lines_of([WARCIO_JS, "index", file])]
            self.check_types([record["warc-type"] for record in records])
            uris = [record["warc-target-uri"] for record in records
                    if record["warc-type"] in ("response", "revisit")]
            self.assertEqual(uris, [visit[0] for visit in VISITS])


if __name__ == "__main__":
    unittest.main()
