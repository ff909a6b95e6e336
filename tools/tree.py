"""The files of a repository, and its C++ without comments and strings. Shared by the checks."""

import os
import re
import sys

GENERATED = {".git", "build", "node_modules", "__pycache__"}


def files(root):
    """Yields the path of every file that somebody wrote, relative to root, in order."""
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(
            name
            for name in subfolders
            if name not in GENERATED
            and not os.path.exists(os.path.join(folder, name, "CMakeCache.txt"))
        )
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name), root)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


_NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"'
    r'|"(?:[^"\\\n]|\\.)*"|(?<![0-9a-fA-F])\'(?:[^\'\\\n]|\\.)*\'',
    re.DOTALL,
)


def code_of(text):
    """C++ text with comments and literals blanked; line numbers stay."""
    return _NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def main(check, doc):
    """Runs check(root), which yields breaches, on the root given or that of this repository."""
    if len(sys.argv) > 2 or any(argument.startswith("-") for argument in sys.argv[1:]):
        print(doc.strip())
        sys.exit(0 if sys.argv[1] in ("-h", "--help") else 2)
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    breaches = list(check(sys.argv[1] if len(sys.argv) == 2 else here))
    for breach in breaches:
        print(breach)
    sys.exit(1 if breaches else 0)
