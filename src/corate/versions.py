"""The versions of Corate, of Python and of the packages that Corate can use, for reports of problems."""

from __future__ import annotations

import os
import platform
import re
import sysconfig
from importlib import metadata

import corate

__all__ = ["show_versions", "versions"]


def versions() -> dict[str, str]:
    """What is installed, by name: Corate, Python, the system, the number of processors, and packages.

    The packages are those that Corate requires, and those of its extras; "not installed" where one is missing. None of
    them is imported.
    """
    threads = " free-threaded" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
    found = {
        "corate": corate.__version__,
        "python": f"{platform.python_version()} {platform.python_implementation()}{threads}",
        "system": platform.platform(),
        "processors": str(os.cpu_count()),
    }
    required = (re.match(r"[\w.-]+", line) for line in metadata.requires("corate") or ())
    return found | {name: _version(name) for name in dict.fromkeys(match[0] for match in required if match)}


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def show_versions() -> None:
    """Print what is installed: paste this into the report of a problem.

    >>> import corate
    >>> corate.show_versions()
    corate ...
    python ...
    system ...
    """
    found = versions()
    width = max(map(len, found))
    print("\n".join(f"{name:{width}}  {version}" for name, version in found.items()))
