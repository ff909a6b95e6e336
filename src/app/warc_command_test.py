"""`meguri warc ls|check|cat`: WARC files of all kinds, whole and broken."""

import base64
import gzip
import hashlib
import http.server
import json
import os
import shutil
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../archive"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
import warc_peers_test as peers
from crawl_testing import CrawlCase, clock, crawl_command, warc_files
from virtual_web_test import MEGURI, VirtualWeb

LONG_URL = "http://example.com/" + "x" * 3700
MEMORY_MAX = 64 << 20  # bytes, for a record of any size


def sha1(data):
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def warc_record(kind, name, block, content_type="application/http; msgtype=response", **fields):
    lines = ["WARC/1.0", f"WARC-Type: {kind}", f"WARC-Record-ID: <urn:test:{name}>",
             "WARC-Date: 2026-01-01T00:00:00Z", f"Content-Type: {content_type}"]
    lines += [f"{field.replace('_', '-')}: {value}" for field, value in fields.items()]
    lines.append(f"Content-Length: {len(block)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def response(name, url, body, head=b"Content-Type: text/html\r\n", **fields):
    block = b"HTTP/1.1 200 OK\r\n" + head + b"\r\n" + body
    named = {"WARC_Target_URI": url, "WARC_Block_Digest": sha1(block),
             "WARC_Payload_Digest": sha1(body)}
    return warc_record("response", name, block, **{**named, **fields})


def arc_record(url, document, length=None):
    length = len(document) if length is None else length
    return f"{url} 192.0.2.1 20010203040506 text/html {length}\n".encode() + document + b"\n"


ARC_INFO = (b"filedesc://x.arc 0.0.0.0 20010203040506 text/plain 76\n1 0 Alexa Internet\n"
            b"URL IP-address Archive-date Content-type Archive-length\n\n")


class WarcCase(testing.TestCase):
    def save(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def warc(self, *arguments, **options):
        return testing.run([MEGURI, "warc", *arguments], **options)

    def listed(self, *paths):
        done = self.warc("ls", "--json", *paths)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def checked(self, *paths, code=0):
        done = self.warc("check", "--json", *paths)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def cat(self, *arguments):
        done = self.warc("cat", *arguments, encoding=None)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout


class Ls(WarcCase):
    def test_a_line_for_each_record(self):
        first = gzip.compress(response("a", "http://example.com/", b"hello"))
        second = gzip.compress(warc_record("metadata", "b", b"x: y", "application/warc-fields"))
        path = self.save("a.warc.gz", first + second)
        done = self.warc("ls", path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual(lines, [
            ["0", str(len(first)), "response", "2026-01-01T00:00:00Z", "200", "ok", "text/html",
             "http://example.com/"],
            [str(len(first)), str(len(second)), "metadata", "2026-01-01T00:00:00Z", "-", "none",
             "application/warc-fields", "-"]])

    def test_json_and_many_files(self):
        one = self.save("one.warc", response("a", LONG_URL, b"hello"))
        two = self.save("two.warc", response("b", "http://example.com/b", b"",
                                             WARC_Block_Digest="x:y"))
        records = self.listed(one, two)
        self.assertEqual([record["url"] for record in records], [LONG_URL, "http://example.com/b"])
        self.assertEqual([record["block_digest"] for record in records], ["right", "unknown"])
        self.assertEqual({record["payload_digest"] for record in records}, {"right"})
        done = self.warc("ls", one, two)
        self.assertEqual([line for line in done.stdout.splitlines() if line.endswith(":")],
                         [one + ":", two + ":"])

    def test_what_is_no_warc(self):
        text = self.save("a.txt", b"hello\nworld\n" * 1000)
        self.assert_says_one_sentence(self.warc("ls", text), 1, text, "no WARC file")
        self.assert_says_one_sentence(self.warc("check", text), 1, text, "no WARC file")
        missing = os.path.join(self.folder, "missing")
        for command in (["ls", missing], ["check", missing], ["cat", missing, "0"]):
            self.assert_says_one_sentence(self.warc(*command), 1, missing)
        self.assert_says_one_sentence(self.warc("ls", self.folder), 2, "is a folder")
        good = self.save("a.warc", response("a", "http://example.com/", b"hello"))
        done = self.warc("ls", text, good)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no WARC file", done.stderr)
        self.assertIn("http://example.com/", done.stdout)

    def test_wrong_use(self):
        for command in ([], ["ls"], ["cat", "x"], ["cat", "x", "y"],
                        ["cat", "x", "1", "--url", "u"], ["cat", "x", "1", "--date", "now"],
                        ["cat", "x", "1", "--head", "--record"]):
            self.assertEqual(self.warc(*command).returncode, 2, command)


class Check(WarcCase):
    def test_good_files(self):
        for name, data in [("a.warc", response("a", LONG_URL, b"hello")),
                           ("a.warc.gz", gzip.compress(response("a", LONG_URL, b"hello"))),
                           ("a.arc", ARC_INFO + arc_record("http://x/", b"HTTP/1.0 200\r\n\r\nhi"))]:
            done = self.warc("check", self.save(name, data))
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            self.assertIn("nothing is missing or broken", done.stdout)

    def test_names_each_fault(self):
        good = response("a", "http://example.com/", b"hello")
        cases = {
            "payload_digest": response("b", "http://b/", b"hello", WARC_Payload_Digest=sha1(b"x")),
            "block_digest": response("b", "http://b/", b"hello", WARC_Block_Digest=sha1(b"x")),
            "same_id": good,
            "truncated": response("b", "http://b/", b"hello")[:-12],
            "no_field": response("b", "http://b/", b"hello").replace(b"WARC-Date", b"WARC-Daze"),
            "no_length": response("b", "http://b/", b"").replace(b"Content-Length: ", b"Size: "),
        }
        for kind, data in cases.items():
            path = self.save(kind + ".warc", good + data)
            report = self.checked(path, code=1)
            faults = [fault for fault in report["faults"] if fault["kind"] == kind]
            self.assertEqual(len(faults), 1, report)
            self.assertEqual((faults[0]["file"], faults[0]["at"]), (path, str(len(good))))
            done = self.warc("check", path)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"{path} at {len(good)}: ", done.stdout)
            self.assertRegex(done.stderr, r"faults? w(as|ere) found")

    def test_a_copy_of_a_file_is_no_fault(self):
        paths = [self.save(name, response("a", "http://b/", b"x")) for name in ("a.warc", "b.warc")]
        done = self.warc("check", *paths)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("another of these files has a record of the same id", done.stdout)

    def test_bad_habits_are_notes(self):
        good = response("a", "http://example.com/", b"hello")
        more = response("b", "http://example.com/b", b"hello", WARC_Truncated="length")
        revisit = warc_record("revisit", "c", b"HTTP/1.1 200 OK\r\n\r\n",
                              WARC_Refers_To="<urn:test:elsewhere>")
        report = self.checked(self.save("a.warc.gz", gzip.compress(good + more + revisit)))
        self.assertEqual({note["kind"]: note["count"] for note in report["notes"]},
                         {"shared_member": 2, "cut": 1, "refers_to_nothing": 1})
        other = self.save("b.warc", warc_record("resource", "elsewhere", b"x", "text/plain"))
        report = self.checked(os.path.join(self.folder, "a.warc.gz"), other)
        self.assertNotIn("refers_to_nothing", {note["kind"] for note in report["notes"]})

    def test_damage_inside_is_passed_over(self):
        members = [gzip.compress(response(name, "http://x/" + name, os.urandom(5000)))
                   for name in "abc"]
        broken = bytearray(members[1])
        broken[2000] ^= 0x55
        path = self.save("a.warc.gz", members[0] + bytes(broken) + members[2])
        report = self.checked(path, code=1)
        self.assertIn((str(len(members[0])), "damaged"),
                      {(fault["at"], fault["kind"]) for fault in report["faults"]})
        done = self.warc("ls", "--json", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("'meguri warc check' says where", done.stderr)
        urls = [json.loads(line)["url"] for line in done.stdout.splitlines()]
        self.assertEqual(urls, ["http://x/a", "http://x/b", "http://x/c"])

    def test_a_file_that_ends_inside_a_member(self):
        members = [gzip.compress(response(name, "http://x/" + name, os.urandom(500)))
                   for name in "ab"]
        path = self.save("a.warc.gz", (members[0] + members[1])[:-100])
        report = self.checked(path, code=1)
        self.assertEqual([(fault["at"], fault["kind"]) for fault in report["faults"]],
                         [(str(len(members[0])), "truncated")])
        report = self.checked(self.save("b.warc.gz", members[0][:20]), code=1)
        self.assertEqual([fault["kind"] for fault in report["faults"]], ["truncated"])

    def test_an_empty_file_and_one_that_is_not_there(self):
        empty = self.save("a.warc", b"")
        missing = os.path.join(self.folder, "missing.warc")
        report = self.checked(empty, missing, code=1)
        self.assertEqual([fault["kind"] for fault in report["faults"]], ["empty", "unreadable"])


class Cat(WarcCase):
    def test_parts_of_a_record(self):
        chunks = b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
        first = response("a", "http://example.com/", b"old")
        record = response("b", LONG_URL, chunks, b"Transfer-Encoding: chunked\r\n")
        for name, data, at in [("a.warc", first + record, len(first)),
                               ("a.warc.gz", gzip.compress(first) + gzip.compress(record),
                                len(gzip.compress(first)))]:
            path = self.save(name, data)
            self.assertEqual(self.cat(path, str(at)), b"abcde")
            self.assertEqual(self.cat(path, "--url", LONG_URL), b"abcde")
            self.assertEqual(self.cat(path, str(at), "--record"), record)
            self.assertEqual(self.cat(path, str(at), "--head"),
                             b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            facts = json.loads(self.cat(path, str(at), "--json"))
            self.assertIn(["WARC-Target-URI", LONG_URL], facts["fields"])
            self.assert_says_one_sentence(self.warc("cat", path, str(at + 1)), 1, path,
                                          f"no record begins at {at + 1}")

    def test_records_that_share_a_member(self):
        data = b"".join(response(name, "http://x/" + name, name.encode()) for name in "abc")
        path = self.save("a.warc.gz", gzip.compress(data))
        done = self.warc("ls", path)
        places = [line.split()[0] for line in done.stdout.splitlines()]
        self.assertEqual(places, ["0", "0+1", "0+2"])
        self.assertEqual([self.cat(path, place) for place in places], [b"a", b"b", b"c"])
        self.assertEqual(self.warc("cat", path, "0+3").returncode, 1)

    def test_the_newest_of_a_url(self):
        def at(year, body):
            made = response(str(year), "http://example.com/a", body)
            return made.replace(b"2026-01-01", f"{year}-01-01".encode())
        path = self.save("a.warc", at(2001, b"one") + at(2005, b"three") + at(2003, b"two"))
        url = ["--url", "HTTP://EXAMPLE.com:80/a#x"]
        self.assertEqual(self.cat(path, *url), b"three")
        self.assertEqual(self.cat(path, *url, "--date", "2004-01-01"), b"two")
        self.assertEqual(self.cat(path, *url, "--date", "2003-01-01T00:00:00Z"), b"two")
        self.assert_says_one_sentence(self.warc("cat", path, *url, "--date", "1999-01-01"), 1,
                                      "there is no response")

    def test_content_coding(self):
        body = b"hello " * 100_000
        packed = gzip.compress(body)
        path = self.save("a.warc", response("a", "http://x/", packed,
                                            b"Content-Encoding: gzip\r\n"))
        self.assertEqual(self.cat(path, "0"), packed)
        self.assertEqual(self.cat(path, "0", "--decode"), body)
        path = self.save("b.warc", response("a", "http://x/", packed[:-9],
                                            b"Content-Encoding: gzip\r\n"))
        done = self.warc("cat", path, "0", "--decode", encoding=None)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"its content coding cannot be undone: truncated", done.stderr)

    def test_what_is_left_of_a_cut_record(self):
        path = self.save("a.warc", response("a", "http://x/", b"hello")[:-7])
        done = self.warc("cat", path, "0")
        self.assertEqual((done.returncode, done.stdout), (1, "he"))
        self.assertIn("the record is not whole: truncated", done.stderr)

    def test_arc(self):
        document = b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\nhello"
        data = [ARC_INFO, arc_record(LONG_URL, document)]
        for name, path in [("plain", self.save("a.arc", b"".join(data))),
                           ("gzip", self.save("a.arc.gz", b"".join(map(gzip.compress, data))))]:
            records = self.listed(path)
            self.assertEqual([record["type"] for record in records], ["warcinfo", "response"], name)
            self.assertEqual(records[1]["url"], LONG_URL)
            self.assertEqual(records[1]["date"], "2001-02-03T04:05:06Z")
            self.assertEqual((records[1]["status"], records[1]["mime"]), (200, "text/html"))
            self.assertEqual(self.cat(path, str(records[1]["offset"])), b"hello")
            # As a WARC record, it is one.
            made = self.save("a.warc", self.cat(path, str(records[1]["offset"]), "--record"))
            self.assertEqual(self.checked(made)["records"], 1)


@unittest.skipIf(shutil.which("zstd") is None, "there is no zstd")
class Zstd(WarcCase):
    def packed(self, data, *options):
        return testing.run(["zstd", "-q", "-c", *options], input=data, stdin=None,
                           encoding=None).stdout

    def test_a_frame_for_each_record(self):
        frames = [self.packed(response(name, LONG_URL + name, b"body of " + name.encode()))
                  for name in "ab"]
        path = self.save("a.warc.zst", b"".join(frames))
        self.assertEqual([(record["offset"], record["length"]) for record in self.listed(path)],
                         [(0, len(frames[0])), (len(frames[0]), len(frames[1]))])
        report = self.checked(path)
        self.assertEqual((report["digests"]["right"], report["notes"]), (4, []))
        self.assertEqual(self.cat(path, str(len(frames[0]))), b"body of b")
        self.checked(self.save("cut.warc.zst", b"".join(frames)[:-3]), code=1)

    def test_a_dictionary(self):
        dictionary = response("d", LONG_URL, os.urandom(2000))
        path = self.save("dictionary", dictionary)
        front = b"\x5d\x2a\x4d\x18" + len(dictionary).to_bytes(4, "little") + dictionary
        records = [dictionary.replace(b"urn:test:d", b"urn:test:" + name) for name in (b"a", b"b")]
        frames = [self.packed(record, "-D", path) for record in records]
        path = self.save("a.warc.zst", front + frames[0] + frames[1])
        self.assertEqual([record["offset"] for record in self.listed(path)],
                         [len(front), len(front) + len(frames[0])])
        self.assertEqual(self.cat(path, str(len(front) + len(frames[0])), "--record"), records[1])


class LargeRecords(WarcCase):
    def peak_of(self, command, output):
        """Runs a command and returns how much memory it took."""
        with open(output, "wb") as out:
            child = os.posix_spawn(command[0], command, os.environ,
                                   file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)])
        _, status, usage = os.wait4(child, 0)
        self.assertEqual(status, 0, command)
        return usage.ru_maxrss * 1024

    def save_large(self, size):
        """A record of so many zeros, which take no room on the disk."""
        head = b"HTTP/1.1 200 OK\r\n\r\n"
        record = warc_record("response", "large", head, WARC_Target_URI=LONG_URL)
        record = record[:-4].replace(f"Content-Length: {len(head)}".encode(),
                                     f"Content-Length: {len(head) + size}".encode())
        path = self.save("large.warc", record)
        with open(path, "r+b") as file:
            file.truncate(len(record) + size)
            file.seek(0, os.SEEK_END)
            file.write(b"\r\n\r\n" + response("small", "http://x/", b"small"))
        return path

    def check_size(self, size):
        path = self.save_large(size)
        out = os.path.join(self.folder, "out")
        for command in (["ls", path], ["check", path], ["cat", path, "--url", "http://x/"]):
            peak = self.peak_of([MEGURI, "warc", *command], out)
            self.assertLess(peak, MEMORY_MAX, command)
        with open(out, "rb") as file:
            self.assertEqual(file.read(), b"small")
        return path

    def test_take_no_more_memory(self):
        size = 300_000_000
        path = self.check_size(size)
        out = os.path.join(self.folder, "out")
        self.assertLess(self.peak_of([MEGURI, "warc", "cat", path, "0"], out), MEMORY_MAX)
        self.assertEqual(os.path.getsize(out), size)
        packed = path + ".gz"
        with open(path, "rb") as file, gzip.open(packed, "wb", 1) as member:
            shutil.copyfileobj(file, member, 1 << 20)
        self.assertLess(self.peak_of([MEGURI, "warc", "cat", packed, "0"], out), MEMORY_MAX)
        self.assertEqual(os.path.getsize(out), size)


class LongRecords(LargeRecords):
    def test_take_no_more_memory(self):
        self.check_size(5_000_000_000)


class Peers(WarcCase):
    def test_wget(self):
        if shutil.which("wget") is None:
            self.skipTest("there is no wget")

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                self.wfile.write(b"5\r\nhello\r\n0\r\n\r\n")

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/" + "y" * 3700
        for more, name in ([], "w.warc.gz"), (["--no-warc-compression"], "w.warc"):
            done = testing.run(["wget", "-q", "--no-proxy", "-O", os.devnull, "--warc-file",
                                os.path.join(self.folder, "w"), *more, url])
            self.assertEqual(done.returncode, 0, done.stderr)
            path = os.path.join(self.folder, name)
            report = self.checked(path)
            self.assertEqual(report["faults"], [])
            self.assertGreater(report["digests"]["right"], 2)
            self.assertIn(url, [record.get("url") for record in self.listed(path)])
            self.assertEqual(self.cat(path, "--url", url), b"hello")

    def test_warcio(self):
        if not peers.has_python("warcio"):
            self.skipTest("warcio cannot be installed")
        script = """
import io, sys
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter
for name, gzip in (("plain.warc", False), ("packed.warc.gz", True)):
    with open(sys.argv[1] + "/" + name, "wb") as out:
        writer = WARCWriter(out, gzip=gzip)
        head = StatusAndHeaders("200 OK", [("Content-Type", "text/plain")], protocol="HTTP/1.0")
        for url, body in (("http://x/a", b"alpha"), (sys.argv[2], b"beta")):
            writer.write_record(writer.create_warc_record(
                url, "response", payload=io.BytesIO(body), http_headers=head))
        writer.write_record(writer.create_revisit_record(
            "http://x/a", "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "http://gone/",
            "2020-01-01T00:00:00Z", http_headers=head))
"""
        done = testing.run([peers.PYTHON, "-c", script, self.folder, LONG_URL])
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in "plain.warc", "packed.warc.gz":
            path = os.path.join(self.folder, name)
            report = self.checked(path)
            self.assertEqual(report["records"], 3)
            self.assertGreaterEqual(report["digests"]["right"], 4)
            self.assertEqual([note["kind"] for note in report["notes"]], ["refers_to_nothing"])
            self.assertEqual(self.cat(path, "--url", LONG_URL), b"beta")

    def test_our_samples(self):
        done = testing.run([os.path.join(peers.BINARIES, "tests/archive_test")], environment={
            "MEGURI_TEST_CHILD": "write_warc_samples",
            "MEGURI_TEST_CHILD_ARGUMENT": self.folder,
        })
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in os.listdir(self.folder):
            path = os.path.join(self.folder, name)
            report = self.checked(path)
            self.assertEqual((report["faults"], report["digests"]["unknown"]), ([], 0))
            self.assertLessEqual({note["kind"] for note in report["notes"]}, {"cut"})


class OurCrawl(CrawlCase):
    def test_leaves_files_without_a_fault_or_a_note(self):
        world = ["--hosts", "5", "--pages", "50", "--sound"]
        speed = clock(3600)
        with VirtualWeb(*world, *speed, "--delay", "0") as web:
            archive = os.path.join(self.folder, "a")
            done = testing.run(crawl_command(web, archive, *speed, "--json"))
            self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        done = testing.run([MEGURI, "warc", "check", "--json", *warc_files(archive)])
        self.assertEqual(done.returncode, 0, done.stdout)
        report = json.loads(done.stdout)
        self.assertGreater(report["records"], 100)
        self.assertEqual({note["kind"] for note in report["notes"]} - {"cut"}, set())


if __name__ == "__main__":
    unittest.main()
