"""The commands in README.md and docs/ run as they stand, and print what is shown. (Python there is doctested.)"""

import doctest
import os
import re
import subprocess
import sys
import sysconfig
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = ["README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))]

#: Not run: they install, or run the tests this is one of.
LEFT_OUT = re.compile(r"(make|pip|git)\b|\.venv/|python3? -m (pip|pytest|benchmarks)\b")
#: A block of commands; in a list or a tab it is indented.
BLOCK = re.compile(r"^( *)```(sh|console)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
#: What differs from run to run; the unit must be the one shown.
TIMES = re.compile(r"\b\d[\d,.]*(?=(?: (?:s|tokens a second)|x)\b)")
#: What may differ a little from machine to machine, and by how much.
SIZES, SHARE = re.compile(r"\b\d[\d,.]*(?= (?:kB|MB|bytes a token)\b)"), 0.1
SCORES, POINTS = re.compile(r"(?<![\d.])\d+\.\d\d(?=%)"), 0.5

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the documents show a POSIX shell")


@dataclass(frozen=True)
class Step:
    line: int
    command: str
    shown: str | None


def steps(text):
    """The commands of a document: a console block has one after each $, a sh block is one as a whole."""
    found = []
    for block in BLOCK.finditer(text):
        line, body = text.count("\n", 0, block.start()) + 2, textwrap.dedent(block[3])
        if block[2] == "sh":
            kept = [row for row in body.splitlines() if not LEFT_OUT.match(row)]
            found.append(Step(line, "\n".join(kept), None))
            continue
        for part in re.finditer(r"^\$ (.*\n(?:> .*\n)*)((?!\$ )(?:.*\n))*?(?=^\$ |\Z)", body, re.MULTILINE):
            command = re.sub(r"^> ", "", part[1], flags=re.MULTILINE)
            found.append(Step(line, command, body[part.end(1) : part.end()]))
    return [step for step in found if step.command.strip() and not LEFT_OUT.match(step.command)]


def agree(shown, printed):
    """Whether an output is the one shown: times aside, ``...`` for anything, sizes and scores nearly."""
    for pattern in (SIZES, SCORES):
        numbers = [[float(number.replace(",", "")) for number in pattern.findall(text)] for text in (shown, printed)]
        for a, b in zip(*numbers, strict=False):
            if abs(a - b) > (POINTS if pattern is SCORES else SHARE * a):
                return False
    for pattern in (TIMES, SIZES, SCORES):
        shown, printed = pattern.sub("#", shown), pattern.sub("#", printed)
    return doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_run_and_print_what_is_shown(document, tmp_path):
    scripts = os.pathsep.join([sysconfig.get_path("scripts"), str(Path(sys.executable).parent)])
    quiet = {"SKBUILD_EDITABLE_VERBOSE": "0", "LC_ALL": "C.UTF-8"}
    environment = {**os.environ, **quiet, "PATH": os.pathsep.join([scripts, os.environ["PATH"]])}
    for step in steps((ROOT / document).read_text(encoding="utf-8")):
        run = subprocess.run(
            ["sh", "-e", "-c", step.command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        place = f"{document}, the block at line {step.line}:\n{step.command}"
        printed = run.stdout + run.stderr
        assert run.returncode == (1 if "corate: error:" in (step.shown or "") else 0), f"{place}\n{printed}"
        if step.shown is not None:
            assert agree(step.shown, printed), f"{place}\nprinted:\n{printed}\nthe document shows:\n{step.shown}"


@pytest.mark.parametrize("document", [*DOCUMENTS, "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md"])
def test_links_lead_somewhere(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, heading = link.partition("#")
        if "://" in link:
            continue
        target = (ROOT / document).parent / path if path else ROOT / document
        assert target.exists(), f"{document} links to {link}"
        if heading:
            titles = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles], link


# -- the reading of documents itself ---------------------------------------------------------------------------------

SAMPLE = """\
```sh
make test
echo one
echo two
```
```console
$ echo a
a
$ cat <<END
> b
> END
b

c
$ pip install .
```
1. In a list:

    ```console
    $ echo d
    d
    ```
"""


def test_commands_are_found_with_what_is_shown():
    assert [(step.command, step.shown) for step in steps(SAMPLE)] == [
        ("echo one\necho two", None),
        ("echo a\n", "a\n"),
        ("cat <<END\nb\nEND\n", "b\n\nc\n"),
        ("echo d\n", "d\n"),
    ]


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("trained in 0.35 s, 2.8 MB", "trained in 1.20 s, 2.9 MB", True),
        ("model: 5.0 MB", "model: 6.0 MB", False),
        ("accuracy 97.36%", "accuracy 97.12%", True),
        ("accuracy 97.36%", "accuracy 95.12%", False),
        ("4,000 sentences", "4,001 sentences", False),
        ("a\n...\nz\n", "a\nb\nc\nz\n", True),
        ("", "corate: warning: something\n", False),
    ],
)
def test_output_is_compared_but_for_what_is_measured(shown, printed, same):
    assert agree(shown, printed) == same
