"""What counts as another model, and what as slower."""

from __future__ import annotations

import contextlib
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import corate  # noqa: E402
from benchmarks import commits, compare_side, model_differences  # noqa: E402 - not installed, they stand beside the tests
from benchmarks import compare_commits as compare  # noqa: E402
from corate.cli import main as corate_command  # noqa: E402
from corate.training.methods import METHODS  # noqa: E402

TENSORS = {"bias": np.array([0.5, 0.0, -2.0], np.float32), "edges.labels": np.array([[1, 2], [3, 4]], np.uint8)}
HEADER = {"order": 1, "record": {"method": "polish", "seconds": 1.5, "held_out": {"accuracy": None}}}


def written(path: Path, tensors: dict[str, Any] = TENSORS, header: dict[str, Any] = HEADER) -> Path:
    """A model file, written by safetensors."""
    metadata = {"format": "corate", "format_version": "1", "sha256": path.name, "header": json.dumps(header)}
    save_file(tensors, path, metadata)
    return path


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return written(tmp_path / "base")


def test_the_same_model_differs_in_nothing(base: Path, tmp_path: Path) -> None:
    assert model_differences.differences(base, written(tmp_path / "head")) == []


def test_one_other_byte_is_found(base: Path, tmp_path: Path) -> None:
    head = written(tmp_path / "head", TENSORS | {"bias": np.array([0.5, 0.0, -2.25], np.float32)})
    assert model_differences.differences(base, head) == ["tensor bias: 1 of 3 values differ, by 0.25 at most"]


def test_the_sign_of_zero_is_a_difference(base: Path, tmp_path: Path) -> None:
    head = written(tmp_path / "head", TENSORS | {"bias": np.array([0.5, -0.0, -2.0], np.float32)})
    assert model_differences.differences(base, head) == ["tensor bias: 1 of 3 values differ, by 0 at most"]


def test_a_renamed_tensor_is_removed_and_added(base: Path, tmp_path: Path) -> None:
    head = written(tmp_path / "head", {"node.bias": TENSORS["bias"], "edges.labels": TENSORS["edges.labels"]})
    assert model_differences.differences(base, head) == ["tensor bias: removed", "tensor node.bias: added"]


def test_another_dtype_or_shape_is_found(base: Path, tmp_path: Path) -> None:
    tensors = {"bias": TENSORS["bias"].astype(np.float16), "edges.labels": TENSORS["edges.labels"].ravel()}
    assert model_differences.differences(base, written(tmp_path / "head", tensors)) == [
        "tensor bias: dtype F32 became F16",
        "tensor edges.labels: shape [2, 2] became [4]",
    ]


def test_the_header_is_compared_but_for_seconds(base: Path, tmp_path: Path) -> None:
    record = {"method": "polish", "seconds": 9.0, "held_out": {"accuracy": 0.5}, "seed": 0}
    assert model_differences.differences(base, written(tmp_path / "head", header={"order": 2, "record": record})) == [
        "header order: 1 became 2",
        "header record.held_out.accuracy: None became 0.5",
        "header record.seed: added",
    ]


def test_models_of_corate_are_read_and_only_seconds_differ(tmp_path: Path) -> None:
    corpus = corate.Corpus.from_sentences([[("Ann", "B"), ("sleeps", "O")], [("Bo", "B"), ("runs", "O")]])
    for name in ("base", "head"):
        corate.train(corpus, "empirical").save(tmp_path / name)
    assert model_differences.differences(tmp_path / "base", tmp_path / "head") == []
    tensors, header = model_differences.read_model(tmp_path / "base")
    assert tensors["labels.data"].data == b"BO"
    assert header["record"]["method"] == "empirical"


def test_other_labels_are_counted(tmp_path: Path) -> None:
    for name, text in {"base": "a\tO\n\nb\tO\n", "head": "a\tO\n\nb\tB\n", "short": "a\tO\n"}.items():
        (tmp_path / name).write_text(text, "utf-8")
    assert model_differences.label_differences(tmp_path / "base", tmp_path / "base") == []
    assert model_differences.label_differences(tmp_path / "base", tmp_path / "head") == [
        "labels: 1 of 3 lines differ, the first is line 3"
    ]
    assert model_differences.label_differences(tmp_path / "base", tmp_path / "short") == ["labels: 3 lines became 1"]


def test_commits_take_turns_to_be_first() -> None:
    assert compare.turns(3) == [0, 1, 1, 0, 0, 1]


def test_ratios_of_times() -> None:
    times = compare.Times(base=[1.0, 2.0, 4.0], head=[2.0, 2.0, 2.0])
    assert (times.of_medians, times.of_minima, times.mean) == pytest.approx((1.0, 2.0, 1.0))
    assert times.error == pytest.approx(math.log(2) / math.sqrt(3))  # of log 2, 0 and -log 2


@pytest.mark.parametrize(
    ("head", "slower"),
    [
        ([1.05, 1.06, 1.05, 1.04], True),
        ([1.02, 1.02, 1.02, 1.02], False),
        ([1.0, 1.1, 1.1, 1.1], False),  # as quick once: the minima are equal
        ([1.04, 1.5, 1.04, 1.04], False),  # one run was disturbed, the others are too near the limit to tell
    ],
)
def test_only_what_exceeds_the_limit_beyond_noise_is_slower(head: list[float], slower: bool) -> None:
    assert compare.Times([1.0] * 4, head).slower(1.03) is slower


def test_two_pairs_are_too_few_to_call_a_commit_slower() -> None:
    assert not compare.Times([1.0, 1.0], [9.0, 9.0]).slower(1.03)


def test_the_summary_is_a_geometric_mean() -> None:
    halved, doubled = (compare.Times([1.0] * 3, [factor] * 3) for factor in (0.5, 2.0))
    assert compare.summary([halved, doubled]) == pytest.approx((1.0, 0.0))


def test_every_method_is_compared() -> None:
    assert sorted(compare.METHODS) == sorted(METHODS)


def tiny(folder: Path) -> compare.Text:
    sentences: list[compare.corpora.Sentence] = []
    for i in range(10):
        sentences += [[("Ann", "B-P"), ("Lee", "I-P")], [("Bo", "B-P"), (f"runs{i}", "O")]]
    text = compare.Text("tiny", folder / "train", folder / "test", "word,label")
    for path in (text.train, text.test):
        compare.corpora.write(sentences, path)
    return compare.with_others(text)


def run_here(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a command of a case in this process, and with pieces of the usual size."""
    begin = command.index("pieces") if "pieces" in command else 0
    monkeypatch.setattr(sys, "argv", command[begin:])
    with contextlib.suppress(SystemExit):  # the files tell
        corate_command()


def test_the_names_of_cases_name_their_files() -> None:
    for cases in (compare.CASES, compare.WAYS):
        assert len({case.name for case in cases}) == len(cases)


@pytest.mark.parametrize("case", [*compare.CASES, *compare.WAYS], ids=lambda case: case.name)
def test_every_case_trains_and_tags(case: compare.Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, commit = tiny(tmp_path), commits.Commit("head", tmp_path)
    plan = compare.plan(commit, case, text, threads=1)
    if "{model}" in case.options:
        for command in compare.plan(commit, compare.Case(case.method), text, threads=1).train:
            run_here(command, monkeypatch)
    for command in plan.train:
        run_here(command, monkeypatch)
    assert plan.checkpoint.exists() is (case.first is not None)
    run_here(plan.tag, monkeypatch)
    assert model_differences.differences(plan.model, plan.model) == []
    assert len(plan.tagged.read_text("utf-8").split("\n\n")) >= 20


def test_every_constant_of_small_pieces_is_in_a_module() -> None:
    assert {name for _, name in compare_side.constants()} == set(compare_side.PIECES)


@pytest.mark.parametrize("part", [part for part in compare_side.PARTS if not part.startswith("spark")])
def test_every_part_of_python_writes_what_is_compared(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(Path(corate.__file__).parent))
    if part.split()[0] in ("sklearn-crfsuite", "scikit-learn"):
        pytest.importorskip("sklearn")
    text, output = tiny(tmp_path), tmp_path / "output"
    output.mkdir()
    compare_side.main(part, str(output), str(text.train), str(text.test), text.columns, str(tmp_path))
    assert {"answers.json"} < {path.name for path in output.iterdir()}
    assert model_differences.folder_differences(output, output) == []


def test_a_part_without_its_packages_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(compare_side.SkippedError, match="no_such_package is not installed"):
        compare_side.needs("json", "no_such_package")


@pytest.mark.parametrize(
    ("printed", "shown", "rows"),
    [("pyspark is not installed\n", "SKIPPED: pyspark is not installed", 0), ("", "nothing was written", 1)],
)
def test_a_skipped_part_is_named_and_an_empty_one_is_a_difference(
    printed: str,
    shown: str,
    rows: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(compare.measure, "run", lambda command: compare.measure.Run("", 1.0, 1.0, 1, printed))
    table = compare.Table("compare_commits", "Same?")
    sides = commits.Commit("base", tmp_path), commits.Commit("head", tmp_path, "output-head")
    compare.compare_python(table, sides, "spark empirical", tiny(tmp_path))
    assert shown in capsys.readouterr().out
    assert [row.passed for row in table.rows] == [False] * rows


def test_answers_differ_beyond_rounding(tmp_path: Path) -> None:
    said = {"labels": ["A", "B"], "marginals": [[0.5, 0.25], [0.125]], "least": -math.inf}
    for name, value in {"base": 0.25, "near": 0.25 + 1e-8, "far": 0.25 + 1e-4}.items():
        (tmp_path / name).write_text(json.dumps(said | {"marginals": [[0.5, value], [0.125]]}), "utf-8")
    assert model_differences.answer_differences(tmp_path / "base", tmp_path / "near") == []
    assert model_differences.answer_differences(tmp_path / "base", tmp_path / "far") == [
        "marginals: 1 of 3 values differ, the first is 0.1: 0.25 became 0.2501"
    ]
    (tmp_path / "other").write_text(json.dumps(said | {"labels": ["A"], "more": 1}), "utf-8")
    assert model_differences.answer_differences(tmp_path / "base", tmp_path / "other") == [
        "labels: 1 of 2 values differ, the first is 1: 'B' became 'nothing'",
        "more: added",
    ]


def test_folders_differ_in_files_models_and_answers(base: Path, tmp_path: Path) -> None:
    for name in ("old", "new", "empty"):
        (tmp_path / name).mkdir()
    written(tmp_path / "old" / "a.corate")
    written(tmp_path / "new" / "a.corate", header=HEADER | {"order": 2, "record": {"method": "memm"}})
    (tmp_path / "new" / "answers.json").write_text("{}", "utf-8")
    found = model_differences.folder_differences(tmp_path / "old", tmp_path / "new")
    assert [line for line in found if not line.startswith(model_differences.RECORD)] == [
        "answers.json: added",
        "a.corate: header order: 1 became 2",
    ]
    assert model_differences.folder_differences(tmp_path / "empty", tmp_path / "empty") == ["nothing was written"]


def test_items_are_read_as_they_were_meant() -> None:
    sentences = [[("a:b", "X"), ("c\\d", "Y")], [("e", "X")]]
    corpus = corate.read(compare.items(sentences).encode(), format="items")
    assert [corpus.labels_of(i) for i in range(2)] == [["X", "Y"], ["X"]]
    assert {"0[0]=a:b", "0[0]=c\\d", "end=a:b", "length"} <= set(corpus.attributes.names)


def test_the_working_tree_counts_with_new_files_and_leaves_the_index_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare.corpora, "ROOT", tmp_path)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    commits.git("init", "--quiet")
    (tmp_path / ".gitignore").write_text("index*\n", "utf-8")
    commits.git("add", "--all")
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    commits.git(*author, "commit", "--quiet", "--message", "First")
    first = commits.git("rev-parse", "HEAD^{tree}")
    assert commits.working_tree(tmp_path / "index") == first
    (tmp_path / "new").write_text("new\n", "utf-8")
    tree = commits.working_tree(tmp_path / "index")
    assert commits.git("ls-tree", "--name-only", tree).split() == [".gitignore", "new"]
    assert commits.git("status", "--short") == "?? new"


def test_two_comparisons_do_not_run_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fcntl")
    monkeypatch.setattr(commits, "FOLDER", tmp_path)
    with commits.lock(), pytest.raises(SystemExit, match="another comparison is running"):
        commits.lock()
    commits.lock().close()


def test_an_unknown_revision_is_named() -> None:
    with pytest.raises(SystemExit, match="no-such-commit"):
        commits.git("rev-parse", "--verify", "no-such-commit^{tree}")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["HEAD", "--methods", "polsh"], "unknown method: polsh; there are empirical"),
        (["HEAD", "--corpora", "greek"], "unknown corpus: greek; there are conll2000"),
    ],
)
def test_unknown_names_are_refused_before_anything_is_installed(arguments: list[str], complaint: str) -> None:
    with pytest.raises(SystemExit, match=complaint):
        compare.main(arguments)


def test_a_check_of_too_few_repeats_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        compare.main(["HEAD", "--check", "--repeats", "2"])
    assert "--check needs --repeats" in capsys.readouterr().err
