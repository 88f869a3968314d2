"""`install` and ``python -m corate.compat``: packages that import pycrfsuite and sklearn_crfsuite get corate's."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

#: A package that uses pycrfsuite as usaddress does, and modules in place of the originals.
CLIENT = """
import pycrfsuite

TAGGER = pycrfsuite.Tagger()

def origin():
    return pycrfsuite.Tagger.__module__
"""
ORIGINAL = "class Tagger: pass\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "client.py").write_text(CLIENT)
    for package in ("pycrfsuite", "sklearn_crfsuite"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text(ORIGINAL)
        (tmp_path / package / "_pycrfsuite.py").write_text("")
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def output(folder: Path, script: str) -> str:
    done = run(folder, "-W", "error", "-c", textwrap.dedent(script))
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_packages_that_are_imported_after_install_use_corate(folder: Path) -> None:
    script = """
        import sys
        import corate.compat
        corate.compat.install()
        corate.compat.install()
        import client, pycrfsuite, pycrfsuite._logparser, pycrfsuite._dumpparser
        from pycrfsuite._pycrfsuite import Trainer
        import sklearn_crfsuite.estimator
        from sklearn_crfsuite import CRF, metrics, scorers, utils
        from sklearn_crfsuite.metrics import flat_f1_score
        from corate.compat import pycrfsuite as ours, sklearn_crfsuite as estimators
        assert sys.modules["pycrfsuite"] is pycrfsuite is ours and Trainer is ours.Trainer
        assert sklearn_crfsuite.estimator.CRF is CRF is estimators.CRF and metrics is estimators.metrics
        assert pycrfsuite._logparser.TrainLogParser.__module__ == "corate.compat.pycrfsuite.log_parser"
        assert ours.__name__ == ours.__spec__.name == "corate.compat.pycrfsuite"
        print(client.origin())
    """
    assert output(folder, script) == "corate.compat.pycrfsuite.tagger\n"


def test_uninstall_brings_the_originals_back(folder: Path) -> None:
    script = """
        from corate.compat import install, uninstall
        uninstall()
        install()
        import pycrfsuite, sklearn_crfsuite.metrics
        uninstall()
        import sys
        assert not [name for name in sys.modules if "crfsuite" in name and not name.startswith("corate.")]
        import pycrfsuite
        print(pycrfsuite.Tagger.__module__)
        install
    """
    assert output(folder, script) == "pycrfsuite\n"


def test_a_warning_says_that_the_originals_are_in_use_already(folder: Path) -> None:
    script = """
        import warnings, sys
        import client, pycrfsuite._pycrfsuite
        from corate.compat import install, uninstall
        before = sys.modules["pycrfsuite"]
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            install()
        assert len(found) == 1 and "pycrfsuite was imported before" in str(found[0].message)
        assert found[0].filename == "<string>"
        import pycrfsuite
        print(client.origin(), pycrfsuite.Tagger.__module__)
        uninstall()
        assert sys.modules["pycrfsuite"] is before and "pycrfsuite._pycrfsuite" in sys.modules
    """
    assert output(folder, script) == "pycrfsuite corate.compat.pycrfsuite.tagger\n"


def test_install_does_not_import_scikit_learn_and_does_without_it(folder: Path) -> None:
    script = """
        import sys
        from corate.compat import install
        install()
        import client, sklearn_crfsuite
        assert "sklearn" not in sys.modules
        print(client.origin())
    """
    assert output(folder, script) == "corate.compat.pycrfsuite.tagger\n"
    script = """
        import sys
        sys.modules["sklearn"] = None  # as if it were not installed
        from corate.compat import install
        install()
        import client
        try:
            from sklearn_crfsuite import CRF
        except ImportError as error:
            print(error)
    """
    assert "needs scikit-learn; install it with: pip install 'corate[sklearn]'" in output(folder, script)


def test_a_script_runs_with_corate(folder: Path) -> None:
    (folder / "scripts").mkdir()
    (folder / "scripts" / "beside.py").write_text("NAME = 'beside'\n")
    (folder / "scripts" / "script.py").write_text(
        "import sys, client, beside\nprint(__name__, sys.argv, client.origin(), beside.NAME)\nsys.exit(3)\n"
    )
    done = run(folder, "-m", "corate.compat", "scripts/script.py", "--flag", "x")
    expected = "__main__ ['scripts/script.py', '--flag', 'x'] corate.compat.pycrfsuite.tagger beside\n"
    assert (done.stdout, done.returncode, done.stderr) == (expected, 3, "")


def test_a_module_runs_with_corate(folder: Path) -> None:
    (folder / "tool.py").write_text("import sys, client\nprint(__name__, sys.argv[1:], client.origin())\n")
    done = run(folder, "-m", "corate.compat", "-m", "tool", "x")
    assert (done.stdout, done.returncode) == ("__main__ ['x'] corate.compat.pycrfsuite.tagger\n", 0)


@pytest.mark.parametrize("arguments", [[], ["-m"], ["--nonsense"]])
def test_wrong_usage_is_explained(arguments: list[str], folder: Path) -> None:
    done = run(folder, "-m", "corate.compat", *arguments)
    assert done.returncode == 2
    assert "usage: python -m corate.compat SCRIPT" in done.stderr
    done = run(folder, "-m", "corate.compat", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "-m MODULE" in done.stdout


def test_eli5_explains_the_estimator(folder: Path) -> None:
    """A stand-in for eli5, which registers what sklearn_crfsuite has when it can import it."""
    for name, text in {
        "eli5/__init__.py": "from .explain import explain_weights\n",
        "eli5/explain.py": """
            from functools import singledispatch
            @singledispatch
            def explain_weights(estimator):
                return "unknown"
            """,
        "eli5/sklearn_crfsuite/__init__.py": "",
        "eli5/sklearn_crfsuite/explain_weights.py": """
            from sklearn_crfsuite import CRF
            from eli5.explain import explain_weights
            @explain_weights.register(CRF)
            def explain_weights_sklearn_crfsuite(crf):
                return "explained"
            """,
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text))
    (folder / "sklearn_crfsuite" / "__init__.py").write_text("class CRF: pass\n")
    script = """
        import eli5, sys
        from corate.compat import install, register_eli5, uninstall
        from corate.compat.sklearn_crfsuite import CRF
        assert eli5.explain_weights(CRF()) == "unknown"
        {call}
        assert eli5.explain_weights(CRF()) == "explained"
        print(sys.modules["sklearn_crfsuite"].__name__)
    """
    assert output(folder, script.format(call="install()")) == "corate.compat.sklearn_crfsuite\n"
    assert output(folder, script.format(call="register_eli5()")) == "sklearn_crfsuite\n"
    # Without the original, even if it is installed.
    hidden = """
        from importlib.machinery import PathFinder
        find = PathFinder.find_spec
        PathFinder.find_spec = lambda name, *more: None if name == "sklearn_crfsuite" else find(name, *more)
    """
    script = hidden + script.replace(
        'print(sys.modules["sklearn_crfsuite"].__name__)', 'print("sklearn_crfsuite" in sys.modules)'
    )
    assert output(folder, script.format(call="register_eli5()")) == "False\n"
