"""A fuzzer of Corate's files, texts, options and signals: ``make fuzz``.

``python -m fuzz`` (with ``tests`` on the path) runs cases of every kind until the time is over. A case depends only
on the seed, its kind and its number. It runs in a worker process, so that a crash is noticed and can be repeated.
"""
