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
