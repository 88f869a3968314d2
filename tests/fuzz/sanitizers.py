"""The environment that a process needs to load a native module built with a sanitizer."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

__all__ = ["NAMES", "REPORTS", "environment"]

#: Starts of sanitizer reports.
REPORTS = ("ERROR: AddressSanitizer", "runtime error:", "WARNING: ThreadSanitizer")

_LIBRARIES = {"address": ("libasan.so", "libubsan.so"), "thread": ("libtsan.so",), "none": ()}
NAMES = tuple(_LIBRARIES)
#: The C library frees the thread-local memory of a finished thread, which the sanitizer takes for a race with its
#: destructors: threads of Python are not joined.
_SUPPRESSIONS = Path(__file__).with_name("thread.supp")
_OPTIONS = {
    # Python keeps its memory until exit. A Corate process may request too much memory, but must not get it.
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=4096:hard_rss_limit_mb=6144"
    ":quarantine_size_mb=32:handle_abort=0:detect_stack_use_after_return=0:abort_on_error=1:disable_coredump=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:abort_on_error=1",
    "TSAN_OPTIONS": f"halt_on_error=1:report_signal_unsafe=0:suppressions={_SUPPRESSIONS}",
}


def environment(sanitizer: str) -> dict[str, str]:
    """The variables to set; raises SystemExit if the compiler has no such runtime."""
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    paths = []
    for library in _LIBRARIES[sanitizer]:
        asked = [*compiler, f"-print-file-name={library}"]
        path = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
        if not os.path.isabs(path) or not os.path.exists(path):
            raise SystemExit(
                f"fuzz: {compiler[0]} HAS NO SANITIZER RUNTIME ({library}); install it, name a compiler that has one "
                "with CXX=, or fuzz without sanitizers: make fuzz FUZZ_SANITIZE=none"
            )
        paths.append(os.path.realpath(path))
    return {"LD_PRELOAD": " ".join(paths), **_OPTIONS} if paths else {}


if __name__ == "__main__":  # check for a runtime before the build
    environment(sys.argv[1])
