"""The examples run as they stand. (tests/spark has the one that needs Spark.)"""

from __future__ import annotations

import http.client
import importlib.util
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import corate
from corate.demo import addresses

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOKS = sorted(path.name for path in EXAMPLES.glob("*.ipynb"))


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("train_on_own_file.py", ["training on 3,600 sentences, testing on 400", "F1", "the model has"]),
        ("own_features.py", ["the preset ner", "a word list", "a function"]),
        ("move_from_sklearn_crfsuite.py", ["lbfgs", "polish"]),
        ("graphs.py", ["accuracy with edges: 9", "each field by itself: 6", "inference is exact", "node 3: "]),
    ],
)
def test_a_script_runs(name: str, printed: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / name], capture_output=True, text=True, check=False, cwd=tmp_path, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert [text for text in printed if text not in done.stdout] == []


def test_a_script_takes_a_file_of_ones_own(tmp_path: Path) -> None:
    own = tmp_path / "own.tsv"
    own.write_text("Ann\tNAME\nsleeps\tVERB\n\n" * 20, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, EXAMPLES / "train_on_own_file.py", own], capture_output=True, text=True, check=True
    )
    assert "training on 18 sentences, testing on 2" in done.stdout


@pytest.mark.parametrize(
    ("name", "needs", "printed"),
    [
        ("frames", "polars", "accuracy 9"),
        ("label_studio", "json", " 20 to  25  CITY "),
        ("spacy_pipeline", "spacy", "Boston       CITY "),
    ],
)
def test_an_example_prints_what_it_promises(name: str, needs: str, printed: str) -> None:
    if importlib.util.find_spec(needs) is None:
        pytest.skip(f"THE EXAMPLE {name} IS NOT TESTED: {needs} is not installed")
    done = subprocess.run([sys.executable, EXAMPLES / f"{name}.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert printed in done.stdout


# -- the web server --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tagger() -> corate.Tagger:
    return corate.train(corate.Corpus.from_sentences(list(addresses(1000, seed=1))))


@pytest.fixture(scope="module")
def port(tagger: corate.Tagger) -> Iterator[int]:
    spec = importlib.util.spec_from_file_location("web_server", EXAMPLES / "web_server.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with module.server(tagger, 0) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running.server_port
        running.shutdown()
        thread.join()


def post(port: int, body: bytes, headers: dict[str, str] | None = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("POST", "/", body, headers or {})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def test_the_server_answers_threads_with_what_the_tagger_finds(tagger: corate.Tagger, port: int) -> None:
    texts = [" ".join(word for word, _ in line) for line in addresses(40, seed=2)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda text: post(port, text.encode()), texts))
    for text, (status, spans) in zip(texts, answers, strict=True):
        assert status == 200
        found = tagger.entities(text)
        assert [(span["type"], text[span["start"] : span["stop"]]) for span in spans] == [
            (e.type, e.text) for e in found
        ]
        assert [span["probability"] for span in spans] == [e.probability for e in found]


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [(b"\xff\xfe", None, 400), (b"", {"Content-Length": "100001"}, 413), (b"", {"Content-Length": "many"}, 411)],
)
def test_the_server_refuses_bad_requests(port: int, body: bytes, headers: dict[str, str] | None, status: int) -> None:
    answer = post(port, body, headers)
    assert answer[0] == status
    assert answer[1]["error"]


# -- notebooks -------------------------------------------------------------------------------------------------------


def cells(name: str) -> list[dict[str, Any]]:
    notebook = json.loads((EXAMPLES / name).read_text("utf-8"))
    assert (notebook["nbformat"], notebook["metadata"]["language_info"]["name"]) == (4, "python")
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    names: dict[str, Any] = {"__name__": "__main__"}
    for k, cell in enumerate(cells(name)):
        exec(compile("".join(cell["source"]), f"{name}, code cell {k}", "exec"), names)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_stored_without_output(name: str) -> None:
    assert [cell for cell in cells(name) if cell["outputs"] or cell["execution_count"] is not None] == []
