"""An analyser that answers as docs/formats/scan.md says, and fails as it is told.

Usage: scan_analyser_testing.py [FAULT=CHANCE]... [poison=WORD] [slow=SECONDS]

Faults: crash, exit, hang, rubbish, wrong, early, half. A chance is in thousands. A document whose
URL holds the word crashes it always.
"""

import json
import os
import random
import signal
import sys
import time


def documents():
    while line := sys.stdin.buffer.readline():
        document = json.loads(line)
        document["content"] = sys.stdin.buffer.read(document["length"])
        yield document


def answer(document, result):
    sys.stdout.buffer.write(b"%d %d\n" % (document["number"], len(result)) + result)
    sys.stdout.buffer.flush()


def say(text):
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


def fail(fault, document):
    print(f"{fault} at {document['url']}", file=sys.stderr, flush=True)
    if fault == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif fault == "exit":
        sys.exit(3)
    elif fault == "hang":
        time.sleep(1000)
    elif fault == "rubbish":
        say(b"this is no result\n" * 10)
    elif fault == "wrong":
        say(b"%d 2\nno" % (document["number"] + 1))
    elif fault == "early":
        sys.exit(0)
    elif fault == "half":
        say(b"%d 1000\nonly so much" % document["number"])
        sys.exit(0)


def main(arguments):
    told = dict(argument.split("=") for argument in arguments)
    poison = told.pop("poison", None)
    slow = float(told.pop("slow", 0))
    for document in documents():
        if poison and poison in document["url"]:
            fail("crash", document)
        for fault, chance in told.items():
            if random.randrange(1000) < int(chance):
                fail(fault, document)
        if slow:
            time.sleep(slow)
        answer(document, f"{document['url']} {len(document['content'])}\n".encode())


main(sys.argv[1:])
