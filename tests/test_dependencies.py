"""Other people's packages: only their public parts are used, between tested bounds, in versions that are recorded."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import Environment, default_environment
from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "corate"
EXPERIMENTS = ROOT / "reproduction" / "src"
LOCKS = ROOT / "requirements"

pytestmark = pytest.mark.skipif(not LOCKS.is_dir(), reason="the source archive has no recorded versions")

#: Modules without documentation: their packages may change them in any version.
UNDOCUMENTED = {"click.core", "click.parser", "rich.cells", "numpy.core", "networkx.utils"}
#: Public in spite of its name: the documentation of the standard library or of IPython describes it.
DOCUMENTED = {"_asdict", "_replace", "_fields", "_make", "_exit", "_repr_html_", "_field_defaults"}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def own_names(trees: dict[str, ast.Module]) -> set[str]:
    """The private names that our own code defines: functions, classes, variables and attributes."""
    names: set[str] = set()
    for node in (node for tree in trees.values() for node in ast.walk(tree)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
    return {name for name in names if is_private(name)} | {"_native", *DOCUMENTED}


def private_parts(trees: dict[str, ast.Module]) -> set[tuple[str, str]]:
    """The private modules, names and attributes of other packages that are used, each with our file."""
    ours = own_names(trees)
    found: set[tuple[str, str]] = set()
    for file, tree in trees.items():
        for node in ast.walk(tree):
            modules: list[str] = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Attribute) and is_private(node.attr) and node.attr not in ours:
                found.add((file, node.attr))
            for module in modules:
                private = any(is_private(part) for part in module.split("."))
                if module.partition(".")[0] not in ("corate", "corate_reproduction", "__future__") and (
                    private or module in UNDOCUMENTED
                ):
                    found.add((file, module))
    return found


def test_only_public_parts_of_other_packages_are_used() -> None:
    trees = {
        path.relative_to(folder).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for folder in (SOURCE, EXPERIMENTS)
        for path in folder.rglob("*.py")
    }
    assert private_parts(trees) == set()


@pytest.mark.parametrize(
    ("code", "part"),
    [
        ("import codecs\ncodecs.lookup('hex')._is_text_encoding", "_is_text_encoding"),
        ("from click.core import ParameterSource", "click.core"),
        ("import numpy._core as core", "numpy._core"),
        ("from pandas import _libs", "pandas._libs"),
    ],
)
def test_private_parts_are_found(code: str, part: str) -> None:
    assert private_parts({"a.py": ast.parse(code)}) == {("a.py", part)}


# -- versions ---------------------------------------------------------------------------------------------------------


def project(folder: str = ".") -> Any:
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))


def requirements_of_users() -> list[Requirement]:
    data = project()
    extras = data["project"]["optional-dependencies"].values()
    lines = [*data["project"]["dependencies"], *data["build-system"]["requires"], *(line for e in extras for line in e)]
    experiments = project("reproduction")
    lines += [*experiments["project"]["dependencies"], *experiments["build-system"]["requires"]]
    return [Requirement(line) for line in lines if line != "corate"]


def locked(name: str, environment: Environment) -> dict[str, str]:
    """The version of each package in a file of requirements/, in one environment."""
    found: dict[str, str] = {}
    for line in (LOCKS / name).read_text(encoding="utf-8").splitlines():
        requirement = Requirement(line)
        (exact,) = requirement.specifier
        assert exact.operator == "==", line
        assert requirement.url is None
        if requirement.marker is None or requirement.marker.evaluate(dict(environment)):
            assert requirement.name not in found, line
            found[requirement.name] = exact.version
    return found


ENVIRONMENTS = [(python, system) for python in range(10, 16) for system in ("linux", "darwin", "win32")]


def environment_of(python: int, system: str) -> Environment:
    changed = {"python_version": f"3.{python}", "python_full_version": f"3.{python}.1", "sys_platform": system}
    return {**default_environment(), **changed, "platform_python_implementation": "CPython"}  # type: ignore[typeddict-item]


@pytest.mark.parametrize("requirement", requirements_of_users(), ids=str)
def test_what_users_install_has_a_lowest_version_and_a_bound_before_the_next(requirement: Requirement) -> None:
    assert {specifier.operator for specifier in requirement.specifier} == {">=", "<"}


@pytest.mark.parametrize(("python", "system"), ENVIRONMENTS)
@pytest.mark.parametrize("name", ["demo.txt", "develop.txt", "spark.txt", "release.txt"])
def test_recorded_versions_are_those_that_the_project_allows(name: str, python: int, system: str) -> None:
    environment = environment_of(python, system)
    versions = locked(name, environment)
    data = project()
    extras, groups = data["project"]["optional-dependencies"], data["dependency-groups"]
    develop = [group for group in groups if group != "release"]
    chosen = {
        "demo.txt": ((), ["build"]),
        "develop.txt": (set(extras) - {"spark"}, develop),
        "spark.txt": (extras, develop),
        "release.txt": ((), ["release"]),
    }[name]
    wanted = [] if name == "release.txt" else [*data["project"]["dependencies"], *data["build-system"]["requires"]]
    wanted += [line for extra in chosen[0] for line in extras[extra]] + [
        w for group in chosen[1] for w in groups[group]
    ]
    for requirement in map(Requirement, wanted):
        if requirement.marker is None or requirement.marker.evaluate(dict(environment)):
            assert requirement.specifier.contains(versions[requirement.name]), requirement


@pytest.mark.parametrize(("python", "system"), ENVIRONMENTS)
def test_the_demonstration_runs_with_versions_that_are_tested(python: int, system: str) -> None:
    environment = environment_of(python, system)
    assert locked("demo.txt", environment).items() <= locked("develop.txt", environment).items()


def test_recorded_versions_name_no_place() -> None:
    for path in LOCKS.glob("*.txt"):
        text = path.read_text(encoding="utf-8")
        assert not any(word in text for word in ("://", "--", "file:", "@", " /")), path.name
