"""Memory limits: reading them, and the memory that is free."""

from __future__ import annotations

import math
import os
import re
import sys
from pathlib import Path

from corate.errors import ConfigError

__all__ = ["free_memory", "parse_memory", "shown_memory"]

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_CGROUP = Path("/sys/fs/cgroup")


def parse_memory(given: int | str) -> int:
    """The bytes of a memory limit: a number of bytes, or a string with a unit.

    >>> parse_memory("1.5G"), parse_memory("300 MB"), parse_memory(2_000_000)
    (1500000000, 300000000, 2000000)
    >>> parse_memory("2")
    Traceback (most recent call last):
    corate.errors.ConfigError: the memory limit must be a size with a unit (B, K, M, G, T), such as 500M or 2G, not '2'
    """
    text = given if isinstance(given, str) else f"{given}B"
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(?:B|([KMGT])B?)\s*", text, re.IGNORECASE)
    size = 0.0 if found is None else float(found[1]) * _UNITS[(found[2] or "").upper()]
    if not 1 <= size < math.inf:
        raise ConfigError(
            f"the memory limit must be a size with a unit (B, K, M, G, T), such as 500M or 2G, not {given!r}",
            option="memory",
        )
    return int(size)


def shown_memory(size: float) -> str:
    """A number of bytes for people.

    >>> shown_memory(1_534_000_000), shown_memory(20_000_000)
    ('1.5 GB', '20 MB')
    """
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{max(1, round(size / 1e6))} MB"


def free_memory() -> int | None:
    """The memory that programs can take now, in bytes; None where the system does not say.

    On Linux, a limit of the control group (a container, or a batch job) counts, too.
    """
    if sys.platform == "linux":
        return _linux()
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return None


def _linux() -> int | None:
    found = []
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found += [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    except (OSError, ValueError, IndexError):
        pass
    version_1 = "memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"
    for limit, used in (("memory.max", "memory.current"), version_1):
        try:
            numbers = [int((_CGROUP / name).read_text(encoding="ascii")) for name in (limit, used)]
            found.append(max(0, numbers[0] - numbers[1]))
        except (OSError, ValueError):  # no such control group, or no limit
            continue
    return min(found, default=None)
