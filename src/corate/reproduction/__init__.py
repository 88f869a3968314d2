"""The paper's experiments, run again: corpora and splits, cells that are measured one by one, and a report of them.

Zhu, Hiemstra, Apers and Wombacher, *Separate Training for Conditional Random Fields Using Co-occurrence Rate
Factorization* (2012). ``corate reproduce`` is the command; a *cell* is one method on one split.
"""
