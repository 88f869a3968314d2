"""Files for people who join: workflows run what exists, the version is in one place, and releases have notes."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

import corate

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FILES = [*sorted(GITHUB.rglob("*.yml")), ROOT / ".pre-commit-config.yaml", ROOT / "CITATION.cff"]

pytestmark = pytest.mark.skipif(not GITHUB.is_dir(), reason="the source archive has no workflows")


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def make_targets() -> set[str]:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return {name for line in re.findall(r"^([\w./ -]+):(?!=)", text, re.MULTILINE) for name in line.split()}


def steps(workflow: Any) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job.get("steps", [])]


def made(command: str) -> list[str]:
    """The targets that the make commands in a script name."""
    plain = re.sub(r"\$\{\{.*?\}\}", "value", command)
    lines = [shlex.split(line, comments=True) for line in plain.splitlines()]
    words = [word for line in lines if line[:1] == ["make"] for word in line[1:]]
    return [word for word in words if "=" not in word and not word.startswith("-")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_can_be_read(path: Path) -> None:
    assert isinstance(read(path), dict)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_are_complete_and_may_do_no_more_than_they_need(path: Path) -> None:
    workflow = read(path)
    assert {"name", "permissions", "jobs"} < set(workflow)
    assert True in workflow  # YAML reads the key "on" as true
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert "runs-on" in job or "uses" in job
        needed = [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", [])
        assert set(needed) <= set(workflow["jobs"])
        if "uses" in job:
            assert (ROOT / job["uses"]).is_file()
            assert "workflow_call" in read(ROOT / job["uses"])[True]
    for step in steps(workflow):
        assert ("run" in step) != ("uses" in step)
        assert "@" in step.get("uses", "@")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_end_and_use_exact_versions_of_actions_without_credentials(path: Path) -> None:
    jobs = read(path)["jobs"]
    assert all("timeout-minutes" in job for job in jobs.values() if "uses" not in job)
    uses = re.findall(r"uses: (?!\./)(.*)", path.read_text(encoding="utf-8"))
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action) for action in uses), uses
    for step in steps(read(path)):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


def test_workflows_make_what_the_makefile_has() -> None:
    named = {name for path in WORKFLOWS for step in steps(read(path)) for name in made(step.get("run", ""))}
    assert {"test", "fuzz", "docs", "coverage", "dist", "check-dist", "lint-workflows"} <= named
    assert named <= make_targets()


def test_what_contributors_are_told_to_make_exists() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = {name for command in re.findall(r"`(make [^`]+)`", text) for name in made(command)}
    assert {"test", "lint", "fuzz", "coverage"} <= named
    assert named <= make_targets()


def test_a_release_publishes_what_the_wheels_workflow_keeps() -> None:
    kept = {
        step["with"]["name"]
        for step in steps(read(GITHUB / "workflows" / "wheels.yml"))
        if "name" in step.get("with", {})
    }
    assert {name.partition("-")[0] for name in kept} == {"wheels", "sdist"}
    jobs = read(GITHUB / "workflows" / "release.yml")["jobs"]
    fetched = [step["with"] for step in jobs["publish"]["steps"] if "download-artifact" in step["uses"]]
    assert [one.get("pattern") or one.get("name") for one in fetched] == ["wheels-*", "sdist"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}


def test_hooks_before_a_commit_are_those_of_make_lint() -> None:
    lint = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nlint:")[2].partition("\n\n")[0]
    hooks = [hook for repo in read(ROOT / ".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    programs = {hook["entry"].split()[0].rpartition("/")[2] for hook in hooks}
    assert programs == set(re.findall(r"\$\(BIN\)/([\w-]+)", lint))


def test_the_version_is_in_one_place() -> None:
    assert not re.search(r"^version *=", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert importlib.metadata.version("corate") == corate.__version__
    assert "version" not in read(ROOT / "CITATION.cff")


# -- notes of a release -----------------------------------------------------------------------------------------------


@pytest.fixture(name="release_notes", scope="module")
def _release_notes() -> Any:
    spec = importlib.util.spec_from_file_location("release_notes", ROOT / "tools" / "release_notes.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHANGES = "# Changes\n\n## 0.3.0, not yet released\n\n- c\n\n## 0.2.0, 2026-12-01\n\n- a\n- b\n\n## 0.1.0\n\n- first\n"


def test_the_notes_of_a_release_are_its_section(release_notes: Any) -> None:
    assert release_notes.notes(CHANGES, "0.2.0") == "- a\n- b\n"


@pytest.mark.parametrize(("version", "said"), [("0.3.0", "no date"), ("0.2", "no section"), ("9.9.9", "no section")])
def test_a_release_needs_a_dated_section(release_notes: Any, version: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        release_notes.notes(CHANGES, version)


def test_a_tag_that_is_not_the_version_is_refused(release_notes: Any) -> None:
    assert release_notes.version() == corate.__version__
    with pytest.raises(ValueError, match="the version is"):
        release_notes.main("v999.0.0")
