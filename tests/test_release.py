"""What is published: licences of what is linked in, one package and no more, and what it says about itself."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest

import corate
from corate.versions import versions

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
LICENCES = {"LICENSE", *(f"LICENSES/{name}.txt" for name in ("nanobind", "robin-map", "unicode"))}


@pytest.fixture(name="project", scope="module")
def _project() -> Any:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(name="wheel", scope="module")
def _wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel without the native module, which would take minutes."""
    pytest.importorskip("scikit_build_core")
    folder = tmp_path_factory.mktemp("wheel")
    settings = ["--config-settings=wheel.cmake=false", "--config-settings=wheel.py-api=py3"]
    options = ["--quiet", "--no-deps", "--no-build-isolation", *settings]
    command = [sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", folder, ROOT]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return zipfile.ZipFile(built)


def test_a_wheel_holds_the_package_and_the_licences_of_what_is_linked(wheel: zipfile.ZipFile) -> None:
    about = f"corate-{corate.__version__}.dist-info"
    names = {name for name in wheel.namelist() if not name.endswith("/")}
    assert {name.partition("/")[0] for name in names} == {"corate", about}
    assert {"corate/__init__.py", "corate/py.typed", "corate/demo/names.json"} <= names
    folder = f"{about}/licenses/"
    assert {name.removeprefix(folder) for name in names if name.startswith(folder)} == LICENCES
    assert b"Wenzel Jakob" in wheel.read(f"{folder}LICENSES/nanobind.txt")
    assert b"Thibaut Goetghebuer-Planchon" in wheel.read(f"{folder}LICENSES/robin-map.txt")
    assert b"UNICODE LICENSE" in wheel.read(f"{folder}LICENSES/unicode.txt")


def test_extras_are_for_users_and_are_documented(wheel: zipfile.ZipFile) -> None:
    metadata = message_from_bytes(wheel.read(f"corate-{corate.__version__}.dist-info/METADATA"))
    extras = set(metadata.get_all("Provides-Extra"))  # type: ignore[arg-type]
    assert extras == {"frames", "parquet", "sklearn", "spacy", "spark", "zstd"}
    for page in ("docs/index.md", "CONTRIBUTING.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        (sentence,) = re.findall(r"extras\*? are\s+(?:for users: )?(`[^.]*)\.", text)
        assert set(re.findall(r"`(\w+)`", sentence)) == extras, page


def test_classifiers_name_the_pythons_and_systems_that_have_wheels(project: Any) -> None:
    classifiers = project["project"]["classifiers"]
    pythons = {int(c.rpartition(".")[2]) for c in classifiers if c.startswith("Programming Language :: Python :: 3.")}
    built = set(re.findall(r"cp3(\d+)-", project["tool"]["cibuildwheel"]["build"]))
    assert pythons == set(map(int, built))
    assert min(pythons) == int(project["project"]["requires-python"].rpartition(".")[2])
    assert "Operating System :: OS Independent" not in classifiers


# -- what a report of a problem needs ---------------------------------------------------------------------------------


def printed(*command: str) -> str:
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, check=True).stdout


def test_versions_are_those_of_all_packages_without_importing_them(project: Any) -> None:
    found = versions()
    assert found["corate"] == corate.__version__
    extras = project["project"]["optional-dependencies"].values()
    listed = [*project["project"]["dependencies"], *(line for extra in extras for line in extra)]
    names = {re.split(r"[><=;\s]", line)[0] for line in listed}
    assert names == found.keys() - {"corate", "python", "system", "processors"}
    code = "import sys, corate; corate.show_versions(); print({'numpy', 'rich', 'networkx'} & set(sys.modules))"
    *lines, imported = printed("-c", code).splitlines()
    assert imported == "set()"
    assert dict(line.split(maxsplit=1) for line in lines) == found


def test_the_program_runs_as_a_module() -> None:
    assert printed("-m", "corate", "-V") == f"corate {corate.__version__}\n"


def test_only_public_names_are_listed() -> None:
    listed = printed("-c", "import corate; corate.Tagger, corate.errors; print(*dir(corate))").split()
    assert {name for name in listed if not (name.startswith("__") and name.endswith("__"))} == set(corate.__all__)
    assert "__version__" in listed
