"""Write the versions of all packages that ``make`` installs into ``requirements/``, of both projects.

``make lock`` runs this with uv. ``--versions newest|lowest --python PYTHON FILE`` instead writes the newest or the
lowest versions that pyproject.toml allows on one Python: the lowest of what users install, and the newest tools for
developers that work with them.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCKS = ROOT / "requirements"
USERS_EXTRAS = ("sklearn", "zstd", "frames", "spacy")
#: The project whose other requirements are resolved with those of Corate.
REPRODUCTION = ROOT / "reproduction" / "pyproject.toml"
GROUPS = ("build", "test", "docs", "bench")


def compile_versions(
    target: Path, extras: tuple[str, ...], groups: tuple[str, ...], *more: str, alone: bool = False
) -> None:
    """Resolve pyproject.toml with these extras and groups, or the groups ``alone``.

    The file names no index, path or command.
    """
    chosen = [word for name in extras for word in ("--extra", name)] + [w for name in groups for w in ("--group", name)]
    plain = ("--quiet", "--no-header", "--no-annotate", "--no-emit-index-url")
    with tempfile.TemporaryDirectory() as folder:
        others = Path(folder, "reproduction.txt")
        others.write_text("\n".join(of_reproduction() if extras else []) + "\n", encoding="utf-8")
        inputs = [] if alone else ["pyproject.toml", str(others)]
        command = ["uv", "pip", "compile", *inputs, *chosen, *plain, *more, "--output-file", str(target)]
        subprocess.run(
            [Path(sys.executable).with_name("uv"), *command[1:]], check=True, cwd=ROOT, stdout=subprocess.DEVNULL
        )


def of_reproduction() -> list[str]:
    """What ``reproduction/`` requires except Corate. The oldest supported Python has no parser of TOML."""
    listed = REPRODUCTION.read_text(encoding="utf-8").partition("\ndependencies = [\n")[2].partition("\n]")[0]
    return [line for line in re.findall(r'^ *"([^"]+)"', listed, re.MULTILINE) if line != "corate"]


def lock() -> None:
    """Write the versions for every supported Python and system."""
    everywhere = ("--universal", "--python-version", "3.10", "--upgrade")
    develop = LOCKS / "develop.txt"
    compile_versions(develop, USERS_EXTRAS, GROUPS, *everywhere)
    compile_versions(LOCKS / "demo.txt", (), ("build",), *everywhere, "--constraint", str(develop))
    compile_versions(LOCKS / "spark.txt", (*USERS_EXTRAS, "spark"), GROUPS, *everywhere)
    compile_versions(LOCKS / "release.txt", (), ("release",), *everywhere, alone=True)


def resolve(versions: str, python: str, target: Path) -> None:
    """Write the newest or the lowest versions for a Python."""
    more = ["--upgrade", "--python", python]
    if versions == "lowest":
        lowest = target.with_suffix(".users.txt")
        compile_versions(lowest, USERS_EXTRAS, (), *more, "--resolution", "lowest-direct")
        more += ["--constraint", str(lowest)]
    compile_versions(target, USERS_EXTRAS, GROUPS, *more)


def main() -> None:
    """Run as a command."""
    parser = argparse.ArgumentParser(description="Write the versions of all packages that make installs.")
    parser.add_argument("--versions", choices=("newest", "lowest"))
    parser.add_argument("--python", default=sys.executable, help="the Python to resolve for")
    parser.add_argument("target", nargs="?", type=Path, help="the file to write, with --versions")
    given = parser.parse_args()
    if (given.versions is None) != (given.target is None):
        parser.error("--versions and the file belong together")
    if given.versions is None:
        lock()
    else:
        resolve(given.versions, given.python, given.target.resolve())


if __name__ == "__main__":
    main()
