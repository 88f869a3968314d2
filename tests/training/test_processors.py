"""Training writes the same models on every processor: here, libraries that act as on another one change nothing."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="the variables are those of x86-64 Linux"
)

#: Prints a digest of the model of each way of training.
PROGRAM = """
import hashlib, sys, tempfile
from pathlib import Path
import numpy as np
import corate
from corate.demo import addresses
from corate.graphs import Chordal

folder = Path(sys.argv[1])
corpus = corate.Corpus.from_sentences(list(addresses(150, seed=1)))
edges = ["word[0]", "suffix(word[0], 2)", "word[-1]|word[0]", "edge: word[0]"]
plain = edges[:3]
ways = {
    "polish": {"calibrate": True, "threads": 2},
    "polish, edges": {"features": edges},
    "polish, from separate": {"features": plain, "base": "separate"},
    "polish, second order": {"features": plain, "order": 2},
    "empirical": {"method": "empirical"},
    "empirical, paper": {"method": "empirical", "backoff": "paper"},
    "empirical, pairs of words": {"method": "empirical", "pairs": "words"},
    "empirical, pooled": {"method": "empirical", "backoff": "pooled", "features": plain},
    "separate": {"method": "separate", "features": edges},
    "separate, joint": {"method": "separate", "features": plain, "coupling": "joint", "label_weights": {"O": 0.7}},
    "separate, L-BFGS": {"method": "separate", "features": plain, "optimizer": "lbfgs"},
    "standard": {"method": "standard", "features": plain, "iterations": 15},
    "standard, L1": {"method": "standard", "features": plain, "c1": 0.1, "iterations": 15},
    "piecewise": {"method": "piecewise", "features": edges},
    "memm": {"method": "memm", "features": plain},
    "perceptron": {"method": "perceptron", "features": plain},
}
for name, way in ways.items():
    corate.train(corpus, **way).save(folder / name)
states = np.random.default_rng(0).integers(0, 3, (300, 4))
states[:, 1] = (states[:, 0] + states[:, 1] // 2) % 3
table = {name: states[:, i].tolist() for i, name in enumerate("abcd")}
some = table | {"b": [None if i % 5 == 0 else b for i, b in enumerate(table["b"])]}
corate.GraphModel.fit(table, structure=Chordal(width=2)).save(folder / "graph, learned")
corate.GraphModel.fit(table, "a-b b-c c-d d-a", method="composite").save(folder / "graph, composite")
corate.GraphModel.fit(some, "a-b b-c c-d", missing="em").save(folder / "graph, EM")
for path in sorted(folder.iterdir()):
    print(hashlib.sha256(path.read_bytes()).hexdigest(), path.name)
"""

#: Names of several versions of NumPy; each ignores those it does not have.
NUMPY = "AVX F16C FMA3 AVX2 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR X86_V3 X86_V4"
#: Names of several versions of the C library.
GLIBC = ",".join(f"-{name}{end}" for name in ("AVX2", "FMA", "FMA4", "AVX512F", "AVX512VL") for end in ("", "_Usable"))
OTHER = {
    "BLAS of Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "BLAS of Nehalem": {"OPENBLAS_CORETYPE": "Nehalem"},
    "NumPy without vectors": {"NPY_DISABLE_CPU_FEATURES": NUMPY},
    "C library without FMA": {"GLIBC_TUNABLES": f"glibc.cpu.hwcaps={GLIBC}"},
}


def models(folder, more: dict[str, str]) -> list[str]:
    """The digest and the name of each model."""
    folder.mkdir()
    kept = {name: value for name, value in os.environ.items() if not any(name in other for other in OTHER.values())}
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(folder)]
    done = subprocess.run(command, env=kept | more, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return models(tmp_path_factory.mktemp("usual") / "models", {})


@pytest.mark.parametrize("other", list(OTHER))
def test_another_processor_writes_the_same_models(other, usual, tmp_path):
    found = models(tmp_path / "models", OTHER[other])
    assert len(found) == 19
    assert found == usual
