"""Features of a corpus: templates, presets, word functions, lexicons, the vocabulary, ready-made attributes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from corate.errors import FeatureError
from corate.features.presets import PRESETS, preset
from corate.features.ready_made import FeatureFunction
from corate.features.templates import Template, load_templates, parse, parse_list

__all__ = ["FeatureSource", "resolve"]

#: A preset's name, a template file, a template, a list of templates, or a function.
FeatureSource = str | os.PathLike[str] | Iterable[str | Template] | FeatureFunction | None


def resolve(features: FeatureSource, columns: Sequence[str]) -> tuple[tuple[Template, ...], FeatureFunction | None]:
    """The templates, bound to a corpus's columns, and the feature function that ``features`` means.

    A list of templates, in a text or in a file, may contain names of presets.

    >>> [str(t) for t in resolve("word[0], suffix(word[0], 3)", ["word"])[0]]
    ['word[0]', 'suffix(word[0], 3)']
    >>> [str(t) for t in resolve("ner; suffix(word[0], 9)", ["word"])[0]][-2:]
    ['has_hyphen(word[0])', 'suffix(word[0], 9)']
    """
    if features is None:
        return (), None
    if callable(features):
        return (), features
    if isinstance(features, str | os.PathLike):
        return tuple(t.bind(columns) for t in _named(os.fspath(features), columns)), None
    if not isinstance(features, Iterable):
        raise FeatureError(f"features must be a preset, a file, templates or a function, not {features!r}")
    presets = _presets(columns)
    templates: list[Template] = []
    extended = False
    for entry in features:
        if isinstance(entry, str) and entry in presets:
            extended = True
            templates.extend(presets[entry]())
        else:
            templates.append(entry if isinstance(entry, Template) else parse(entry))
    bound = [t.bind(columns) for t in templates]
    return tuple(dict.fromkeys(bound) if extended else bound), None


def _presets(columns: Sequence[str]) -> dict[str, Callable[[], tuple[Template, ...]]]:
    """The presets for a corpus with these columns, which are made when they are needed."""
    return {name: partial(preset, name, columns) for name in PRESETS}


def _named(text: str, columns: Sequence[str]) -> tuple[Template, ...]:
    if text in PRESETS:
        return preset(text, columns)
    if os.path.isfile(text):
        return load_templates(text, _presets(columns))
    if any(mark in text for mark in "[(;,"):
        return parse_list(_split(text), presets=_presets(columns))
    raise FeatureError(
        f"{text!r} is not a preset ({', '.join(PRESETS)}), a template file or a list of templates such as "
        '"word[0], suffix(word[0], 3)"'
    )


def _split(text: str) -> list[str]:
    """Split templates at commas, semicolons and line ends outside brackets and quotes.

    >>> _split('word[0], ends_with(word[0], ",)"); bias')
    ['word[0]', 'ends_with(word[0], ",)")', 'bias']
    """
    parts, depth, start, quoted = [], 0, 0, False
    for i, c in enumerate(text):
        quoted ^= c == '"' and text[i - 1 : i] != "\\"
        if quoted:
            continue
        depth += (c in "([") - (c in ")]")
        if c in ",;\n" and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]
