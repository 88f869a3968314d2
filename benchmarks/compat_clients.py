"""One client of python-crfsuite or sklearn-crfsuite: its output, and the time of its first call and of the others.

`benchmarks.compat` runs this file in processes of their own, as `python compat_clients.py NAME TEXTS` and as
`python -m corate.compat compat_clients.py NAME TEXTS`. TEXTS is a JSON file with what to work on. The answer is a line
of JSON. Times are processor seconds. Nothing of Corate is imported here, so that both sides do the same.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

#: From one text to the output for it.
Answer = Callable[[Any], Any]


# -- parsers with a model of their own --------------------------------------------------------------------------------


def usaddress(texts: Sequence[Any]) -> Answer:
    """Parts of addresses."""
    import usaddress

    return usaddress.parse


def probablepeople(texts: Sequence[Any]) -> Answer:
    """Parts of names."""
    import probablepeople

    return probablepeople.parse


def khmernltk(texts: Sequence[Any]) -> Answer:
    """Khmer words and their tags: pickles of sklearn-crfsuite."""
    from khmernltk import pos_tag, word_tokenize

    return lambda text: [word_tokenize(text), pos_tag(text)]


def khmercut(texts: Sequence[Any]) -> Answer:
    """Khmer words, with a model of 17.7 MB."""
    from khmercut import tokenize

    return tokenize


def ssg(texts: Sequence[Any]) -> Answer:
    """Thai syllables."""
    import ssg

    return ssg.syllable_tokenize


def crfcut(texts: Sequence[Any]) -> Answer:
    """Thai sentences."""
    from pythainlp.tokenize import sent_tokenize

    return lambda text: sent_tokenize(text, engine="crfcut")


def pyvi(texts: Sequence[Any]) -> Answer:
    """Vietnamese words and their tags: pickles of an old sklearn-crfsuite."""
    from pyvi import ViPosTagger, ViTokenizer

    def answer(text: str) -> list[list[str]]:
        words, tags = ViPosTagger.postagging(ViTokenizer.tokenize(text))
        return [list(words), list(tags)]

    return answer


def pyidaungsu(texts: Sequence[Any]) -> Answer:
    """Burmese words."""
    import pyidaungsu

    return lambda text: pyidaungsu.tokenize(text, form="word")


def autopager(texts: Sequence[Any]) -> Answer:
    """Links to other pages of a list, in HTML: a pickle of sklearn-crfsuite."""
    import autopager

    return lambda page: [[kind, link.xpath("@href").get()] for kind, link in autopager.extract(page)]


def formasaurus(texts: Sequence[Any]) -> Answer:
    """Types of forms and of their fields, in HTML."""
    import formasaurus

    return lambda page: [found for _, found in formasaurus.extract_forms(page)]


# -- packages that train ----------------------------------------------------------------------------------------------


def parserator(texts: Sequence[Any]) -> Answer:
    """A model of addresses with usaddress's features."""
    import pycrfsuite
    import usaddress
    from parserator.training import trainModel

    path = os.path.join(tempfile.mkdtemp(), "learned_settings.crfsuite")
    trainModel([("", line) for line in texts], usaddress, path)
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    return lambda line: tagger.tag(usaddress.tokens2features([token for token, _ in line]))


def nltk(texts: Sequence[Any]) -> Answer:
    """The CRFTagger, trained on addresses."""
    import nltk.data
    from nltk.tag import CRFTagger

    # Some versions write only in a folder of their own.
    staging = getattr(nltk.data, "make_staging_dir", tempfile.mkdtemp)()
    tagger = CRFTagger()
    tagger.train([[tuple(pair) for pair in line] for line in texts], os.path.join(staging, "model.crf.tagger"))
    return lambda line: [label for _, label in tagger.tag([token for token, _ in line])]


def spacing(texts: Sequence[Any]) -> Answer:
    """Spaces of Korean text, learned from text with spaces."""
    from pycrfsuite_spacing import CharacterFeatureTransformer, PyCRFSuiteSpacing, TemplateGenerator

    templates = TemplateGenerator(begin=-2, end=2, min_range_length=3, max_range_length=3)
    corrector = PyCRFSuiteSpacing(CharacterFeatureTransformer(templates), feature_minfreq=3, max_iterations=100)
    corrector.train(texts, os.path.join(tempfile.mkdtemp(), "spacing.crfsuite"))
    return lambda text: corrector(text.replace(" ", ""))


def eli5(texts: Sequence[Any]) -> Answer:
    """The weights of a CRF that was trained on addresses, as text."""
    import eli5
    from sklearn_crfsuite import CRF

    features = [[{"word": token.lower(), "title": token.istitle()} for token, _ in line] for line in texts]
    crf = CRF(c1=0.0, c2=1.0, max_iterations=200).fit(features, [[label for _, label in line] for line in texts])
    return lambda line: eli5.format_as_text(eli5.explain_weights(crf, top=(len(line), 0))).split("\n")


#: The package of each client on the package index, the texts that it needs, and the function.
CLIENTS: dict[str, tuple[str, str, Callable[[Sequence[Any]], Answer]]] = {
    "usaddress": ("usaddress", "addresses", usaddress),
    "probablepeople": ("probablepeople", "names", probablepeople),
    "parserator": ("parserator", "labelled", parserator),
    "khmer-nltk": ("khmer-nltk", "khmer", khmernltk),
    "khmercut": ("khmercut", "khmer", khmercut),
    "ssg": ("ssg", "thai", ssg),
    "PyThaiNLP's crfcut": ("pythainlp", "thai", crfcut),
    "pyvi": ("pyvi", "vietnamese", pyvi),
    "NLTK's CRFTagger": ("nltk", "labelled", nltk),
    "pycrfsuite-spacing": ("pycrfsuite-spacing", "korean", spacing),
    "autopager": ("autopager", "pages", autopager),
    "formasaurus": ("formasaurus", "forms", formasaurus),
    "eli5": ("eli5", "labelled", eli5),
    "pyidaungsu": ("pyidaungsu", "burmese", pyidaungsu),
}


def main(arguments: Sequence[str]) -> None:
    """Ask one client: the first text, and then the others."""
    name, path = arguments
    with open(path, encoding="utf-8") as file:
        texts = json.load(file)
    output, sys.stdout = sys.stdout, sys.stderr
    begin = time.process_time()
    answer = CLIENTS[name][2](texts)
    outputs = [answer(texts[0])]
    first = time.process_time() - begin
    outputs += map(answer, texts[1:])
    rest = time.process_time() - begin - first
    used = sys.modules["pycrfsuite"].Tagger.__module__.partition(".")[0]
    print(json.dumps({"first": first, "rest": rest, "used": used, "outputs": outputs}), file=output)


if __name__ == "__main__":
    main(sys.argv[1:])
