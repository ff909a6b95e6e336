"""Archives made of records that a test writes itself."""

import base64
import gzip
import hashlib

SITE = "https://site.example/"


def sha1(data):
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def page(*sentences):
    """A page whose main text is these sentences, a line each."""
    text = "".join(f"<p>{sentence}</p>\n" for sentence in sentences)
    return f"<!doctype html><html><body><nav>Home</nav>{text}</body></html>".encode()


class Visit:
    """One record: a month of 2026, a page, and what came."""

    def __init__(self, month, url, status=200, body=b"", head=b"Content-Type: text/html\r\n",
                 kind="response", digest=True, **fields):
        self.month = month
        self.url = url if "://" in url else SITE + url
        self.status = status
        self.body = body
        self.head = head
        self.kind = kind
        self.digest = digest
        self.fields = fields

    def record(self):
        date = f"2026-{self.month:02}-01T00:00:00Z"
        block = f"HTTP/1.1 {self.status} So\r\n".encode() + self.head + b"\r\n" + self.body
        lines = ["WARC/1.0", f"WARC-Type: {self.kind}",
                 f"WARC-Record-ID: <urn:test:{self.month}:{self.url}>", f"WARC-Date: {date}",
                 f"WARC-Target-URI: {self.url}",
                 "Content-Type: application/http; msgtype=response"]
        if self.digest:
            lines.append(f"WARC-Payload-Digest: {sha1(self.body)}")
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in self.fields.items()]
        lines.append(f"Content-Length: {len(block)}")
        return gzip.compress("\r\n".join(lines).encode() + b"\r\n\r\n" + block + b"\r\n\r\n")


def moved(month, url, target):
    return Visit(month, url, 301, head=f"Location: {target}\r\n".encode())


def not_modified(month, url):
    return Visit(month, url, 304, head=b"", kind="revisit", digest=False,
                 WARC_Profile="http://netpreserve.org/warc/1.1/revisit/server-not-modified")


def identical(month, url, body):
    """A visit whose body was the same, which is left out."""
    return Visit(month, url, 200, kind="revisit", digest=False,
                 WARC_Profile="http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
                 WARC_Payload_Digest=sha1(body))
