"""Ready-made sets of templates, chosen by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from corate.corpus import word_column
from corate.errors import Argument, FeatureError
from corate.features.templates import Template, parse_list
from corate.features.word_functions import unknown

__all__ = ["PRESETS", "pos_column", "preset"]

#: The spelling features of the paper (section "POS Tagging Experiment"), each a separate test, and the word.
_PAPER = """
word[0]
starts_digit(word[0])
starts_upper(word[0])
has_hyphen(word[0])
ends_with(word[0], ing)
ends_with(word[0], ogy)
ends_with(word[0], ed)
ends_with(word[0], s)
ends_with(word[0], ly)
ends_with(word[0], ion)
ends_with(word[0], tion)
ends_with(word[0], ity)
ends_with(word[0], ies)
"""

_WINDOW = """
word[-2]
word[-1]
word[0]
word[1]
word[2]
word[-1]|word[0]
word[0]|word[1]
"""

_AFFIXES = """
prefix(word[0], 1)
prefix(word[0], 2)
prefix(word[0], 3)
prefix(word[0], 4)
suffix(word[0], 1)
suffix(word[0], 2)
suffix(word[0], 3)
suffix(word[0], 4)
"""

_POS = f"""{_WINDOW}
lower(word[0])
{_AFFIXES}
suffix(word[0], 5)
short_shape(word[0])
letter_class(word[0])
starts_upper(word[0])
has_digit(word[0])
has_hyphen(word[0])
related_start(word[0])
related_end(word[0])
"""


def _ner(shape_nearby: str) -> str:
    """The templates for names, with a function for the shapes of the neighbours."""
    return f"""{_WINDOW}
lower(word[0])
{_AFFIXES}
{shape_nearby}(word[-1])
shape(word[0])
{shape_nearby}(word[1])
starts_upper(word[0])
all_upper(word[0])
has_digit(word[0])
has_hyphen(word[0])
"""


_NER_POS = """
short_shape(word[0])
pos[-2]
pos[-1]
pos[0]
pos[1]
pos[2]
pos[-1]|pos[0]
pos[0]|pos[1]
"""

#: What presets add for the columns of a tree: parts of speech nearby, the relation, and the word of the head.
_TREE = ("pos[-1]", "pos[0]", "pos[1]", "deprel[0]", "head.word[0]")

#: The usual window for CoNLL-2000 (words and word pairs; parts of speech, their pairs and triples), and spelling.
_CHUNKING = f"""
lower(word[0])
prefix(word[0], 3)
suffix(word[0], 2)
suffix(word[0], 3)
short_shape(word[0])
{_WINDOW}
pos[-2]
pos[-1]
pos[0]
pos[1]
pos[2]
pos[-2]|pos[-1]
pos[-1]|pos[0]
pos[0]|pos[1]
pos[1]|pos[2]
pos[-2]|pos[-1]|pos[0]
pos[-1]|pos[0]|pos[1]
pos[0]|pos[1]|pos[2]
"""

#: The templates of each preset for a corpus without parts of speech, and for one with them.
PRESETS: dict[str, tuple[str, str]] = {
    "paper": (_PAPER, _PAPER),
    "pos": (_POS, _POS),
    "ner": (_ner("shape"), _ner("short_shape") + _NER_POS),
    "chunking": (_CHUNKING, _CHUNKING),
}

_POS_NAMES = ("pos", "upos", "xpos", "postag")


def pos_column(columns: Sequence[str]) -> str | None:
    """The column that holds parts of speech, None if there is none."""
    return next((p for p in _POS_NAMES if p in columns and p != word_column(columns)), None)


def preset(name: str, columns: Sequence[str]) -> tuple[Template, ...]:
    """The templates of a preset, for a corpus with these (observed) columns.

    The word is the column ``word``, else the first; parts of speech are the column ``pos``, ``upos``, ``xpos`` or
    ``postag``. Without such a column, ``ner`` omits parts of speech, and ``chunking`` raises FeatureError. If the
    columns of a tree are there, all presets but ``paper`` use them.

    >>> len(preset("paper", ["word"]))
    13
    >>> [str(t) for t in preset("ner", ["token", "pos"])][-3:]
    ['pos[2]', 'pos[-1]|pos[0]', 'pos[0]|pos[1]']
    >>> [str(t) for t in preset("pos", ["word", "deprel", "head.word"])][-2:]
    ['deprel[0]', 'head.word[0]']
    """
    if name not in PRESETS:
        raise FeatureError(unknown("preset", name, list(PRESETS)))
    if not columns:
        raise FeatureError(f"the preset {name!r} needs words, but the data has only ready-made features and no columns")
    names, pos = {"word": word_column(columns)}, pos_column(columns)
    if pos is not None:
        names["pos"] = pos
    templates = parse_list(PRESETS[name][pos is not None].splitlines())
    if name != "paper" and "head.word" in columns:
        of_tree = (t for t in parse_list(_TREE) if t.columns[0] in (*names, *columns) and t not in templates)
        templates = (*templates, *of_tree)
        names |= {name: name for name in ("deprel", "head.word")}
    if pos is None and any("pos" in template.columns for template in templates):
        raise FeatureError(
            f"the preset {name!r} needs parts of speech in a column named pos, but the data has the "
            f"columns {', '.join(columns)}",
            f"name them with {Argument('columns')}",
        )
    return tuple(replace(t, atoms=tuple(replace(a, column=names[a.column]) for a in t.atoms)) for t in templates)
