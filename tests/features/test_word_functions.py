"""Word functions: the native ones against plain Python, on any text and on bytes that are no text."""

from __future__ import annotations

import importlib.util
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corate import _native
from corate.corpus import StringTable
from corate.errors import FeatureError
from corate.features.lexicons import Lexicon
from corate.features.word_functions import FUNCTIONS, WordFunction
from reference import word_functions as reference

ROOT = Path(__file__).parents[2]

# Characters old enough that every Python the tests run on puts them in the same class as our tables.
OLD = [c for c in map(chr, range(0x110000)) if unicodedata.ucd_3_2_0.category(c) not in ("Cn", "Cs")]
ASTRAL = [c for c in OLD if ord(c) > 0xFFFF]
SPELLED = st.sampled_from(["ing", "ies", "tion", "ed", "-", "\u2010", "\u2011", "\u0130", "ß", "ΑΣ", "ǅ", "日本", "٣"])
CHARACTERS = st.one_of(
    st.characters(max_codepoint=127), st.sampled_from(OLD), st.sampled_from(ASTRAL), SPELLED, st.sampled_from("aZé0-.")
)
WORDS = st.lists(CHARACTERS, max_size=8).map("".join)
TABLES = st.dictionaries(WORDS, st.sampled_from(["a", "b", "né"]), min_size=1, max_size=4)


def table_of(words: list[bytes]) -> StringTable:
    offsets = np.cumsum([0, *map(len, words)], dtype=np.int64)
    return StringTable(np.frombuffer(b"".join(words), dtype=np.uint8), offsets)


def values_of(function: WordFunction, words: list[bytes]) -> list[bytes | None]:
    ids, values = function.apply(table_of(words))
    blob, ends = values.data.tobytes(), values.offsets.tolist()
    return [None if i < 0 else blob[ends[i] : ends[i + 1]] for i in ids.tolist()]


def values(function: WordFunction, *words: str) -> list[str | None]:
    return [v if v is None else v.decode() for v in values_of(function, [w.encode() for w in words])]


def check_all(words: list[str], encoded: list[bytes], number: int, text: str, table: dict[str, str]) -> None:
    """Every function has the same values natively and in plain Python."""
    lexicon = Lexicon.of("map table", table)
    for name, (_, takes) in FUNCTIONS.items():
        n = number % 2 if takes == "file" else number
        expected = [reference.apply(name, word, n, text, table) for word in words]
        found = values_of(WordFunction(name, n, text, lexicon), encoded)
        assert found == [None if v is None else v.encode("utf-8", "surrogateescape") for v in expected], name


@given(words=st.lists(WORDS, max_size=4), number=st.integers(1, 6), text=st.one_of(SPELLED, WORDS), table=TABLES)
def test_native_functions_agree_with_plain_python(words, number, text, table):
    words = [*words, *table, *(w.upper() for w in table)]
    check_all(words, [w.encode() for w in words], number, text or "s", table)


def old_or_bad(word: bytes) -> bool:
    decoded = word.decode("utf-8", "surrogateescape")
    return all(unicodedata.category(c) == "Cs" or unicodedata.ucd_3_2_0.category(c) != "Cn" for c in decoded)


# Random bytes are seldom near-UTF-8, so pieces that are cut, overlong, surrogate or out of range are mixed in.
PIECES = st.sampled_from(
    [
        "61",
        "5a",
        "c3a9",
        "c3",
        "80",
        "e280",
        "e28090",
        "eda080",
        "c080",
        "e08080",
        "f0909080",
        "f09090",
        "f4908080",
        "f8",
        "ff",
        "f0808080",
    ]
).map(bytes.fromhex)
BYTES = st.one_of(st.binary(max_size=8), st.lists(PIECES, max_size=6).map(b"".join)).filter(old_or_bad)


@given(word=BYTES, number=st.integers(1, 5))
def test_a_byte_that_is_no_utf8_counts_as_one_character(word, number):
    check_all([word.decode("utf-8", "surrogateescape")], [word], number, "s", {"a": "1"})


def test_spelling_is_the_papers_list_of_tests():
    expected = {"Tax-paying": "upper+hyphen+ing", "cities": "s+ies", "education": "ion+tion", "3rd": "digit"}
    expected |= {"cat": "none", "STATES": "upper", "biology": "ogy", "sold": "none", "wanted": "ed", "purely": "ly"}
    assert dict(zip(expected, values(WordFunction("spelling"), *expected), strict=True)) == expected


def test_letter_class_tells_case_digits_and_hyphens():
    expected = {"the": "l", "The": "u", "A": "u", "NATO": "U", "McCoy": "m", "iPad": "m", "1984": "nd", "--": "n-p"}
    expected |= {",": "np", "F-16": "ud-", "東京": "o", "'Tis": "u", "U.S.": "U", "pre-war": "l-"}
    assert dict(zip(expected, values(WordFunction("letter_class"), *expected), strict=True)) == expected


def test_affixes_are_counted_in_characters_and_need_that_many():
    assert values(WordFunction("suffix", 3), "élan", "lan", "an", "𐌰𐌱𐌲") == ["lan", "lan", None, "𐌰𐌱𐌲"]
    assert values(WordFunction("prefix", 2), "élan", "él", "é", "") == ["él", "él", None, None]
    assert values(WordFunction("lower_suffix", 2), "ÀÉ") == ["àé"]
    assert values(WordFunction("ending", 2), "McCOY", "x") == ["m|oy", None]


def test_shapes_keep_punctuation():
    assert values(WordFunction("shape"), "Müller-77%", "日本") == ["Xxxxxx-dd%", "aa"]
    assert values(WordFunction("short_shape"), "Müller--77", "U.S.A.") == ["Xx-d", "X.X.X."]


def test_lookup_tries_the_word_before_its_lower_case():
    lexicon = Lexicon.of("map t", {"Rose": "name", "rose": "flower"}, lower=True)
    assert values(WordFunction("map", 1, "t", lexicon), "Rose", "rose", "ROSE", "tulip") == [
        "name",
        "flower",
        "flower",
        None,
    ]
    assert values(WordFunction("map", 0, "t", lexicon), "ROSE") == [None]


def test_a_megabyte_of_one_word_has_values():
    word = "aé" * 500_000
    assert values(WordFunction("suffix", 3), word) == ["éaé"]
    assert values(WordFunction("short_shape"), word) == ["x"]
    assert values(WordFunction("length"), word) == ["1000000"]


def test_wrong_calls_are_refused():
    with pytest.raises(FeatureError, match="did you mean 'suffix'"):
        WordFunction("sufix", 3)
    with pytest.raises(FeatureError, match="1 or more"):
        WordFunction("prefix")
    with pytest.raises(FeatureError, match="takes a text"):
        WordFunction("ends_with")
    with pytest.raises(FeatureError, match="has not been read"):
        WordFunction("in", 0, "names.txt")


def test_native_tables_are_checked():
    blob, offsets = np.zeros(2, np.uint8), np.array([0, 2], np.int64)
    with pytest.raises(ValueError, match="no word function"):
        _native.apply_function(1 + max(kind for kind, _ in FUNCTIONS.values()), 0, "", blob, offsets)
    for bad in ([], [0, 3], [0, 2, 1], [1, 2]):
        with pytest.raises(ValueError, match="offsets must rise"):
            _native.apply_function(0, 0, "", blob, np.array(bad, np.int64))
    with pytest.raises(ValueError, match="no id of a class"):
        _native.Lookup((blob, offsets), np.array([1], np.int32), (blob, offsets))
    with pytest.raises(ValueError, match="differ in number"):
        _native.Lookup((blob, offsets), np.zeros(2, np.int32), (blob, offsets))
    with pytest.raises(ValueError, match="twice"):
        _native.Lookup((blob, np.array([0, 1, 2], np.int64)), np.zeros(2, np.int32), (blob, offsets))


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="the tables are of Unicode 14")
def test_the_unicode_tables_are_what_their_generator_writes():
    path = ROOT / "tools" / "unicode_tables.py"
    spec = importlib.util.spec_from_file_location("unicode_tables", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.header() == (ROOT / "native" / "text" / "unicode_tables.h").read_text(encoding="utf-8")


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="the tables are of Unicode 14")
@pytest.mark.parametrize("name", ["lower", "shape"])
def test_every_character_has_its_class_and_lower_case(name):
    characters = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) != "Cs"]
    table, _ = StringTable.intern(characters)
    ids, found = WordFunction(name).apply(table)
    strings = found.to_list()
    assert [strings[i] for i in ids.tolist()] == [reference.apply(name, c) for c in characters]
