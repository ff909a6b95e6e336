"""`meguri scan`: programs of anybody's over every page of a snapshot."""

import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../tools"))
sys.path.insert(0, HERE)
import testing
from virtual_web_test import MEGURI
from warc_testing import SITE, Visit, identical, not_modified, page

ANALYSER = [sys.executable, "-B", os.path.join(HERE, "scan_analyser_testing.py")]
TEA = page("Tea is drunk in the afternoon, and in the evening if there is any left of it.",
           "Nobody knows why the kettle sings, but everybody listens to it with pleasure.")
JAPANESE = page("お茶は午後に飲まれます。残っていれば夕方にも飲まれます。",
                "やかんがなぜ歌うのかは誰も知りませんが、みんな喜んで聞いています。")


def body_of(i):
    return page(f"Page number {i}. " + "It is about as long as its number says. " * (i % 7))


class ScanCase(testing.TestCase):
    """An archive of the records that `visits` says."""

    def visits(self):
        return []

    def setUp(self):
        super().setUp()
        self.archive = os.path.join(self.folder, "archive")
        self.warc = os.path.join(self.folder, "made.warc.gz")
        self.out = os.path.join(self.folder, "out")
        with open(self.warc, "wb") as file:
            file.writelines(visit.record() for visit in self.visits())
        done = testing.run([MEGURI, "import", self.archive, self.warc])
        self.assertEqual(done.returncode, 0, done.stderr)

    def command(self, *arguments):
        return [MEGURI, "scan", self.archive, *arguments]

    def scan(self, *arguments, code=0):
        done = testing.run(self.command(*arguments), timeout=120)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def lines(self, *arguments):
        return self.scan("--quiet", *arguments).stdout.splitlines()

    def scan_to_file(self, *arguments, code=0):
        done = self.scan("-o", self.out, "--json", *arguments, code=code)
        with open(self.out, encoding="utf-8", newline="") as file:
            return json.loads(done.stdout), file.read().splitlines()

    def skipped(self):
        with open(self.out + ".skipped.jsonl", encoding="utf-8") as file:
            return [json.loads(line) for line in file]


class Scan(ScanCase):
    def visits(self):
        zipped = b"Content-Type: text/html\r\nContent-Encoding: gzip\r\n"
        return [
            Visit(1, "tea", body=TEA),
            not_modified(2, "tea"),
            Visit(2, "cha", body=JAPANESE),
            identical(3, "cha", JAPANESE),
            Visit(2, "zip", body=gzip.compress(TEA, mtime=0), head=zipped),
            Visit(2, "chunks", body=b"4\r\nfour\r\n0\r\n\r\n",
                  head=b"Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n"),
            Visit(3, "image", body=b"\x89PNG\r\n\x1a\n\0\0", head=b"Content-Type: image/png\r\n"),
            Visit(3, "links", body=b'<a href="/tea">Tea</a> <a href="https://else.example/">'),
            Visit(4, "away", 404),
        ]

    def test_count_by(self):
        self.assertEqual(self.lines("count-by", "mime"),
                         ["text/html\t4", "image/png\t1", "text/plain\t1"])
        counted = self.lines("--mime", "text/html", "--", "count-by", "language", "month")
        self.assertIn("ja\t2026-03\t1", counted)
        self.assertIn("en\t2026-02\t2", counted)
        self.assertEqual(self.lines("count-by", "host"), ["site.example\t6"])

    def test_text_links_and_grep(self):
        edges = self.lines("--url", SITE + "links", "links")
        self.assertEqual([edge.split("\t")[:2] for edge in edges],
                         [[SITE + "links", SITE + "tea"],
                          [SITE + "links", "https://else.example/"]])
        (text,) = self.lines("--url", SITE + "cha", "text")
        self.assertIn("やかん", json.loads(text)["text"])
        found = self.lines("--ordered", "grep", "kettle.*listens")
        self.assertEqual([line.split("\t")[0] for line in found], [SITE + "tea", SITE + "zip"])
        found = self.lines("--ordered", "--", "grep", "-i", "-l", "TEA IS")
        self.assertEqual(found, [SITE + "tea", SITE + "zip"])

    def test_warc(self):
        self.out += ".warc.gz"
        self.scan("-o", self.out, "--mime", "text/*", "--", "warc")
        checked = testing.run([MEGURI, "warc", "check", self.out])
        self.assertEqual(checked.returncode, 0, checked.stdout)
        again = os.path.join(self.folder, "again")
        self.assertEqual(testing.run([MEGURI, "import", again, self.out]).returncode, 0)
        urls = testing.run([MEGURI, "snapshot", again]).stdout.split()
        self.assertEqual(urls, [SITE + name for name in ("cha", "chunks", "links", "tea", "zip")])

    def test_framed_documents_are_decoded_and_resolved(self):
        program = os.path.join(self.folder, "show.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(
                "import sys, json\n"
                "for line in sys.stdin.buffer:\n"
                "    head = json.loads(line)\n"
                "    body = sys.stdin.buffer.read(head['length'])\n"
                "    head['body'] = body.decode('latin-1')\n"
                "    result = json.dumps(head).encode() + b'\\n'\n"
                "    front = b'%d %d\\n' % (head['number'], len(result))\n"
                "    sys.stdout.buffer.write(front + result)\n"
                "    sys.stdout.buffer.flush()\n")
        found = {}
        for line in self.lines("--", sys.executable, program):
            document = json.loads(line)
            found[document["url"].removeprefix(SITE)] = document
        self.assertEqual(sorted(found), ["cha", "chunks", "image", "links", "tea", "zip"])
        tea = found["tea"]
        self.assertEqual(tea["body"].encode("latin-1"), TEA)
        self.assertEqual((tea["time"], tea["valid_from"], tea["valid_to"]),
                         ("2026-02-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z", None))
        self.assertEqual((tea["status"], tea["mime"]), (200, "text/html"))
        self.assertEqual(found["zip"]["body"].encode("latin-1"), TEA)
        self.assertEqual(found["cha"]["body"].encode("latin-1"), JAPANESE)
        self.assertEqual(found["chunks"]["body"], "four")

    def test_lines_with_programs_that_hold_their_output_back(self):
        everywhere = {SITE + name for name in ("cha", "chunks", "image", "links", "tea", "zip")}
        asked = ("--lines", "--fields", "url,language", "--")
        for program in (["jq", "-r", ".url"], ["sed", r's/.*"\(https:[^"]*\)".*/\1/'],
                        ["awk", "-F\"", "{print $4}"], ["cut", "-d\"", "-f4"],
                        [sys.executable, "-c",
                         "import sys, json\nfor l in sys.stdin: print(json.loads(l)['url'])"]):
            if shutil.which(program[0]) is None:
                continue
            with self.subTest(program[0]):
                self.assertEqual(set(self.lines(*asked, *program)), everywhere)

    def test_fields_of_lines(self):
        fields = "url,title,text,links,charset,status,month,host,length"
        (line,) = self.lines("--url", SITE + "links", "--lines", "--fields", fields, "--", "cat")
        told = json.loads(line)
        self.assertEqual(list(told), fields.split(","))
        self.assertEqual(told["links"], [SITE + "tea", "https://else.example/"])
        self.assertEqual((told["month"], told["host"]), ("2026-03", "site.example"))

    def test_wrong_use(self):
        for arguments, words in [
                ([], "say what to run"),
                (["count-by", "colour"], "colour"),
                (["--", "grep", "("], "regular expression"),
                (["--lines", "grep", "x"], "built in"),
                (["--fields", "url", "links"], "--fields is of --lines"),
                (["--lines", "--fields", "urls", "--", "cat"], "urls"),
                (["--dispatch", "magic", "links"], "magic"),
                (["--max-tries", "0", "links"], "--max-tries"),
                (["--timeout", "soon", "links"], "--timeout"),
                (["--resume", "links"], "-o FILE"),
                (["--json", "links"], "-o FILE")]:
            with self.subTest(arguments):
                self.assertIn(words, self.scan(*arguments, code=2).stderr)

    def test_what_cannot_start_ends_the_run(self):
        for program, words in [(["no-such-program"], "no-such-program"),
                               ([os.path.join(self.folder, "none.so")], "none.so")]:
            with self.subTest(program):
                done = self.scan("--", *program, code=1)
                self.assertIn(words, done.stderr)

    def test_no_network_unless_it_is_asked_for(self):
        code = ("import sys, socket\nfor l in sys.stdin:\n"
                " try:\n  socket.socket(socket.AF_INET); print('open')\n"
                " except OSError: print('closed')\n")
        asked = ("--url", SITE + "tea", "--lines", "--fields", "url")
        run = ("--", sys.executable, "-c", code)
        self.assertEqual(self.lines(*asked, *run), ["closed"])
        self.assertEqual(self.lines(*asked, "--network", *run), ["open"])

    def test_a_snapshot_without_documents(self):
        self.assertEqual(self.lines("--at", "2020", "links"), [])
        summary, lines = self.scan_to_file("--at", "2020", "--", "links")
        self.assertEqual((summary["documents"], lines), (0, []))

    def test_a_lost_file_is_told_of(self):
        os.remove(self.warc)
        done = self.scan("-o", self.out, "--", "links", code=1)
        self.assertIn("6 documents were skipped", done.stderr)
        self.assertEqual({skip["tries"] for skip in self.skipped()}, {0})


class ScanFaults(ScanCase):
    """Analysers that fail, and a dispatcher that is killed."""

    PAGES = 60

    def visits(self):
        return [Visit(1, f"page{i}", body=body_of(i)) for i in range(self.PAGES)]

    def expected(self, without=()):
        return sorted(f"{SITE}page{i} {len(body_of(i))}" for i in range(self.PAGES)
                      if i not in without)

    def test_poison(self):
        done = self.scan("-o", self.out, "--workers", "3", "--", *ANALYSER, "poison=page1", code=1)
        poison = {i for i in range(self.PAGES) if str(i).startswith("1")}
        with open(self.out, encoding="utf-8") as file:
            self.assertEqual(sorted(file.read().splitlines()), self.expected(poison))
        self.assertIn("11 documents were skipped", done.stderr)
        skipped = self.skipped()
        self.assertEqual({skip["url"] for skip in skipped}, {f"{SITE}page{i}" for i in poison})
        for skip in skipped:
            self.assertEqual(skip["reason"], "it was ended by signal 11 (SIGSEGV)")
            self.assertEqual(skip["tries"], 3)
            self.assertIn("crash at " + skip["url"], skip["stderr"])

    def test_restarts(self):
        summary, lines = self.scan_to_file("--restart-after", "5", "--", *ANALYSER)
        self.assertEqual(sorted(lines), self.expected())
        self.assertGreaterEqual(summary["restarts"], 8)
        self.assertEqual(summary["failures"], 0)

    def test_modes_and_order(self):
        for mode in ("pipelined", "sync", "static"):
            with self.subTest(mode):
                summary, lines = self.scan_to_file("--dispatch", mode, "--ordered", "--workers",
                                                   "3", "--", *ANALYSER, "exit=20")
                order = [int(line.split()[0].removeprefix(SITE + "page")) for line in lines]
                self.assertEqual(order, list(range(self.PAGES)))
                self.assertEqual(len(summary["workers"]), 3)

    def faults(self, runs):
        """Each document has exactly one result, whatever its analyser does."""
        for run in range(runs):
            with self.subTest(run):
                chosen = random.Random(run).choice
                faults = [f"{fault}={chosen([0, 10, 40])}"
                          for fault in ("crash", "exit", "rubbish", "wrong", "early", "half")]
                faults.append(f"hang={chosen([0, 0, 0, 5])}")
                summary, lines = self.scan_to_file(
                    "--workers", str(chosen([1, 2, 3])), "--timeout", "1s", "--max-tries", "1000",
                    *chosen([[], ["--ordered"]]), *chosen([[], ["--restart-after", "7"]]), "--",
                    *ANALYSER, *faults)
                self.assertEqual(sorted(lines), self.expected())
                self.assertEqual((summary["results"], summary["skipped"]), (self.PAGES, 0))

    def test_exactly_once(self):
        self.faults(10)

    def kills(self, runs):
        for run in range(runs):
            with self.subTest(run):
                chance = random.Random(run)
                ordered = ["--ordered"] if run % 2 else []
                command = self.command("-o", self.out, *ordered, "--quiet", "--", *ANALYSER,
                                       "slow=0.01", "crash=20")
                kills = 0
                while True:
                    process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                               stderr=subprocess.PIPE)
                    try:
                        # Longer and longer, so that slow machines come to an end too.
                        _, said = process.communicate(
                            timeout=chance.uniform(0.05, 0.6) * 1.1 ** kills)
                    except subprocess.TimeoutExpired:
                        process.send_signal(signal.SIGKILL)
                        process.communicate()
                        kills += 1
                    else:
                        self.assertEqual(process.returncode, 0, said)
                        break
                    begun = os.path.exists(os.path.join(self.out + ".scan", "journal"))
                    resume = ["--resume"] if begun else []
                    if not begun:
                        shutil.rmtree(self.out + ".scan", ignore_errors=True)
                    command = self.command("-o", self.out, *resume, *([] if resume else ordered),
                                           "--quiet", *([] if resume else
                                                        ["--", *ANALYSER, "slow=0.01", "crash=20"]))
                with open(self.out, encoding="utf-8") as file:
                    lines = file.read().splitlines()
                self.assertEqual(sorted(lines), self.expected())
                if ordered:
                    self.assertEqual(lines, self.expected_in_order())
                self.assertFalse(os.path.exists(self.out + ".scan"))
                os.remove(self.out)

    def expected_in_order(self):
        return [f"{SITE}page{i} {len(body_of(i))}" for i in range(self.PAGES)]

    def test_kills_and_resumes(self):
        self.kills(4)

    def test_an_interrupted_run_says_how_to_go_on(self):
        process = subprocess.Popen(self.command("-o", self.out, "--", *ANALYSER, "slow=0.2"),
                                   stderr=subprocess.PIPE, text=True)
        journal = os.path.join(self.out + ".scan", "journal")
        testing.wait_until(lambda: os.path.exists(journal))
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertIn("--resume", said)
        again = self.scan("-o", self.out, "--", *ANALYSER, code=1)
        self.assertIn("--resume", again.stderr)
        other = self.scan("-o", self.out, "--resume", "--", "links", code=2)
        self.assertIn("leave the program out", other.stderr)
        elsewhere = os.path.join(self.folder, "elsewhere")
        shutil.copytree(self.archive, elsewhere)
        wrong = testing.run([MEGURI, "scan", elsewhere, "-o", self.out, "--resume"])
        self.assertEqual(wrong.returncode, 2, wrong.stderr)
        self.assertIn("is of the archive", wrong.stderr)
        self.scan("-o", self.out, "--resume")
        with open(self.out, encoding="utf-8") as file:
            self.assertEqual(sorted(file.read().splitlines()), self.expected())

    def test_workers_die_with_the_dispatcher(self):
        process = subprocess.Popen(self.command("--", *ANALYSER, "hang=1000", "slow=0.001"),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def analysers():
            done = testing.run(["pgrep", "-f", self.archive + "|hang=1000 slow=0.001"])
            return set(done.stdout.split()) - {str(process.pid)}

        testing.wait_until(analysers)
        process.send_signal(signal.SIGKILL)
        process.wait()
        testing.wait_until(lambda: not analysers())


class LongScanFaults(ScanFaults):
    def test_exactly_once(self):
        self.faults(1000)

    def test_kills_and_resumes(self):
        self.kills(100)


class LongScanSizes(ScanCase):
    """A document that is larger than any memory bound."""

    BYTES = 2_000_000_000

    def visits(self):
        return [Visit(1, "small", body=TEA)]

    def test_a_document_of_two_gigabytes(self):
        warc = os.path.join(self.folder, "large.warc")
        head = b"HTTP/1.1 200 So\r\nContent-Type: application/octet-stream\r\n\r\n"
        lines = ["WARC/1.0", "WARC-Type: response", "WARC-Record-ID: <urn:test:large>",
                 "WARC-Date: 2026-01-01T00:00:00Z", f"WARC-Target-URI: {SITE}large",
                 "Content-Type: application/http; msgtype=response",
                 f"Content-Length: {len(head) + self.BYTES}"]
        with open(warc, "wb") as file:
            file.write("\r\n".join(lines).encode() + b"\r\n\r\n" + head)
            piece = b"0123456789abcde\n" * 65536
            left = self.BYTES
            while left:
                file.write(piece[:left])
                left -= min(left, len(piece))
            file.write(b"\r\n\r\n")
        self.assertEqual(testing.run([MEGURI, "import", self.archive, warc]).returncode, 0)
        count = ("import sys, json\nread = sys.stdin.buffer\n"
                 "for line in read:\n"
                 " head = json.loads(line); left = head['length']; seen = 0\n"
                 " while left: piece = read.read(min(left, 1 << 20)); left -= len(piece); "
                 "seen += len(piece)\n"
                 " result = b'%d\\n' % seen\n"
                 " sys.stdout.buffer.write(b'%d %d\\n' % (head['number'], len(result)) + result)\n"
                 " sys.stdout.buffer.flush()\n")
        limited = ["--workers", "1", "--", sys.executable, "-c", count]
        peak, answers = self.measure("--quiet", *limited)
        self.assertEqual(sorted(map(int, answers)), [len(TEA), self.BYTES])
        self.assertLess(peak, 150_000_000)

    def measure(self, *arguments):
        """The peak of memory of any of its processes, and the lines of its results."""
        with open(self.out, "wb") as out:
            process = subprocess.Popen(self.command(*arguments), stdout=out)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        with open(self.out, encoding="utf-8") as file:
            return usage.ru_maxrss * 1024, file.read().splitlines()

    def test_memory_is_bounded_over_a_million_documents(self):
        count = 1_000_000
        warc = os.path.join(self.folder, "many.warc.gz")
        with open(warc, "wb") as file:
            for i in range(count):
                file.write(Visit(1, f"many/{i}", body=b"small", digest=False).record())
        imported = testing.run([MEGURI, "import", self.archive, warc])
        self.assertEqual(imported.returncode, 0, imported.stderr)
        peak, lines = self.measure("--quiet", "--", "count-by", "status")
        self.assertEqual(lines, [f"200\t{count + 1}"])
        self.assertLess(peak, 160_000_000)


if __name__ == "__main__":
    unittest.main()
