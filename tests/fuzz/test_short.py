"""The short form of ``make fuzz``: the same cases in every run, without sanitizers. And: the fuzzer can fail."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from fuzz import broken, signals
from fuzz.__main__ import main
from fuzz.driver import Report, Run
from fuzz.kinds import KINDS, Kind


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    findings = tmp_path_factory.mktemp("findings")
    return Run(KINDS, cases=lambda kind: iter(range(kind.short)), findings=findings)()


@pytest.mark.parametrize("kind", list(KINDS))
def test_cases_of_each_kind_are_harmless(report: dict[str, Report], kind: str) -> None:
    found = report[kind]
    assert found.cases == KINDS[kind].short
    assert found.refused < found.cases, "some are to be used, not refused"
    assert not found.bad, "\n\n".join(f"case {f.case}: {f.text}\ninput: {f.folder}" for f in found.findings)


@pytest.mark.parametrize("errors", ["", "corate: learning (2 s)\n"])
def test_a_process_that_is_killed_has_no_exit_code_of_its_own(errors: str) -> None:
    assert signals.Kills.codes(signal.SIGKILL, errors) == (0, -9)
    assert (-15 in signals.Kills.codes(signal.SIGTERM, errors)) == (not errors)


# -- the fuzzer can fail -----------------------------------------------------------------------------------------------

#: How each broken kind is reported.
REPORTED = {
    broken.Raises: "IndexError in broken.py, fail",
    broken.Dies: "a death by SIGSEGV: ERROR: AddressSanitizer: made up",
    broken.Hangs: "a hang: no answer in 2 s",
    broken.Hoards: "memory",
    broken.Loses: "the old output is lost",
    broken.Traces: "a traceback, KeyError",
}


def kind_of(cases: type, limit: float = 60) -> Kind:
    return Kind(f"fuzz.broken:{cases.__name__}", 1, limit, 4)


@pytest.fixture(scope="module")
def materials(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder: the broken kinds need no models."""
    return tmp_path_factory.mktemp("materials")


@pytest.mark.parametrize("cases", list(REPORTED))
def test_what_goes_wrong_is_reported_and_can_be_repeated(cases: type, materials: Path, tmp_path: Path) -> None:
    kinds = {"broken": kind_of(cases, 2 if cases is broken.Hangs else 60)}

    def run(numbers: list[int]) -> Report:
        said: list[str] = []
        made = Run(
            kinds,
            seed=1,
            cases=lambda kind: iter(numbers),
            workers=1,
            findings=tmp_path,
            materials=materials,
            say=said.append,
        )()["broken"]
        assert len(said) == (made.bad > 0), "alike findings are told once"
        return made

    found = run([1, 2, 3])
    assert found.cases == 3
    assert 0 < found.bad < 3, "a worker goes on, or is started again, after a case went wrong"
    assert {finding.where for finding in found.findings} == {REPORTED[cases]}
    finding = found.findings[0]
    assert finding.folder is not None
    assert f"--seed 1 --only broken --case {finding.case}" in (finding.folder / "report.txt").read_text()
    before = (finding.folder / "input").read_text()
    again = run([finding.case])
    assert (again.bad, again.findings[0].where) == (1, finding.where)
    assert (finding.folder / "input").read_text() == before


@pytest.mark.parametrize(
    ("cases", "arguments", "code"),
    [
        (broken.Harmless, ["--cases", "4"], 0),
        (broken.Refuses, ["--cases", "4"], 0),
        (broken.Raises, ["--cases", "4"], 1),
        (broken.Harmless, ["--seconds", "0"], 1),
    ],
)
def test_the_exit_code_tells(
    cases: type,
    arguments: list[str],
    code: int,
    materials: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kinds = {"broken": kind_of(cases)}
    assert main([*arguments, "--workers", "1", "--findings", str(tmp_path)], kinds, materials) == code
    assert capsys.readouterr().out.splitlines()[-1].startswith("broken ")
