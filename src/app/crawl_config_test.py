"""`meguri.toml` from outside: written, changed, obeyed; hosts of their own rules, and proxies."""

import gzip
import http.server
import os
import re
import socket
import socketserver
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
from crawl_test import FAST, WORLD, read_archive
from virtual_web_test import MEGURI, STANDING, VirtualWeb


class Site:
    """A small site on 127.0.0.1 that remembers the requests it got, until the end of a `with`,
    but for its sitemap, which it does not have.

    It is a proxy as well: asked with a whole URL it answers all the same.
    """

    def __init__(self, pages):
        self.requests = []
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if not self.path.endswith("/sitemap.xml"):
                    site.requests.append((self.path, dict(self.headers)))
                path = re.sub(r"^http://[^/]*", "", self.path)
                body = pages.get(path)
                self.send_response(404 if body is None else 200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write((body or "").encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def paths(self):
        return [path for path, _ in self.requests]


PAGES = {
    "/": "<a href=/a>a</a><a href=/b>b</a>",
    "/a": "<a href=/c>c</a>",
    "/b": "",
    "/c": "",
    "/robots.txt": "User-agent: *\nDisallow: /b\n",
}


class Config(testing.TestCase):
    def setUp(self):
        super().setUp()
        self.archive = os.path.join(self.folder, "archive")

    def crawl(self, *more, **options):
        return testing.run([MEGURI, "crawl", "--archive", self.archive, *more], **options)

    def configure(self, text):
        return self.write("archive/meguri.toml", text)

    def archived(self):
        return read_archive(os.path.join(self.archive, "warc"))

    def warc(self):
        folder = os.path.join(self.archive, "warc")
        text = ""
        for name in sorted(os.listdir(folder)):
            with gzip.open(os.path.join(folder, name)) as file:
                text += file.read().decode("latin-1")
        return text

    def assert_done(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)

    def reachable(self, web):
        listed = testing.run(
            [MEGURI, "virtual-web", "pages", *WORLD, *STANDING, "--port", str(web.port)]
            + ["--reachable-from", web.ready["first"], "--from", STANDING[-1]]
        )
        self.assert_done(listed)
        return {line.split("\t")[0] for line in listed.stdout.splitlines()}


class Init(Config):
    def test_writes_a_file_that_a_crawl_then_obeys(self):
        with VirtualWeb(*WORLD, *STANDING, "--delay", "0") as web:
            done = self.crawl("--init", web.ready["first"])
            self.assert_done(done)
            path = os.path.join(self.archive, "meguri.toml")
            self.assertIn(path, done.stdout)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            self.assertIn(web.ready["first"], text)
            for key, value in (
                ("once", "true"),
                ("within", '"any"'),
                ("dns", f'["{web.ready["dns"]}"]'),
                ("allow_networks", '["127.0.0.0/8"]'),
                ("operator", '"The Test Library"'),
                ("prefix", '"tests"'),
                ("contact", '"me@example.org"'),
            ):
                text, changes = re.subn(f"(?m)^#{key} = .*$", f"{key} = {value}", text)
                self.assertEqual(changes, 1, key)
            self.configure(text)
            self.assert_done(self.crawl(*FAST))
            self.assertEqual(self.reachable(web) - set(self.archived()), set())
        warc = self.warc()
        self.assertIn("operator: The Test Library\r\n", warc)
        self.assertRegex(
            warc,
            r"\r\nUser-Agent: Mozilla/5\.0 \(compatible; meguri/\S+; \+mailto:me@example\.org\)",
        )
        names = os.listdir(os.path.join(self.archive, "warc"))
        self.assertTrue(all(name.startswith("tests-") for name in names), names)

    def test_does_not_overwrite(self):
        path = self.configure("once = true\n")
        self.assert_says_one_sentence(self.crawl("--init"), 1, "is there already")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "once = true\n")

    def test_the_example_alone_changes_nothing(self):
        self.assert_done(self.crawl("--init"))
        self.assert_says_one_sentence(self.crawl("--once"), 2, "there are no seeds")


class Seeds(Config):
    def test_come_from_everywhere(self):
        with Site({path: "" for path in "/1 /2 /3 /4 /5".split()}) as site:
            self.configure(
                f'once = true\nseeds = ["{site.url}/1"]\n[politeness]\ndelay = "0s"\n'
                'server_gap = "0s"\n[network]\nallow_networks = ["127.0.0.0/8"]\n'
                "[hints]\nwell_known = false\n"
            )
            self.write("archive/seeds.txt", f"# added\n{site.url}/2\n")
            listed = self.write("listed.txt", f"{site.url}/3\n\n")
            self.assert_done(self.crawl("--seeds", listed, f"{site.url}/4"))
            expected = {f"{site.url}/{n}" for n in (1, 2, 3, 4)}
            self.assertEqual(set(self.archived()), expected)
            self.assert_done(self.crawl("--seeds", "-", input=f"{site.url}/5\n", stdin=None))
            self.assertEqual(set(self.archived()), expected | {f"{site.url}/5"})

    def test_another_file_and_the_command_line_count_more(self):
        with Site(PAGES) as site:
            self.configure("nonsense")
            other = self.write(
                "other.toml",
                f'once = true\nseeds = ["{site.url}/"]\nuser_agent = "file"\n[politeness]\n'
                'delay = "0s"\nserver_gap = "0s"\n[network]\nallow_networks = ["127.0.0.0/8"]\n',
            )
            self.assert_done(self.crawl("--config", other, "--user-agent", "line"))
            agents = {fields["User-Agent"] for _, fields in site.requests}
            self.assertEqual(agents, {"line"})


class Hosts(Config):
    QUICK = (
        'once = true\n[politeness]\ndelay = "0s"\nserver_gap = "0s"\n'
        '[network]\nallow_networks = ["127.0.0.0/8"]\n'
    )

    def test_fields_are_sent_and_not_kept(self):
        with Site(PAGES) as site:
            self.configure(
                self.QUICK + '[[host]]\nmatch = "127.0.0.1"\nuser_agent = "guest"\n'
                'fields = { Cookie = "secret=4711", Accept = "text/x" }\n'
            )
            self.assert_done(self.crawl(f"{site.url}/"))
        self.assertEqual(len(site.requests), 4)  # not /b
        for path, fields in site.requests:
            self.assertEqual(fields["Cookie"], "secret=4711", path)
            self.assertEqual(fields["User-Agent"], "guest", path)
            self.assertEqual(fields["Accept"], "text/x", path)
        warc = self.warc()
        self.assertNotIn("4711", warc)
        self.assertIn("\r\nCookie: (hidden)\r\n", warc)

    def test_robots_may_be_ignored_with_a_warning(self):
        with Site(PAGES) as site:
            self.configure(self.QUICK + '[[host]]\nmatch = "127.0.0.1"\nobey_robots = false\n')
            done = self.crawl(f"{site.url}/")
            self.assert_done(done)
            self.assertIn("robots.txt of 127.0.0.1 is not obeyed", done.stderr)
        self.assertEqual(sorted(site.paths()), ["/", "/a", "/b", "/c"])

    def test_have_a_budget(self):
        with Site(PAGES) as site:
            self.configure(self.QUICK + '[[host]]\nmatch = "127.0.0.1"\nmax_pages = 2\n')
            self.assert_done(self.crawl(f"{site.url}/"))
        self.assertEqual(len(self.archived()), 2)

    def test_are_skipped(self):
        with Site(PAGES) as site:
            self.configure(self.QUICK + '[[host]]\nmatch = "*"\nskip = true\n')
            self.assertIn("nothing was visited", self.crawl(f"{site.url}/").stderr)
        self.assertEqual(site.requests, [])

    def test_are_paused_and_gone_on_with(self):
        with Site(PAGES) as site:
            self.configure(self.QUICK + '[[host]]\nmatch = "127.0.0.1"\npause = true\n')
            self.assert_done(self.crawl(f"{site.url}/"))
            self.assertEqual(site.requests, [])
            self.configure(self.QUICK)
            self.assert_done(self.crawl(f"{site.url}/"))
            self.assertEqual(sorted(site.paths()), ["/", "/a", "/c", "/robots.txt"])

    def gaps_kept(self, log, gap):
        check = testing.run(
            [MEGURI, "virtual-web", "check", *WORLD, "--log", log, "--host-gap", gap]
            + ["--server-gap", "0"]
        )
        return check.returncode == 0

    def test_have_delays_of_their_own(self):
        for own, kept, broken in (("1s", "1s", "5s"), ("20s", "20s", "40s")):
            log = os.path.join(self.folder, f"access-{own}.log")
            self.archive = os.path.join(self.folder, own)
            self.write(
                f"{own}/meguri.toml",
                'once = true\n[scope]\nwithin = "any"\n[politeness]\nserver_gap = "0s"\n'
                '[limits]\nmax_pages_per_host = 4\n[network]\nallow_networks = ["127.0.0.0/8"]\n'
                f'[[host]]\nmatch = "*.test"\ndelay = "{own}"\n',
            )
            with VirtualWeb(*WORLD, *FAST, "--delay", "0", "--log", log) as web:
                self.assert_done(self.crawl(web.ready["first"], "--dns", web.ready["dns"], *FAST))
            self.assertTrue(self.gaps_kept(log, kept), own)
            self.assertFalse(self.gaps_kept(log, broken), own)


class Proxies(Config):
    def test_a_crawl_without_names_of_its_own(self):
        with VirtualWeb(*WORLD, *STANDING, "--delay", "0") as web:
            self.configure(
                'once = true\n[scope]\nwithin = "any"\n'
                f'[network]\nproxy = "http://127.0.0.1:{web.port}"\ndns = ["127.0.0.1:1"]\n'
            )
            self.assert_done(self.crawl(web.ready["first"], *FAST))
            self.assertEqual(self.reachable(web) - set(self.archived()), set())
        self.assertNotIn("WARC-IP-Address", self.warc())

    def test_some_hosts_have_their_own_and_some_have_none(self):
        with Site({"/": "all"}) as common, Site({"/": "own"}) as own, Site({"/": "none"}) as none:
            self.configure(
                'once = true\n[politeness]\ndelay = "0s"\nserver_gap = "0s"\n'
                f'[network]\nproxy = "{common.url}"\nno_proxy = ["127.0.0.1"]\n'
                'allow_networks = ["127.0.0.0/8"]\n'
                f'[[host]]\nmatch = "*.b.test"\nproxy = "{own.url}"\n'
            )
            self.assert_done(
                self.crawl("http://a.test/", "http://www.b.test/", f"http://127.0.0.1:{none.port}/")
            )
        self.assertEqual(common.paths(), ["http://a.test/robots.txt", "http://a.test/"])
        self.assertEqual(own.paths(), ["http://www.b.test/robots.txt", "http://www.b.test/"])
        self.assertEqual(none.paths(), ["/robots.txt", "/"])

    def test_private_addresses_are_not_asked_for_through_one(self):
        with Site({"/": ""}) as proxy:
            self.configure(f'once = true\n[network]\nproxy = "{proxy.url}"\n')
            done = self.crawl("http://10.0.0.1/", "http://[::1]/")
            self.assertIn("addresses that are not public", done.stderr)
        self.assertEqual(proxy.requests, [])


class Tunnel(socketserver.ThreadingTCPServer):
    """A proxy that connects all who ask by CONNECT to one server, whatever host they name."""

    daemon_threads = True

    def __init__(self, target):
        self.asked = []
        tunnel = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                tunnel.asked.append(self.rfile.readline().split()[1].decode())
                while self.rfile.readline().strip():
                    pass
                with socket.create_connection(target) as server:
                    self.wfile.write(b"HTTP/1.1 200 Connected\r\n\r\n")
                    back = threading.Thread(target=self.copy, args=(server, self.connection))
                    back.start()
                    self.copy(self.connection, server)
                    back.join()

            @staticmethod
            def copy(source, to):
                try:
                    while data := source.recv(1 << 16):
                        to.sendall(data)
                    to.shutdown(socket.SHUT_WR)
                except OSError:
                    pass

        super().__init__(("127.0.0.1", 0), Handler)

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return super().__enter__()

    def __exit__(self, *arguments):
        self.shutdown()
        super().__exit__(*arguments)


class Tunnels(Config):
    def test_a_crawl_over_https_through_a_proxy(self):
        authority = os.path.join(self.folder, "ca.pem")
        with VirtualWeb(
            *WORLD, *STANDING, "--delay", "0", "--https-port", "0", "--ca", authority
        ) as web, Tunnel(("127.1.0.1", web.ready["https_port"])) as tunnel:
            seed = f"https://{web.first}:{web.ready['https_port']}/"
            self.configure(
                f'once = true\nseeds = ["{seed}"]\n[limits]\nmax_pages = 10\n[network]\n'
                f'proxy = "http://127.0.0.1:{tunnel.server_address[1]}"\nca = "../ca.pem"\n'
            )
            self.assert_done(self.crawl(*FAST))
        self.assertIn(f"{web.first}:{web.ready['https_port']}", tunnel.asked)
        self.assertGreater(len(self.archived()), 5)
        self.assertNotIn("WARC-Type: metadata", self.warc())
        self.assertIn(f"GET / HTTP/1.1\r\nHost: {web.first}", self.warc())


class WrongFiles(Config):
    def test_get_one_sentence(self):
        for text, parts in (
            ("once = true\n[politeness]\ndelya = '5s'", (":3: ", "did you mean 'delay'?")),
            ("once = yes", (":1: ",)),
            ("[limits]\nmax_pages = 'many'", (":2: max_pages takes a number",)),
            ("[network]\nproxy = 'nowhere'", (":2: proxy is a URL such as",)),
            ("seeds = ['nonsense']", ('"nonsense" is no http or https URL',)),
        ):
            with self.subTest(text):
                path = self.configure(text)
                done = self.crawl("http://a.test/", "--once")
                self.assert_says_one_sentence(done, 2, *parts)
                if ":" in parts[0][:1]:
                    self.assertIn(path + parts[0], done.stderr)

    def test_files_that_are_not_there(self):
        done = self.crawl("--once", "--config", os.path.join(self.folder, "none.toml"))
        self.assert_says_one_sentence(done, 1, "none.toml")
        done = self.crawl("--once", "--seeds", os.path.join(self.folder, "none.txt"))
        self.assert_says_one_sentence(done, 1, "none.txt")
        seeds = self.write("seeds.txt", "http://a.test/\nnot a URL\n")
        self.assert_says_one_sentence(self.crawl("--once", "--seeds", seeds), 2, "seeds.txt:2: ")


if __name__ == "__main__":
    unittest.main()
