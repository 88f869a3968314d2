"""Run cases of one kind, one after another, and report each result; the driver notices if this process dies."""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import random
import resource
import shutil
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

__all__ = ["CaseFailedError", "main"]

#: The most memory that a case may add to the worker, and the most that it may request.
MOST_MEMORY = 1 << 30
MOST_ADDRESSES = 8 << 30


class CaseFailedError(Exception):
    """A case failed without an exception: output was lost, or two results differ that must be equal."""


def main() -> None:
    """Read a case number per line, and answer each with a JSON object on one line."""
    name, made, seed, materials, folder, sanitizer = sys.argv[1:]
    requests, replies = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    faulthandler.enable()
    warnings.simplefilter("ignore")
    os.fsync = lambda fd: None  # power cuts are not tested
    if sanitizer == "none" and sys.platform == "linux":  # a sanitizer needs the whole address space
        resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES))
    module, _, class_name = made.partition(":")
    cases = getattr(importlib.import_module(module), class_name)(Path(materials))
    before = _peak()
    print(json.dumps({"ready": True}), file=replies, flush=True)
    for line in requests:
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        outcome = _run(cases, random.Random(f"{seed} {name} {line.strip()}"), Path(folder))
        if not outcome["bad"] and _peak() - before > MOST_MEMORY:
            grown = (_peak() - before) >> 20
            outcome |= {"bad": f"the case took {grown} MiB of memory", "where": "memory"}
        print(json.dumps(outcome), file=replies, flush=True)


def _run(cases: Any, rng: random.Random, folder: Path) -> dict[str, Any]:
    from corate import CorateError

    try:
        cases.run(rng, folder)
    except CorateError:
        return {"bad": None, "refused": True}
    except CaseFailedError as failure:
        return {"bad": str(failure), "where": str(failure).split(":")[0], "refused": False}
    except BaseException as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__} in {os.path.basename(frame.filename)}, {frame.name}"
        return {"bad": traceback.format_exc(), "where": where, "refused": False}
    return {"bad": None, "refused": False}


def _peak() -> int:
    """The peak memory of this process, in bytes.

    On Linux a process inherits its parent's peak in ``getrusage``, but not in ``/proc``.
    """
    if sys.platform == "linux":
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    from fuzz import worker  # cases raise the CaseFailedError of that module, not of __main__

    worker.main()
