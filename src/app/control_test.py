"""`meguri add|why|hosts|pause|resume|status` from outside: on a crawl that runs, is paused, was
killed, has ended, and on none."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
from crawl_test import read_archive
from crawl_testing import clock
from virtual_web_test import MEGURI, STANDING, VirtualWeb

WORLD = ["--hosts", "8", "--pages", "80", "--servers", "8", "--seed", "3"]
# Slow enough for a command to find it running.
FAST = clock(30)


def meguri(*arguments, **options):
    return testing.run([MEGURI, *arguments], **options)


class Commands(testing.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = os.path.join(self.folder, "archive")

    def crawl(self, web, *more, paused=True):
        """A crawl that listens. It begins paused, else it might end before it is asked."""
        if paused:
            os.makedirs(os.path.join(self.archive, "warc"), exist_ok=True)
            self.assertFalse(self.ask("pause")["running"])
        self.process = subprocess.Popen(
            [
                MEGURI, "crawl", web.ready["first"], "--archive", self.archive, "--once",
                "--dns", web.ready["dns"], "--allow-network", "127.0.0.0/8", *FAST, *more,
            ],  # fmt: skip
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        self.addCleanup(self.end, self.process)
        for _ in range(600):
            done = meguri("status", self.archive, "--json")
            if done.returncode == 0 and json.loads(done.stdout)["running"]:
                return self.process
            time.sleep(0.05)
        raise AssertionError("it does not listen")

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def ask(self, command, *arguments):
        done = meguri(command, self.archive, *arguments, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stderr)
        return json.loads(done.stdout)

    def other_host(self, web):
        """A page that the crawl does not reach: it keeps to the host of its seed."""
        listed = meguri("virtual-web", "pages", *WORLD, *STANDING, "--port", str(web.port))
        self.assertEqual(listed.returncode, 0, listed.stderr)
        for line in listed.stdout.splitlines():
            url = line.split("\t")[0]
            if web.first not in url and url.endswith(f":{web.port}/"):
                return url
        raise AssertionError("there is but one host")

    def settle(self):
        """How many pages are done when a paused crawl has nothing out any more."""
        done = -1
        for _ in range(200):
            status = self.ask("status")
            if done == status["done"] and "in flight" not in status["schedule"]:
                return done
            done = status["done"]
            time.sleep(0.3)
        raise AssertionError("it does not come to rest")

    def test_a_running_crawl_is_asked_paused_widened_and_goes_on(self):
        with VirtualWeb(*WORLD, *FAST, "--delay", "0") as web:
            first = web.ready["first"]
            process = self.crawl(web)
            self.assertEqual(os.stat(os.path.join(self.archive, "control.sock")).st_mode & 0o777,
                             0o600)  # fmt: skip
            self.assertTrue(self.ask("resume")["running"])
            self.assertTrue(self.ask("pause")["paused"]["all"])
            status = self.ask("status")
            self.assertTrue(status["running"])
            self.assertEqual(status["paused"], "by hand")
            self.assertIn("paused: by hand", meguri("status", self.archive).stdout)
            before = self.settle()

            why = self.ask("why", first)
            self.assertTrue(why["running"] and why["known"])
            self.assertIn("It is a seed.", why["sentences"])
            other = self.other_host(web)
            why = meguri("why", self.archive, other)
            self.assertIn("outside the scope", why.stdout)
            self.assertEqual(self.ask("why", other)["filter"], "scope")

            added = self.ask("add", other, first)
            self.assertEqual((added["new"], added["known"], added["taken"]), (1, 1, True))
            hosts = self.ask("hosts")["hosts"]
            self.assertIn(web.first, [host["host"] for host in hosts])
            table = meguri("hosts", self.archive, web.first, "--sort", "pages").stdout.splitlines()
            self.assertEqual(len(table), 2)
            self.assertTrue(table[0].startswith("HOST"))
            self.assertTrue(table[1].startswith(web.first))
            self.assertIn("resume", table[1])

            time.sleep(1)
            self.assertIsNone(process.poll(), "a paused crawl does not end")
            self.assertEqual(self.ask("status")["done"], before)
            self.assertFalse(self.ask("resume")["paused"]["all"])
            output, _ = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, output)

            # The same questions after the end.
            archived = read_archive(os.path.join(self.archive, "warc"))
            self.assertIn(other, archived)
            self.assertGreater(len(archived), 5)
            why = self.ask("why", other)
            self.assertFalse(why["running"])
            self.assertEqual(why["page"]["state"], "visited")
            self.assertEqual(why["page"]["status"], 200)
            self.assertIn("robots.txt", " ".join(why["sentences"]))
            status = self.ask("status")
            self.assertFalse(status["running"])
            self.assertEqual(status["done"], status["pages"])
            row = self.ask("hosts", web.first)["hosts"][0]
            self.assertEqual(row["done"], row["pages"])
            self.assertEqual(row["waits_for"], "nothing")
            self.assertFalse(self.ask("why", "http://nowhere.test/")["known"])

    def test_a_pause_outlives_a_kill_and_the_stale_socket_is_replaced(self):
        with VirtualWeb(*WORLD, *FAST, "--delay", "0") as web:
            process = self.crawl(web)
            process.send_signal(signal.SIGKILL)
            process.wait()
            self.assertTrue(os.path.exists(os.path.join(self.archive, "control.sock")))
            self.assertFalse(self.ask("status")["running"])
            self.assertEqual(self.ask("status")["paused"], "by hand")
            before = self.ask("status")["done"]

            process = self.crawl(web, paused=False)
            self.assertEqual(self.settle(), before)
            # It can be stopped though it is paused.
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0)
            self.assertIn("the same command goes on", output)

            self.assertFalse(self.ask("resume")["running"])
            self.assertEqual(self.ask("status")["paused"], "")
            process = self.crawl(web)
            self.ask("resume")
            process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0)
            status = self.ask("status")
            self.assertEqual(status["done"], status["pages"])

    def test_one_host_rests_while_the_others_go_on(self):
        with VirtualWeb(*WORLD, *FAST, "--delay", "0") as web:
            process = self.crawl(web, "--scope", "any")
            self.ask("pause", web.first)
            self.ask("resume")
            self.assertEqual(self.ask("status")["hosts_paused"], 0)
            paused = self.ask("pause", web.first.upper())["paused"]
            self.assertEqual(paused, {"all": False, "hosts": [web.first]})
            self.assertIn(web.first, meguri("pause", self.archive, web.first).stdout)
            self.assertEqual(self.ask("status")["hosts_paused"], 1)
            self.assertEqual(self.ask("hosts", web.first)["hosts"][0]["waits_for"], "resume")
            self.ask("resume", web.first)
            process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0)

    def test_rubbish_on_the_socket_troubles_nobody(self):
        with VirtualWeb(*WORLD, *FAST, "--delay", "0") as web:
            process = self.crawl(web)
            path = os.path.join(self.archive, "control.sock")
            for text in (b"rubbish\n", b"[]\n", b"{}\n", b'{"command":7}\n', b"\xff\xfe\n", b"\n",
                         b'{"command":"fly"}\n', b'{"command":"why"}\n', b"[" * 100_000 + b"\n",
                         b'{"command":"add","urls":["nonsense"]}\n',
                         b'{"command":"add","urls":"http://a.com/"}\n',
                         b'{"command":"hosts","limit":-1}\n', b'{"command":"hosts","order":"x"}\n',
                         b'{"command":"pause","hosts":["a b"]}\n'):  # fmt: skip
                with socket.socket(socket.AF_UNIX) as client:
                    client.connect(path)
                    client.sendall(text)
                    answer = json.loads(client.makefile().readline())
                    self.assertFalse(answer["ok"], text)
                    self.assertTrue(answer["error"], text)
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(path)
                try:
                    client.sendall(b"x" * 3_000_000)
                    self.assertEqual(client.recv(1), b"")
                except (BrokenPipeError, ConnectionResetError):
                    pass
            clients = []
            for _ in range(20):  # that stay and say nothing
                clients.append(socket.socket(socket.AF_UNIX))
                clients[-1].connect(path)
            self.assertTrue(self.ask("status")["running"])
            for client in clients:
                client.close()
            self.assertIsNone(process.poll())

    def test_any_path_has_room_for_a_socket(self):
        self.archive = os.path.join(self.folder, *["a" * 100] * 5, "archive")
        os.makedirs(os.path.dirname(self.archive))
        with VirtualWeb(*WORLD, *FAST, "--delay", "0") as web:
            process = self.crawl(web)
            self.assertTrue(self.ask("pause")["paused"]["all"])
            self.assertTrue(self.ask("status")["running"])
            self.ask("resume")
            process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0)

    def test_seeds_are_kept_for_a_crawl_that_comes(self):
        with VirtualWeb(*WORLD, *FAST, "--delay", "0") as web:
            os.makedirs(os.path.join(self.archive, "warc"))
            other = self.other_host(web)
            urls = self.write("urls", f"{other}\n\n{other}\n")
            with open(urls, encoding="utf-8") as file:
                added = meguri("add", self.archive, "-", stdin=file)
            self.assertEqual(added.stdout, "1 new, 1 known; the next crawl begins with them\n")
            self.assertFalse(self.ask("why", other)["known"])
            self.assertEqual(self.ask("hosts")["hosts"], [])
            self.assertEqual(self.ask("status")["pages"], 0)
            process = self.crawl(web)
            self.ask("resume")
            process.communicate(timeout=120)
            self.assertIn(other, read_archive(os.path.join(self.archive, "warc")))


class WrongUse(testing.TestCase):
    def test_gets_one_sentence(self):
        os.makedirs(os.path.join(self.folder, "a", "warc"))
        archive = os.path.join(self.folder, "a")
        page = "http://www.example.com/"
        for arguments, code, sentence in (
            (["add", archive, "nonsense"], 2, "is no http or https URL"),
            (["add", archive, page, "ftp://a.com/"], 2, "is no http or https URL"),
            (["add", self.folder, page], 1, "is no archive"),
            (["why", os.path.join(self.folder, "none"), page], 1, "there is no archive"),
            (["why", archive, "nonsense"], 2, "is no http or https URL"),
            (["hosts", archive, "--sort", "size"], 2, "--sort takes"),
            (["hosts", archive, "--limit", "some"], 2, "--limit"),
            (["pause", archive, "a b"], 2, "is no name of a host"),
            (["resume", self.folder], 1, "is no archive"),
            (["status", self.folder], 1, "is no archive"),
        ):
            with self.subTest(arguments):
                self.assert_says_one_sentence(meguri(*arguments), code, sentence)
        self.assertFalse(os.path.exists(os.path.join(archive, "seeds.txt")))

    def test_missing_permission_is_said(self):
        archive = os.path.join(self.folder, "a")
        os.makedirs(os.path.join(archive, "state"))
        self.write("a/lock", "")
        if os.geteuid() != 0:
            os.chmod(archive, 0o555)
            os.chmod(os.path.join(archive, "lock"), 0o444)
        for arguments in (["add", archive, "http://www.example.com/"], ["pause", archive]):
            done = testing.run(testing.as_nobody([MEGURI, *arguments]))
            self.assert_says_one_sentence(done, 1, "permission denied")
        done = testing.run(testing.as_nobody([MEGURI, "status", archive]))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        os.chmod(archive, 0o755)


if __name__ == "__main__":
    unittest.main()
