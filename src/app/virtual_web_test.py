"""`meguri virtual-web` from outside: curl, wget and dig against it, and its own judgements."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import unittest
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
import testing

BINARIES = os.environ.get("MEGURI_BINARY_DIR", os.path.join(testing.ROOT, "build/release"))
MEGURI = os.path.join(BINARIES, "meguri")

# The web's clock stands, so that every answer is known.
MOMENT = "2026-06-01T12:00:00Z"
STANDING = ["--speed", "1e-12", "--clock-origin", MOMENT]
SMALL = ["--hosts", "40", "--pages", "1200", "--seed", "5"]


def meguri(*arguments, **options):
    return testing.run([MEGURI, "virtual-web", *arguments], **options)


class VirtualWeb:
    """One that runs until the end of a `with`."""

    def __init__(self, *arguments, port=0):
        self.process = subprocess.Popen(
            [MEGURI, "virtual-web", *arguments, "--port", str(port), "--dns-port", "0", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(self.process.communicate()[1])
        self.ready = json.loads(line)
        self.port = self.ready["port"]
        self.dns_port = self.ready["dns"].rsplit(":", 1)[1]
        first = urllib.parse.urlsplit(self.ready["first"])
        self.first = first.hostname

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors

    def curl(self, url, *options):
        parts = urllib.parse.urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        return testing.run(
            ["curl", "-sS", "--noproxy", "*", "--resolve", f"{parts.hostname}:{port}:127.1.0.1"]
            + [*options, url],
            encoding="latin-1",  # pages have many charsets
        )

    def dig(self, *arguments):
        return testing.run(
            ["dig", "@127.0.0.1", "-p", self.dns_port, "+tries=1", "+time=30", *arguments]
        )


class Clients(testing.TestCase):
    def test_curl_gets_pages_over_http_and_https(self):
        authority = os.path.join(self.folder, "ca.pem")
        with VirtualWeb(
            *SMALL, *STANDING, "--delay", "0", "--https-port", "0", "--ca", authority
        ) as web:
            plain = web.curl(f"http://{web.first}:{web.port}/", "-w", "%{http_code}")
            self.assertEqual(plain.returncode, 0, plain.stderr)
            self.assertTrue(plain.stdout.endswith("</html>\n200"), plain.stdout[-80:])
            secure_port = web.ready["https_port"]
            url = f"https://{web.first}:{secure_port}/"
            secure = web.curl(url, "--cacert", authority, "-w", "%{http_code}")
            self.assertEqual(secure.returncode, 0, secure.stderr)
            # The same page: links carry the scheme and the port that the client used.
            self.assertEqual(
                secure.stdout.replace(f":{secure_port}", f":{web.port}").replace("https:", "http:"),
                plain.stdout,
            )
            self.assertEqual(web.curl(url).returncode, 60)  # whom nobody trusts
            stranger = web.curl(f"http://www.example.com:{web.port}/", "-w", "%{http_code}")
            self.assertTrue(stranger.stdout.endswith("421"), stranger.stdout)
            compressed = web.curl(f"http://{web.first}:{web.port}/", "--compressed")
            self.assertEqual(compressed.stdout + "200", plain.stdout)

    def test_dig_finds_servers_by_udp_and_tcp(self):
        with VirtualWeb(*SMALL) as web:
            for how in ("+notcp", "+tcp"):
                found = web.dig(how, "+short", web.first, "A").stdout.split()
                self.assertTrue(found)
                for address in found:
                    self.assertRegex(address, r"^127\.1\.\d+\.\d+$")
            self.assertIn("status: NXDOMAIN", web.dig("nobody.test").stdout)
            self.assertIn("status: NOERROR", web.dig(web.first, "AAAA").stdout)
            self.assertIn("status: REFUSED", web.dig("example.com").stdout)
            self.assertEqual(
                web.curl(f"http://{found[0]}:{web.port}/", "-H", f"Host: {web.first}").returncode, 0
            )

    def reachable(self, host):
        """What the truth says a polite crawler gets from a host: targets and their status."""
        listed = meguri(
            "pages", *SMALL, *STANDING, "--reachable-from", f"http://{host}/", "--same-host",
            "--everything", "--from", MOMENT,
        )  # fmt: skip
        self.assertEqual(listed.returncode, 0, listed.stderr)
        found = set()
        for line in listed.stdout.splitlines():
            url, status = line.split("\t")[:2]
            parts = urllib.parse.urlsplit(url)
            self.assertEqual(parts.hostname, host)
            found.add((parts.path + (f"?{parts.query}" if parts.query else ""), int(status)))
        return found

    def hosts_for_wget(self, web):
        """Hosts with robots.txt, of some dozens of pages, without what wget does not know."""
        listed = meguri("pages", *SMALL, *STANDING, "--json").stdout
        pages = {}
        for line in listed.splitlines():
            url = json.loads(line)["url"]
            pages.setdefault(urllib.parse.urlsplit(url).hostname, []).append(url)
        for host, urls in pages.items():
            if not 15 <= len(urls) <= 120:
                continue
            robots = web.curl(f"http://{host}:{web.port}/robots.txt", "-w", "%{http_code}").stdout
            if not robots.endswith("200"):
                continue
            heads = web.curl(f"http://{host}:{web.port}/", "-I").stdout
            for url in urls:
                target = url.split(host, 1)[1]
                heads += web.curl(f"http://{host}:{web.port}{target}", "-I").stdout
            if not re.search("^x-robots-tag:.*nofollow", heads, re.IGNORECASE | re.MULTILINE):
                yield host

    def test_wget_mirrors_what_is_reachable_and_allowed(self):
        log = os.path.join(self.folder, "access.log")
        with VirtualWeb(*SMALL, *STANDING, "--delay", "0") as web:
            hosts = [host for host, _ in zip(self.hosts_for_wget(web), range(2))]
        self.assertTrue(hosts)
        by_chance = re.compile(r"^/(img/.*|feed\.xml|robots\.txt)$")
        for host in hosts:
            if os.path.exists(log):
                os.unlink(log)
            with VirtualWeb(*SMALL, *STANDING, "--delay", "0", "--log", log) as web:
                testing.run(
                    ["wget", "-q", "-r", "-l", "inf", "-e", "use_proxy=yes"]
                    + ["-e", f"http_proxy=http://127.0.0.1:{web.port}/", f"http://{host}/"],
                    cwd=self.folder,
                    environment={"no_proxy": ""},
                )
            fetched = set()
            with open(log, encoding="utf-8") as lines:
                for line in lines:
                    _, _, _, name, target, status, _ = line.rstrip("\n").split("\t")
                    self.assertEqual(name, host)
                    if not by_chance.match(target):
                        fetched.add((target, int(status)))
            fetched = {one for one in fetched if one[1] not in (404, 410)}
            expected = {one for one in self.reachable(host) if not by_chance.match(one[0])}
            expected = {one for one in expected if one[1] not in (404, 410)}
            self.assertGreater(len(expected), 10)
            self.assertEqual(fetched, expected)

            # wget waits for nobody, but it obeys.
            url = ["--seed-url", f"http://{host}/"]
            report = meguri("check", *SMALL, "--log", log, *url, "--json")
            self.assertEqual(report.returncode, 1)
            counts = json.loads(report.stdout)["log"]["by_kind"]
            self.assertGreater(counts.pop("host-gap") + counts.pop("host-overlap"), 10)
            counts.pop("server-gap")
            counts.pop("server-overlap")
            counts.pop("crawl-delay")
            self.assertEqual(set(counts.values()), {0}, counts)


class Truth(testing.TestCase):
    def test_captures_of_every_version_are_judged_complete(self):
        period = ["--from", "2026-02-01", "--until", "2026-02-20"]
        listed = meguri("pages", "--hosts", "5", "--pages", "50", *period)
        lines = []
        for line in listed.stdout.splitlines():
            url, _, since, _ = line.split("\t")
            lines.append(f"{url} {max(since, '2026-02-01T00:00:00.000Z')}")
        captures = self.write("captures", "\n".join(lines) + "\n")
        world = ["--hosts", "5", "--pages", "50"]
        period = ["--from", "2026-02-01", "--to", "2026-02-20T00:00:00.001Z"]
        report = json.loads(
            meguri("check", *world, "--captures", captures, *period, "--json").stdout
        )["captures"]
        self.assertEqual(report["recall"], 1)
        self.assertEqual(report["coverage"], 1)
        self.assertEqual(report["waste"], 0)
        self.assertEqual(report["captures"], len(lines))
        half = self.write("half", "\n".join(lines[: len(lines) // 2]) + "\n")
        shown = meguri("check", *world, "--captures", half, *period)
        self.assertEqual(shown.returncode, 0)
        self.assertRegex(shown.stdout, r"recall +0\.[0-9]+ of the versions")

    def test_the_same_arguments_give_the_same_web(self):
        arguments = ["pages", *SMALL, "--until", "2026-03-01"]
        first = meguri(*arguments).stdout
        self.assertEqual(meguri(*arguments).stdout, first)
        self.assertNotEqual(meguri(*arguments, "--start", "2026-01-02").stdout, first)

    def test_the_log_is_whole_when_it_is_stopped(self):
        for how in (signal.SIGTERM, signal.SIGINT):
            log = os.path.join(self.folder, f"log-{how}")
            web = VirtualWeb(*SMALL, "--delay", "0", "--log", log)
            for _ in range(3):
                web.curl(f"http://{web.first}:{web.port}/")
            code, errors = web.stop(how)
            self.assertEqual(code, 0, errors)
            self.assertIn("3 requests", errors)
            with open(log, encoding="utf-8") as lines:
                self.assertEqual(len(lines.readlines()), 3)

    def test_it_ends_after_a_while(self):
        done = meguri(*SMALL, "--port", "0", "--dns-port", "0", "--for", "100ms")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("40 hosts with ", done.stdout)


class WrongUse(testing.TestCase):
    def test_ports_in_use_or_not_ours(self):
        with socket.socket() as taken:
            taken.bind(("0.0.0.0", 0))
            taken.listen()
            port = str(taken.getsockname()[1])
            done = meguri("--port", port, "--dns-port", "0")
            self.assert_says_one_sentence(done, 1, f"port {port} is in use", "--port")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
            taken.bind(("127.0.0.1", 0))
            port = str(taken.getsockname()[1])
            done = meguri("--port", "0", "--dns-port", port)
            self.assert_says_one_sentence(done, 1, f"port {port} ", "in use", "--dns-port")
        with open("/proc/sys/net/ipv4/ip_unprivileged_port_start", encoding="ascii") as start:
            if int(start.read()) <= 80:
                self.skipTest("everyone may take port 80 here")
        done = testing.run(
            testing.as_nobody([MEGURI, "virtual-web", "--port", "80", "--dns-port", "0"])
        )
        self.assert_says_one_sentence(done, 1, "80", "--port")

    def test_values_that_make_no_sense(self):
        for arguments, sentence in (
            (["--hosts", "0"], "a web has 1 to"),
            (["--hosts", "many"], "--hosts takes a number"),
            (["--hosts", "10", "--pages", "5"], "10 hosts have at least that many pages"),
            (["--servers", "1G"], "at most"),
            (["--port", "70000"], "--port takes a port"),
            (["--speed", "0"], "--speed takes"),
            (["--speed", "nan"], "--speed takes"),
            (["--clock-origin", "2999-01-01"], "a time that has come"),
            (["--delay", "-1"], "--delay takes a duration"),
            (["--for", "soon"], "--for takes a duration"),
            (["--threads", "0"], "--threads takes"),
            (["--https-port", "0"], "needs --ca"),
            (["--start", "yesterday"], "--start takes a time"),
            (["check"], "--log or --captures"),
            (["pages", "--host", "nobody.test"], 'no host "nobody.test"'),
            (["pages", "--reachable-from", "ftp://x/"], "is no URL of this web"),
        ):
            with self.subTest(arguments):
                self.assert_says_one_sentence(meguri(*arguments), 2, sentence)

    def test_files_that_are_missing_or_rubbish(self):
        missing = os.path.join(self.folder, "missing")
        rubbish = self.write("rubbish", "\x01\x02 what\n")
        for arguments, code, name in (
            (["check", "--log", missing], 1, missing),
            (["check", "--captures", missing], 1, missing),
            (["check", "--log", rubbish], 1, rubbish),
            (["check", "--captures", rubbish], 1, rubbish),
            (["--trace", missing], 1, missing),
            (["--trace", rubbish], 1, rubbish),
            (["--graph", missing], 1, missing),
            (["--graph", rubbish], 1, rubbish),
            (["--log", os.path.join(missing, "log")], 1, missing),
        ):
            with self.subTest(arguments):
                self.assert_says_one_sentence(meguri(*arguments), code, name)


if __name__ == "__main__":
    unittest.main()
