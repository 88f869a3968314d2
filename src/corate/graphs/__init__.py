"""Models of discrete variables on any undirected graph: estimated, queried and learned exactly, by their factors.

>>> from corate.graphs import GraphModel
>>> model = GraphModel.fit({"A": [0, 0, 1, 1], "B": [0, 0, 1, 0]}, "A-B", prior=0)
>>> model.marginals({"A": 1})["B"].tolist()
[0.5, 0.5]
"""

from corate.graphs.model import GraphModel
from corate.graphs.structure import Chordal, Tree
from corate.graphs.triangulation import Plan

__all__ = ["Chordal", "GraphModel", "Plan", "Tree"]
