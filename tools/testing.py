"""What the tests of the command line share: running programs, as nobody or on a full disk."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run(command, **options):
    """Runs a command, without input unless given, and returns it done, with its output as text."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("MEGURI_")
    }
    environment.update(options.pop("environment", {}))
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("encoding", "utf-8")
    options.setdefault("timeout", 240)  # seconds
    return subprocess.run(
        command,
        env=environment,
        stderr=subprocess.PIPE,
        check=False,
        **options,
    )


def wait_until(condition, seconds=60):
    """Returns when it holds, or after so long."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)


def as_nobody(command):
    """The command under a user who may write nowhere: permissions do not bind root."""
    if os.geteuid() != 0:
        return command
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--", *command]


def on_tmpfs(folder, options, command):
    """The command where a file system of its own, with these options, stands at `folder`."""
    script = 'mount -t tmpfs -o "$1" tmpfs "$0" && shift && exec "$@"'
    return ["unshare", "--mount", "sh", "-c", script, folder, options, *command]


def can_mount(folder):
    return os.geteuid() == 0 and run(on_tmpfs(folder, "size=4k", ["true"])).returncode == 0


class TestCase(unittest.TestCase):
    """Each test has a folder of its own that everyone can enter."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="meguri-test-")
        os.chmod(self.folder, 0o755)
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, path, text, mode=0o644):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def assert_says_one_sentence(self, done, code, *parts):
        """It ended with `code`, printed nothing, and said one line that holds the parts."""
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout or "", "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)
