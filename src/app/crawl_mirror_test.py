"""A real manual, served by nginx: `meguri crawl` and `wget --mirror` ask for the same URLs."""

import os
import shutil
import socket
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testing
from crawl_testing import archived
from virtual_web_test import MEGURI

# Of clang-15-doc, with styles, scripts and images, and of maint-guide-ja, in Japanese.
CLANG = "/usr/share/doc/clang-15/html"
GUIDE = "/usr/share/doc/maint-guide-ja/html"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin")

CONFIGURATION = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
  include /etc/nginx/mime.types;
  log_format told '$http_user_agent\\t$status\\t$request_uri';
  access_log {folder}/access.log told;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port}; root {root}; }}
}}
"""


def free_port():
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        return some.getsockname()[1]


class Nginx:
    """Serves `root` until the end of a `with`; its files are in `folder`."""

    def __init__(self, folder, root):
        self.log = os.path.join(folder, "access.log")
        # Somebody else may take a port that was free a moment ago.
        for _ in range(5):
            self.port = free_port()
            path = os.path.join(folder, "nginx.conf")
            with open(path, "w", encoding="utf-8") as file:
                file.write(CONFIGURATION.format(folder=folder, port=self.port, root=root))
            self.process = subprocess.Popen(
                [NGINX, "-e", os.path.join(folder, "error.log"), "-c", path],
                stderr=subprocess.DEVNULL,
            )
            if self.answers():
                return
            self.process.wait()
        raise AssertionError("nginx does not start")

    def answers(self):
        while self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return True
            except OSError:
                time.sleep(0.02)
        return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def asked_by(self, agent):
        """Status by target, of all that a client asked for; robots.txt left out."""
        asked = {}
        with open(self.log, encoding="utf-8") as lines:
            for line in lines:
                who, status, target = line.rstrip("\n").split("\t")
                if agent in who and target != "/robots.txt":
                    asked.setdefault(target, []).append(int(status))
        return asked


@unittest.skipIf(NGINX is None, "nginx is not installed")
@unittest.skipIf(shutil.which("wget") is None, "wget is not installed")
class Mirror(testing.TestCase):
    @unittest.skipIf(not os.path.isdir(CLANG), "clang-15-doc is not installed")
    def test_of_a_large_manual(self):
        self.compare(CLANG, "index.html", 100)

    @unittest.skipIf(not os.path.isdir(GUIDE), "maint-guide-ja is not installed")
    def test_of_a_manual_in_japanese(self):
        self.compare(GUIDE, "index.ja.html", 10)

    def compare(self, root, first, urls_min):
        """Both begin with the same page. There is no difference that would have to be explained."""
        archive = os.path.join(self.folder, "archive")
        self.write("archive/meguri.toml", "[hints]\nwell_known = false\n")
        with Nginx(self.folder, root) as server:
            seed = f"http://127.0.0.1:{server.port}/{first}"
            wget = testing.run(
                ["wget", "--quiet", "--mirror", "--page-requisites", "--no-proxy", seed],
                cwd=self.folder,
            )
            self.assertIn(wget.returncode, (0, 8), wget.stderr)  # 8: some were not found
            crawl = testing.run(
                [MEGURI, "crawl", seed, "--archive", archive, "--once", "--min-delay", "0"]
                + ["--delay-factor", "0", "--server-gap", "0", "--allow-network", "127.0.0.0/8"]
            )
            self.assertEqual(crawl.returncode, 0, crawl.stderr)
            by_wget = server.asked_by("Wget")
            by_meguri = server.asked_by("meguri")
        self.assertGreater(len(by_wget), urls_min)
        self.assertEqual(sorted(set(by_wget) - set(by_meguri)), [])
        self.assertEqual(sorted(set(by_meguri) - set(by_wget)), [])
        for target, statuses in by_meguri.items():
            self.assertEqual((target, statuses), (target, [by_wget[target][0]]))
        base = f"http://127.0.0.1:{server.port}"
        held = {url.removeprefix(base): ones for url, ones in archived(archive).items()}
        self.assertEqual(
            {target: [one.status for one in ones] for target, ones in held.items()}, by_meguri
        )


if __name__ == "__main__":
    unittest.main()
