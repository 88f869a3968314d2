"""The table of functions in docs/features.md is true and complete."""

import re
from pathlib import Path

import pytest

from corate import Corpus
from corate.features.lexicons import Lexicon
from corate.features.templates import parse
from corate.features.vocabulary import Vocabulary
from corate.features.word_functions import FUNCTIONS

DOCUMENT = (Path(__file__).parents[2] / "docs" / "features.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `((\w+)\(word\[0\].*?\))` \| `(.*?)` \| (?:`(.*?)`|-) \|", re.MULTILINE)
ROWS = [(template, name, word, value.replace("\\|", "|")) for template, name, word, value in ROW.findall(DOCUMENT)]


@pytest.mark.parametrize(("template", "word", "value"), [(template, word, value) for template, _, word, value in ROWS])
def test_functions_give_what_the_table_says(template, word, value, tmp_path):
    (tmp_path / "words.txt").write_text("Delft\n")
    (tmp_path / "classes.tsv").write_text("Delft\tcity\n")
    known = Lexicon.of("usual word", {"lurk": "vb", "room": "nn"})
    vocabulary = Vocabulary.of([parse(template, folder=tmp_path).with_lexicons({known.name: known})])
    features, _ = vocabulary.fit(Corpus.from_sentences([[word]]))
    if template.startswith("unseen_class"):  # the letter class, and nothing for a word that was seen
        assert features.tolist() == [[-1]]
        vocabulary = Vocabulary.of([parse(template.replace("unseen_class", "letter_class"))])
        features, _ = vocabulary.fit(Corpus.from_sentences([[word]]))
        template = str(vocabulary.templates[0])
    assert (vocabulary.name(int(features[0, 0])) if features[0, 0] >= 0 else None) == (
        f"{template}={value}" if value else None
    )


def test_every_function_is_in_the_table():
    assert {name for _, name, _, _ in ROWS} == set(FUNCTIONS) - {"identity"}
