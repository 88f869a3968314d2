"""Windows has none of the signals and limits that the fuzzer uses."""

import os

collect_ignore_glob = ["*"] if os.name == "nt" else []
