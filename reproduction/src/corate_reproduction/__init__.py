"""Reproduce the paper's experiments: corpora and splits, cells that are measured one by one, and a report.

Zhu, Hiemstra, Apers and Wombacher, *Separate Training for Conditional Random Fields Using Co-occurrence Rate
Factorization* (2012). The command is ``corate reproduce``. A *cell* is one method on one split.
"""
