"""What ``features=`` and ``--features`` may be."""

from __future__ import annotations

import pytest

from corate.errors import FeatureError
from corate.features import resolve


def texts(features) -> list[str]:
    return [str(t) for t in resolve(features, ["word", "pos"])[0]]


@pytest.mark.parametrize("between", [",", ";", " ; ", "\n", ",\n"])
def test_templates_in_one_text(between: str) -> None:
    wanted = ["word[0]", "suffix(word[0], 3)", 'ends_with(word[0], ",;(")', "pos[-1]|pos[0]"]
    assert texts(between.join(wanted)) == wanted
    assert texts(wanted) == wanted


def test_a_text_longer_than_a_file_name_may_be() -> None:
    wanted = [f"word[{i % 9}]|pos[{i % 7}]" for i in range(100)]
    assert texts(", ".join(wanted)) == wanted


def test_files_come_before_templates(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "word[0]").write_text("pos[0]\n")
    assert texts("word[0]") == ["pos[0]"]


@pytest.mark.parametrize(
    "features", ["word", "nosuch.txt", "", "suffix(word[0], 3", "word[0],, lemma[0]", "word[0] pos[0]"]
)
def test_what_is_neither_is_refused(features: str) -> None:
    with pytest.raises(FeatureError):
        texts(features)


# -- presets that are extended ---------------------------------------------------------------------------------------


def test_a_preset_is_extended(tmp_path) -> None:
    ner = texts("ner")
    (tmp_path / "cities.txt").write_text("Boston\n")
    city = f"in(word[0], {tmp_path / 'cities.txt'})"
    for features in (f"ner; {city}", f"ner, {city}", ["ner", city]):
        assert texts(features) == [*ner, city]
    assert texts(f"{city}; ner") == [city, *ner]
    assert "pos[0]" in ner  # the preset sees the columns of the corpus


def test_a_line_of_a_template_file_names_a_preset(tmp_path) -> None:
    (tmp_path / "cities.txt").write_text("Boston\n")
    (tmp_path / "my.templates").write_text("# ours\nner   # the preset\n\nin(word[0], cities.txt)\nword[2]|word[3]\n")
    assert texts(str(tmp_path / "my.templates")) == [*texts("ner"), "in(word[0], cities.txt)", "word[2]|word[3]"]


def test_templates_of_a_preset_are_not_repeated() -> None:
    assert texts("ner; word[0]; pos") == list(dict.fromkeys([*texts("ner"), "word[0]", *texts("pos")]))
    assert texts(["ner", "word[0]"]) == texts("ner")
    assert texts("word[0], word[0]") == ["word[0]", "word[0]"]  # as given, without a preset


def test_errors_of_an_extended_preset(tmp_path) -> None:
    with pytest.raises(FeatureError, match="template 2: the preset 'chunking' needs parts of speech"):
        resolve("word[0]; chunking", ["word"])
    (tmp_path / "my.templates").write_text("nre\nword[0]\n")
    with pytest.raises(FeatureError, match=r"my.templates, line 1: .*nre"):
        texts(str(tmp_path / "my.templates"))
