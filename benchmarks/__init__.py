"""One script a question; each prints a table measured side by side in one run and writes JSON."""

import os

# Numerical libraries read these when they are loaded: no threads of theirs that nobody asked for, whose waiting would
# count as work. Corate's own threads are chosen with --threads.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
os.environ.update(ONE_THREAD)
