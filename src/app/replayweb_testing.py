"""For tests: ReplayWeb.page in a real browser, which opens a WACZ and replays its pages.

The browser is Debian's Chromium, told what to do through its chromedriver (the W3C WebDriver
protocol); the viewer is the npm package replaywebpage. A WACZ is read by ranges over HTTP.
"""

import base64
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../archive"))
import testing
import warc_peers_test as peers

SHOW_SECONDS_MAX = 45  # until a page is there: generous, for a busy machine
# A first page may ask for its frame before its service worker answers, and then stays empty for
# ever (412 in ReplayWeb.page's tracker). People reload it; so does a test.
LOADS_MAX = 4
ANSWER_SECONDS_MAX = 300  # of chromedriver, which starts the browser

VIEW = """<!doctype html><title>view</title><script src="/ui.js"></script>
<style>body {{ margin: 0 }} replay-web-page {{ display: block; height: 100vh }}</style>
<replay-web-page source="{source}" url="{url}" {date} replayBase="/replay/" embed="default">
</replay-web-page>
"""

# The text of the frame with the replayed page, by the URL it believes to have. The viewer puts
# frames into shadow trees, and those into frames.
TEXTS = """
const texts = {};
function look(root) {
  for (const element of root.querySelectorAll("*")) {
    if (element.shadowRoot) look(element.shadowRoot);
    if (element.localName !== "iframe" || !element.contentDocument) continue;
    const inner = element.contentDocument;
    if (element.classList.contains("iframe-main") && inner.body) {
      texts[inner.URL] = inner.body.innerText;
    }
    look(inner);
  }
}
look(document);
return texts;
"""


def missing():
    """What keeps the browser from being asked, for people; None if nothing does."""
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        return "Chromium and chromedriver are not installed"
    if not peers.has_replaywebpage():
        return "the npm package replaywebpage cannot be fetched"
    return None


class Handler(http.server.BaseHTTPRequestHandler):
    """Files by name, whole or one range of them."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer(has_body=False)

    def do_GET(self):
        self.answer(has_body=True)

    def answer(self, has_body):
        name = urllib.parse.urlsplit(self.path).path
        if name == "/view":
            query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
            date = f'ts="{query["date"]}"' if "date" in query else ""
            page = VIEW.format(source=query["source"], url=query["url"], date=date)
            return self.send(200, "text/html", page.encode("utf-8"), has_body)
        path = self.server.files.get(name)
        if path is None:
            return self.send(404, "text/plain", b"", has_body)
        kind = "text/javascript" if name.endswith(".js") else "application/octet-stream"
        size = os.path.getsize(path)
        begin, end, status = 0, size, 200
        wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if wanted and wanted[0] != "bytes=-":
            status = 206
            begin = int(wanted[1]) if wanted[1] else max(size - int(wanted[2]), 0)
            if wanted[1] and wanted[2]:
                end = min(int(wanted[2]) + 1, size)
        with open(path, "rb") as file:
            file.seek(begin)
            body = file.read(end - begin)
        extra = {"Content-Range": f"bytes {begin}-{end - 1}/{size}"} if status == 206 else {}
        self.server.ranges += status == 206
        return self.send(status, kind, body, has_body, extra)

    def send(self, status, kind, body, has_body, extra=None):
        self.send_response(status)
        for field, value in {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Accept-Ranges": "bytes",
            "Cache-Control": "no-store",
            **(extra or {}),
        }.items():
            self.send_header(field, value)
        self.end_headers()
        if has_body:
            self.wfile.write(body)


class Driver:
    """A browser without a screen, while the block lasts."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="meguri-browser-")
        self.process = None
        self.session = None

    def __enter__(self):
        self.process = subprocess.Popen(
            ["chromedriver", "--port=0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        said = (re.search(r"started successfully on port (\d+)", line)
                for line in self.process.stdout)
        self.root = f"http://127.0.0.1:{next(match[1] for match in said if match)}"
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--no-proxy-server", "--window-size=1200,900",
                     f"--user-data-dir={self.profile}"]
        options = {"binary": shutil.which("chromium"), "args": arguments}
        try:
            told = self.ask("POST", "/session", {
                "capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}})
        except BaseException:
            self.__exit__()
            raise
        self.session = f"/session/{told['sessionId']}"
        return self

    def __exit__(self, *_):
        try:
            if self.session:
                self.ask("DELETE", self.session)  # ends the browser
        finally:
            self.process.terminate()
            self.process.communicate()
            shutil.rmtree(self.profile, ignore_errors=True)

    def ask(self, method, path, body=None):
        request = urllib.request.Request(
            self.root + path,
            method=method,
            data=None if body is None else json.dumps(body).encode("utf-8"),
            headers={"Content-Type": "application/json"},
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=ANSWER_SECONDS_MAX) as answer:
            return json.load(answer)["value"]

    def go(self, url):
        self.ask("POST", f"{self.session}/url", {"url": url})

    def run(self, script):
        return self.ask("POST", f"{self.session}/execute/sync", {"script": script, "args": []})

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("GET", f"{self.session}/screenshot")))


class Viewer:
    """ReplayWeb.page with these WACZ files, by name, while the block lasts."""

    def __init__(self, files):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.files = {
            "/ui.js": os.path.join(peers.REPLAYWEBPAGE, "ui.js"),
            "/replay/sw.js": os.path.join(peers.REPLAYWEBPAGE, "sw.js"),
            **{"/" + name: path for name, path in files.items()},
        }
        self.server.ranges = 0  # how many were asked for
        self.driver = Driver()

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        try:
            self.driver.__enter__()
        except BaseException:
            self.stop_server()
            raise
        return self

    def __exit__(self, *_):
        try:
            self.driver.__exit__()
        finally:
            self.stop_server()

    def stop_server(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def show(self, name, url, sentence, date=None):
        """Opens a page of a WACZ; returns what the replayed page says, once that has `sentence`.

        After LOADS_MAX times SHOW_SECONDS_MAX it returns what is there, and leaves a picture of
        it.
        """
        query = {"source": "/" + name, "url": url, **({"date": date} if date else {})}
        port = self.server.server_address[1]
        texts = {}

        def is_there():
            return sentence in texts.get(url, "")

        def look():
            texts.clear()
            texts.update(self.driver.run(TEXTS))
            return is_there()

        for _ in range(LOADS_MAX):
            self.driver.go(f"http://127.0.0.1:{port}/view?{urllib.parse.urlencode(query)}")
            testing.wait_until(look, SHOW_SECONDS_MAX)
            if is_there():
                break
        if not is_there():
            os.makedirs(peers.PEERS, exist_ok=True)
            picture = os.path.join(peers.PEERS, "replayweb-failure.png")
            self.driver.screenshot(picture)
            texts["picture"] = picture
        return texts
