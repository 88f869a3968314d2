"""Word classes from unlabelled text: words with similar neighbours share a class.

The classes are those of exchange clustering, which maximises the mutual information of neighbouring classes. The
formulas are in ``native/clustering/exchange.h``. As features, classes tell what a word is like that the labelled text
does not have.

Words are clustered in lower case. A word that the text does not have, not even in lower case, has no class.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate import _native
from corate.arguments import check_threads, check_whole
from corate.corpus import Corpus, StringTable
from corate.display import counted
from corate.errors import Argument, ConfigError, DataError
from corate.features.lexicons import Lexicon, lexicon_name
from corate.features.templates import Atom, Template
from corate.features.word_functions import WordFunction
from corate.formats import read_unlabelled
from corate.progress import OnProgress, ProgressEvent, ignore_progress

__all__ = ["CLASSES", "RawText", "class_templates", "learn_word_classes", "word_classes", "write_word_classes"]

#: Unlabelled text: files, or sentences that have been read.
RawText = str | os.PathLike[str] | Corpus | Sequence[str | os.PathLike[str] | Corpus]

#: The number of classes of :func:`word_classes`, if it is not given.
CLASSES = 256
#: Training learns the classes several times, with these numbers. Few classes say something about every word, many
#: classes say more about frequent words, and the weights of the features decide what counts.
FEATURE_CLASSES = (32, 64, 128, 256)
#: More classes need much memory: the tables have a number for each pair of them.
MOST_CLASSES = 4096

#: Passes end when one raises the mutual information by less than this, in nats, and after MOST_PASSES in any case.
LEAST_GAIN = 5e-4
MOST_PASSES = 20

_STAGE = "learning word classes"


def word_classes(
    sentences: Corpus | Iterable[Iterable[str]],
    *,
    classes: int = CLASSES,
    threads: int = 1,
    progress: OnProgress | None = None,
) -> Lexicon:
    """Learn word classes from sentences without labels, by exchange clustering.

    Words with similar neighbours get the same class.

    Args:
        sentences: a corpus, or a list of words for each sentence. Labels are ignored.
        classes: the number of classes, from 2 to 4096; by default 256. The text must have at least as many different
            words, else DataError is raised.
        threads: the number of threads. The classes do not depend on it.
        progress: a function that is called with a :class:`~corate.ProgressEvent` after each pass.

    Returns:
        A lexicon of the words in lower case, in descending frequency. ``lexicon.get(word)`` is the class of a word, a
        number as a string such as ``"12"``; None for an unknown word. It ignores case.

    >>> sentences = [f"{a} {b} {c}".split() for a in ("A", "The") for b in ("cat", "dog") for c in ("ran", "sat")]
    >>> found = word_classes(sentences, classes=3)
    >>> found
    Lexicon('map classes-3 lower', 6 words, 3 classes)
    >>> found.get("cat") == found.get("Dog") != found.get("sat") == found.get("ran")
    True
    """
    corpus = sentences if isinstance(sentences, Corpus) else Corpus.from_sentences(sentences)
    return learn_word_classes([corpus], [classes], threads=threads, progress=progress)[0][0]


def class_templates(
    raw: RawText,
    corpus: Corpus,
    *,
    classes: int | Sequence[int] | None = None,
    threads: int = 1,
    progress: OnProgress = ignore_progress,
) -> tuple[tuple[Template, ...], dict[str, Any]]:
    """Templates with the classes of a word, learned from raw text and the words of a corpus.

    The classes of the neighbours are in templates too, for the smallest number of classes.

    Also returns what was learned from, for the record of a model: numbers of sentences, tokens, words and classes.
    """
    column = corpus.word
    if column is None:
        raise ConfigError(
            f"{Argument('raw')} needs words, but the data has only ready-made features", f"omit {Argument('raw')}"
        )
    given = [raw] if isinstance(raw, str | os.PathLike | Corpus) else raw
    corpora = [text if isinstance(text, Corpus) else read_unlabelled(text) for text in given]
    numbers = classes if classes is None or isinstance(classes, Sequence) else [classes]
    lexicons, facts = learn_word_classes([corpus, *corpora], numbers, threads=threads, progress=progress)
    coarsest = min(lexicons, key=lambda lexicon: len(lexicon.classes))
    templates = [
        Template((Atom(WordFunction("map", 1, lexicon.name.split()[1], lexicon), column.name, offset),))
        for lexicon in lexicons
        for offset in ((-1, 0, 1) if lexicon is coarsest else (0,))
    ]
    return tuple(templates), facts


def learn_word_classes(
    corpora: Sequence[Corpus], numbers: Sequence[int] | None, *, threads: int = 1, progress: OnProgress | None = None
) -> tuple[list[Lexicon], dict[str, Any]]:
    """A lexicon of classes for each number of classes, and what they were learned from.

    Without numbers, they are FEATURE_CLASSES, but not more than there are words.
    """
    text = _Text.of(corpora)
    if numbers is None:
        numbers = list(dict.fromkeys(max(2, min(n, len(text.words))) for n in FEATURE_CLASSES))
    lexicons = _learn(text, numbers, check_threads(threads), progress or ignore_progress)
    facts = {"sentences": text.n_sentences, "tokens": len(text.ids), "words": len(text.words)}
    return lexicons, {**facts, "classes": list(numbers)}


def write_word_classes(lexicon: Lexicon) -> str:
    """The text of a file that ``map(word[0], FILE, lower)`` reads: a word and its class per line.

    Words with white space at an end, such as a no-break space, are omitted: the file could not be read back.

    >>> write_word_classes(Lexicon.of("map classes", {"cat": "0", "dog": "0", "ran": "1"}))
    'cat\\t0\\ndog\\t0\\nran\\t1\\n'
    """
    names = lexicon.classes.to_list()
    pairs = zip(lexicon.keys.to_list(), lexicon.values.tolist(), strict=True)
    return "".join(f"{word}\t{names[c]}\n" for word, c in pairs if word and word == word.strip())


@dataclass(frozen=True, eq=False)
class _Text:
    """Sentences of word ids. Words are in lower case and in descending frequency."""

    words: StringTable
    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @property
    def n_sentences(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def of(cls, corpora: Sequence[Corpus]) -> _Text:
        """The words of all corpora."""
        columns = [corpus.word for corpus in corpora]
        if any(column is None for column in columns):
            raise DataError("word classes need words, but the text has only ready-made features")
        lowered = [WordFunction("lower").apply(column.strings) for column in columns if column is not None]
        words, merged = StringTable.intern(itertools.chain.from_iterable(table.to_list() for _, table in lowered))
        starts = np.cumsum([0, *(len(table) for _, table in lowered)])
        ids = [
            merged[start + forms[column.ids]]
            for column, (forms, _), start in zip(columns, lowered, starts, strict=False)
            if column is not None
        ]
        tokens = np.cumsum([0, *map(len, ids)])
        offsets = [c.offsets[:-1] + start for c, start in zip(corpora, tokens, strict=False)]
        joined = np.concatenate(ids)
        order = np.argsort(-np.bincount(joined, minlength=len(words)), kind="stable")
        rank = np.empty(len(words), np.int32)
        rank[order] = np.arange(len(words), dtype=np.int32)
        used = int(np.count_nonzero(np.bincount(joined, minlength=len(words))))
        return cls(words.take(order[:used]), rank[joined], np.concatenate([*offsets, tokens[-1:]]).astype(np.int64))


def _learn(text: _Text, numbers: Sequence[int], threads: int, progress: OnProgress) -> list[Lexicon]:
    """One lexicon for each number of classes."""
    for n in numbers:
        check_whole("classes", n, 2, MOST_CLASSES)
        if n > len(text.words):
            raise DataError(
                f"the text has {counted(len(text.words), 'different word')}, too few for {counted(n, 'class')}; "
                "give more text, or fewer classes"
            )
    progress(ProgressEvent(_STAGE, 0.0))
    before, after = _native.count_neighbours(text.ids, text.offsets, len(text.words))
    n_pairs = len(text.ids) + text.n_sentences
    lexicons = []
    for k, n in enumerate(numbers):
        # Each of the most frequent words starts a class. The others join one in the first pass.
        ids = np.arange(len(text.words), dtype=np.int32)
        ids[n:] = -1
        for i in range(MOST_PASSES):
            _, gain, _ = _native.exchange_classes(before, after, ids, n, threads)
            progress(ProgressEvent(_STAGE, (k + (i + 1) / MOST_PASSES) / len(numbers)))
            if i > 0 and gain < LEAST_GAIN * n_pairs:
                break
        names, values = StringTable.intern(map(str, ids.tolist()))
        lexicons.append(Lexicon(lexicon_name("map", f"classes-{n}", True), text.words, values, names))
    return lexicons
