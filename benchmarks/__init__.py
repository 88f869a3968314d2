"""One script per question; each prints a table, measured side by side in one run, and writes JSON."""

import os

# Numerical libraries read these variables when they are loaded. Their idle threads would count as CPU time. Corate's
# own threads are chosen with --threads.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
os.environ.update(ONE_THREAD)
