"""For tests: pywb, which replays the WARC files of a crawl."""

import gzip
import os
import shutil
import subprocess
import sys
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../archive"))
import testing
import warc_peers_test as peers

# Serves the collections of the folder it is started in, and says at which port.
SCRIPT = """
from pywb.apps.frontendapp import FrontEndApp
from pywb.utils.geventserver import GeventServer
server = GeventServer(FrontEndApp(), port=0, hostname="127.0.0.1")
print(f"port {server.port}", flush=True)
server.join()
"""


class KeepRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Shown:
    """What a client is told: status and body."""

    def __init__(self, request):
        # A redirect is an answer too.
        opener = urllib.request.build_opener(KeepRedirects, urllib.request.ProxyHandler({}))
        try:
            answer = opener.open(request, timeout=60)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            self.status = answer.status
            self.body = answer.read()
            self.is_gzip = answer.headers.get("Content-Encoding") == "gzip"

    def text(self):
        return gzip.decompress(self.body) if self.is_gzip else self.body


class Pywb:
    """A collection of these files, replayed while the block lasts: by an index that pywb makes, or
    by a CDXJ file that is given."""

    def __init__(self, folder, files, index=None):
        self.place = os.path.join(folder, "pywb")
        self.files = files
        self.index = index

    def __enter__(self):
        manager = os.path.join(os.path.dirname(peers.PYWB_PYTHON), "wb-manager")
        os.mkdir(self.place)
        for command in (["init", "all"], ["add", "all", *self.files]):
            done = testing.run([manager, *command], cwd=self.place, timeout=600)
            if done.returncode != 0:
                raise RuntimeError(done.stderr)
        if self.index is not None:
            shutil.copy(self.index, os.path.join(self.place, "collections/all/indexes/index.cdxj"))
        self.server = subprocess.Popen(
            [peers.PYWB_PYTHON, "-c", SCRIPT],
            cwd=self.place,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        # It says other things too.
        said = next(line for line in self.server.stdout if line.startswith("port "))
        self.root = f"http://127.0.0.1:{said.split()[1]}/all"
        return self

    def __exit__(self, *_):
        self.server.kill()
        self.server.communicate()

    def show(self, visit):
        """A visit as it was stored, its links untouched."""
        digits = "".join(c for c in visit.date[:19] if c.isdigit())
        request = urllib.request.Request(f"{self.root}/{digits}id_/{visit.url}")
        request.add_header("Accept-Encoding", "gzip, br")  # else pywb decodes it
        return Shown(request)
