"""The names of integer labels, in the forms that people have: a list, a file, or a description of a dataset.

Hugging Face datasets store labels as integers and their names in the features: ``dataset.features`` in Python, and
``dataset_info.json`` in files. The configuration of a model of the package transformers has them as ``id2label``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from corate.errors import Argument, DataError, placed
from corate.io.streams import load

__all__ = ["LabelNames", "checked_names", "ids_of", "label_names_of", "names_or_file"]

#: Names in order, a mapping from ids to names, the features of a dataset, or a file that has one of these.
LabelNames = Sequence[str] | Mapping[Any, Any] | str | os.PathLike[str]


def names_or_file(text: str) -> list[str] | Path:
    """What a text names: a file, or else the names of labels between commas.

    >>> names_or_file("O, B-PER,I-PER")
    ['O', 'B-PER', 'I-PER']
    """
    return Path(text) if os.path.isfile(text) else [name.strip() for name in text.split(",")]


def label_names_of(given: LabelNames | None, label: str | None = None) -> tuple[str, ...] | None:
    """The names of integer labels. ``label`` chooses one of several lists of labels that a dataset has.

    >>> label_names_of(["O", "B-PER"]), label_names_of({"0": "O", "1": "B-PER"})
    (('O', 'B-PER'), ('O', 'B-PER'))
    >>> tags = {"feature": {"names": ["O", "B-PER"], "_type": "ClassLabel"}, "_type": "Sequence"}
    >>> label_names_of({"features": {"tokens": {"_type": "Sequence"}, "ner_tags": tags}}, "ner_tags")
    ('O', 'B-PER')
    """
    if given is None:
        return None
    if isinstance(given, str | os.PathLike):
        if not os.path.isfile(given):
            raise DataError(
                f"{Argument('label_names')} must be a list of names or a file", f"there is no file {os.fspath(given)!r}"
            )
        text = load(given, "utf-8").decode()
        with placed(file=os.fspath(given)):
            return _chosen(_content(text), label)
    return _chosen(given, label)


def _chosen(given: Any, label: str | None) -> tuple[str, ...]:
    """The names that a list or a mapping has."""
    return checked_names(_of_mapping(given, label) if isinstance(given, Mapping) else given)


def _content(text: str) -> Any:
    """The JSON value of a text, or its lines if it is not JSON."""
    try:
        return json.loads(text)
    except RecursionError:
        raise DataError("the JSON is nested too deeply to be names of labels") from None
    except ValueError:
        return [line.strip() for line in text.splitlines() if line.strip()]


def checked_names(names: Any) -> tuple[str, ...]:
    """The names of integer labels. Raises DataError if they are not a list of different texts."""
    if (
        isinstance(names, str)
        or not isinstance(names, Sequence)
        or not names
        or not all(isinstance(name, str) and name for name in names)
    ):
        raise DataError(f"{Argument('label_names')} must be a list of names, not {names!r:.60}")
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise DataError(
            f"{Argument('label_names')} contains the name {twice!r} twice", "each integer needs a name of its own"
        )
    return tuple(names)


def _of_mapping(given: Mapping[Any, Any], label: str | None) -> Any:
    """The names in the features of a dataset, or by their ids."""
    for member in ("id2label", "features"):
        if isinstance(given.get(member), Mapping):
            return _of_mapping(given[member], label)
    if given and all(str(key).isdecimal() for key in given):
        by_id = {int(key): name for key, name in given.items()}
        missing = next((i for i in range(len(by_id)) if i not in by_id), None)
        if missing is not None:
            raise DataError(
                f"{Argument('label_names')} has no name for the label {missing}", f"name all from 0 to {max(by_id)}"
            )
        return [by_id[i] for i in range(len(by_id))]
    found = {str(member): names for member, own in given.items() if (names := _class_names(own)) is not None}
    if label is not None and label in found:
        return found[label]
    if label is None and len(found) == 1:
        return next(iter(found.values()))
    if len(given) == 1 and not found and isinstance(inner := next(iter(given.values())), Mapping):
        return _of_mapping(inner, label)  # the only configuration of a dataset
    has = f"names of the labels {', '.join(found)}" if found else "no names of labels (ClassLabel)"
    remedy = f"choose one with {Argument('label')}" if found else "give a list of names"
    raise DataError(f"{Argument('label_names')} has {has}", remedy)


def _class_names(feature: Any) -> Any:
    """The names in a feature of a dataset, as an object or as JSON; None if it is not a list of class labels."""
    for _ in range(2):
        names = feature.get("names") if isinstance(feature, Mapping) else getattr(feature, "names", None)
        if isinstance(names, list):
            return names
        feature = feature.get("feature") if isinstance(feature, Mapping) else getattr(feature, "feature", None)
    return None


def ids_of(labels: Sequence[str | None], names: Sequence[str]) -> list[int | None]:
    """The ids of labels, None for one that is None. Raises DataError for one that is not among the names.

    >>> ids_of(["B-PER", "O"], ["O", "B-PER"])
    [1, 0]
    """
    ids = {name: i for i, name in enumerate(names)}
    for label in labels:
        if label is not None and label not in ids:
            raise DataError(
                f"the label {label!r} is not among {Argument('label_names')} ({', '.join(names)[:80]})", "add it there"
            )
    return [None if label is None else ids[label] for label in labels]
