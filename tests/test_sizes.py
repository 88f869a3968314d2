"""The sizes of the rooms, which only go down.

Lines of Python are those with code: no docstrings, comments or blank lines. Lines of C++ are all lines.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

import pytest

import corate

SOURCE = Path(corate.__file__).parent
NATIVE = Path(__file__).resolve().parents[1] / "native"
#: Lines by folder of `src/corate`, the modules beside the folders being "(top)".
ROOMS = {
    "(top)": 943,
    "cli": 4054,
    "compat": 1192,
    "corpus": 1940,
    "counting": 1586,
    "demo": 188,
    "evaluation": 1031,
    "features": 1216,
    "formats": 2520,
    "graphs": 2502,
    "inference": 622,
    "inspection": 302,
    "io": 956,
    "model": 3625,
    "optimize": 806,
    "pages": 467,
    "rate": 2781,
    "sklearn": 423,
    "spacy": 286,
    "spark": 753,
    "training": 5690,
}
#: Lines by folder of `native`.
NATIVE_ROOMS = {
    "bindings": 2065,
    "chain": 2925,
    "clustering": 420,
    "core": 1816,
    "counting": 1404,
    "decoding": 1997,
    "features": 2089,
    "graphs": 269,
    "inference": 2782,
    "text": 731,
    "training": 2137,
}
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_lines(source: str) -> int:
    """The lines of a module that have code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            value = first.value if isinstance(first, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                lines.difference_update(range(value.lineno, (value.end_lineno or value.lineno) + 1))
    return len(lines)


def rooms(folder: Path, *endings: str) -> dict[str, int]:
    """The lines of each room: code in Python, all lines otherwise."""
    sizes: Counter[str] = Counter()
    for path in sorted(folder.rglob("*")):
        if path.suffix in endings:
            text, place = path.read_text(encoding="utf-8"), path.relative_to(folder).parts
            room = place[0] if len(place) > 1 else "(top)"
            sizes[room] += code_lines(text) if path.suffix == ".py" else text.count("\n")
    return dict(sorted(sizes.items()))


def advice(sizes: dict[str, int], table: dict[str, int]) -> str:
    """What to do where sizes differ from the table; empty if none does."""
    said = []
    for room in sorted(sizes.keys() | table.keys()):
        now, before = sizes.get(room, 0), table.get(room, 0)
        if now < before:
            said.append(f"{room}: {now:,} lines, were {before:,}. Good: lower the number here to {now}.")
        elif now > before:
            said.append(
                f"{room}: {now:,} lines, were {before:,}. Make it smaller: does another place already do this, or can "
                f"something go? If it must grow, raise the number to {now}, and say why in the commit message."
            )
    return "\n".join(said)


def test_lines_of_code_are_counted_without_docstrings_comments_and_blank_lines() -> None:
    head = '"""A module."""\n\n# A comment\nX = """two\nlines"""\n\n\n'
    source = head + 'def f():\n    """Says so.\n\n    More.\n    """\n    return X  # one\n'
    assert code_lines(source) == 4


def test_the_advice_names_the_room_and_the_number() -> None:
    assert advice({"io": 5}, {"io": 5}) == ""
    assert "io: 4 lines, were 5. Good: lower the number here to 4" in advice({"io": 4}, {"io": 5})
    assert "io: 6 lines, were 5. Make it smaller" in advice({"io": 6}, {"io": 5})
    assert "new: 3 lines, were 0" in advice({"new": 3}, {})
    assert "gone: 0 lines, were 3" in advice({}, {"gone": 3})


def test_no_room_of_the_library_grows() -> None:
    problem = advice(rooms(SOURCE, ".py"), ROOMS)
    assert not problem, f"ROOMS in {Path(__file__).name}:\n{problem}"


@pytest.mark.skipif(not NATIVE.is_dir(), reason="the native sources are not here")
def test_no_room_of_the_native_module_grows() -> None:
    problem = advice(rooms(NATIVE, ".cpp", ".h"), NATIVE_ROOMS)
    assert not problem, f"NATIVE_ROOMS in {Path(__file__).name}:\n{problem}"
