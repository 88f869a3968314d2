"""Commits and the working tree, each installed into its own environment under `build/compare/`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from benchmarks import corpora, measure

FOLDER = corpora.ROOT / "build" / "compare"


@dataclass(frozen=True)
class Commit:
    """An installed state of the repository."""

    name: str
    folder: Path
    output: str = "output"  # the name of the folder in it for what the commit writes

    @property
    def corate(self) -> str:
        """The command."""
        return str(self.folder / "bin" / "corate")

    @property
    def python(self) -> str:
        """The interpreter."""
        return str(self.folder / "bin" / "python")

    def packages(self) -> dict[str, str]:
        """The versions of all installed packages except Corate."""
        command = [self.python, "-m", "pip", "--disable-pip-version-check", "list", "--format=json"]
        listed = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        return {one["name"]: one["version"] for one in listed if one["name"] != "corate"}


def lock() -> IO[str]:
    """A lock, held while the file is open: two runs at once would share environments and disturb each other's times."""
    import fcntl  # not on Windows, where benchmarks do not run

    FOLDER.mkdir(parents=True, exist_ok=True)
    file = (FOLDER / "lock").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise SystemExit(f"another comparison is running in {measure.from_root(FOLDER)}; wait until it ends") from None
    return file


def git(*arguments: str, index: Path | None = None) -> str:
    """The output of a git command; with `index`, git uses this file instead of the real index."""
    env = os.environ | ({"GIT_INDEX_FILE": str(index)} if index else {})
    done = subprocess.run(["git", *arguments], cwd=corpora.ROOT, env=env, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.strip()


def working_tree(index: Path) -> str:
    """The tree hash that a commit of all files would have."""
    git("read-tree", "HEAD", index=index)
    git("add", "--all", index=index)
    return git("write-tree", index=index)


def install(revision: str | None) -> Commit:
    """Export and install a revision (None: the working tree), unless it is installed already."""
    index = FOLDER / "index"
    here = working_tree(index)
    tree = git("rev-parse", "--verify", f"{revision}^{{tree}}") if revision else here
    if revision or tree == git("rev-parse", "HEAD^{tree}"):
        name = git("rev-parse", "--short", f"{revision or 'HEAD'}^{{commit}}")
    else:
        name = f"working tree {tree[:7]}"
    folder = FOLDER / f"{tree[:12]}-{sys.implementation.cache_tag}"
    if not (folder / "installed").is_file():
        print(f"installing {name} into {measure.from_root(folder)} (some minutes)", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        git("read-tree", tree, index=index)
        git("checkout-index", "--all", f"--prefix={folder / 'source'}/", index=index)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if subprocess.run([*pip, str(folder / "source")]).returncode:
            raise SystemExit(f"{name} cannot be installed")
        (folder / "installed").touch()
    return Commit(name, folder)
