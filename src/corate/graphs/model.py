"""`GraphModel`: a distribution of discrete variables on any undirected graph, and the questions it answers, exactly."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corate.arguments import check_seed, check_threads, check_whole
from corate.display import counted
from corate.errors import ConfigError, DataError
from corate.graphs.bins import check_bins
from corate.graphs.engine import NOTHING, Engine, Factor, edges_of
from corate.graphs.estimation import ScopeCounts
from corate.graphs.evidence import EvidenceRows, decoded, read_evidence
from corate.graphs.triangulation import MEMORY, Plan, Triangulation, sizes_of, triangulate
from corate.graphs.variables import DataRows, States, names_of, opened, rows_of
from corate.rate import Factorisation, Graph, factorise
from corate.rate.graphs import GraphLike
from corate.rate.independence import IndependenceTest
from corate.types import F64

__all__ = ["GraphModel"]


class GraphModel:
    """A distribution of discrete variables on an undirected graph (a Markov random field).

    It is a product of factors. Inference on the junction tree of the graph is exact. Models are made by :meth:`fit`
    from data, by :meth:`from_factors` from tables, and by :meth:`load`, :meth:`read`, :meth:`from_pyagrum` and
    :meth:`from_pgmpy`, not by the constructor.

    Attributes:
        graph: the graph.
        variables: the names of the variables, which are the nodes of the graph.
        states: a dict from each variable to the tuple of its states.
        record: a dict with facts about the fit, such as the number of rows.

    >>> data = {"sky": ["sun", "sun", "rain", "rain"], "ground": ["dry", "dry", "wet", "dry"]}
    >>> model = GraphModel.fit(data, "sky-ground", prior=1.0)
    >>> model
    GraphModel(2 variables, 1 edge, treewidth 1, fitted to 4 rows)
    >>> model.marginals({"ground": "wet"})["sky"].round(3).tolist(), model.states["sky"]
    ([0.833, 0.167], ('rain', 'sun'))
    """

    def __init__(
        self,
        graph: Graph,
        states: Mapping[str, States],
        factors: Sequence[Factor],
        triangulation: Triangulation,
        *,
        counts: ScopeCounts | None = None,
        record: Mapping[str, Any] | None = None,
        memory: int = MEMORY,
        engine: Engine | None = None,
    ) -> None:
        # For the readers and `fit`. Factors have the numbers of their variables among the graph's nodes.
        self.graph = graph
        self.variables = graph.nodes
        self.states = {name: tuple(states[name]) for name in graph.nodes}
        self.record = dict(record or {})
        self._counts = counts
        self._memory = memory
        self._engine = engine or Engine(factors, triangulation)
        self._numbers = {name: i for i, name in enumerate(self.variables)}
        self._log_z: float | None = None

    def __repr__(self) -> str:
        rows = f", fitted to {counted(self.record['rows'], 'row')}" if "rows" in self.record else ""
        return (
            f"GraphModel({counted(len(self.variables), 'variable')}, {counted(len(self.graph.edges), 'edge')}, "
            f"treewidth {self.costs().treewidth}{rows})"
        )

    # -- making a model ------------------------------------------------------------------------------------------------

    @staticmethod
    def plan(
        graph: GraphLike, states: int | Mapping[str, int | Sequence[Hashable]] | GraphModel = 2, *, seed: int = 0
    ) -> Plan:
        """The cost of inference on a graph, before any table is allocated.

        The result has the attributes ``treewidth``, ``cells``, ``bytes``, ``seconds`` (a rough estimate) and others.

        Args:
            graph: a string such as ``"A-B B-C"``, a list of edges, or a networkx graph.
            states: the number of states of every variable; or a mapping from each variable to its number of states or
                its states; or a model that has the variables.
            seed: the seed of the search for a good triangulation.

        >>> plan = GraphModel.plan("A-B B-C C-D D-A", 3)
        >>> plan.treewidth, plan.cells
        (2, 54)
        """
        read = Graph.of(graph)
        known: Any = states.states if isinstance(states, GraphModel) else states
        sizes = sizes_of(read, known)
        return triangulate(read.nodes, sizes, edges_of(read), seed=check_seed(seed)).plan()

    @classmethod
    def from_factors(
        cls,
        factors: Iterable[tuple[str | Sequence[str], Any]],
        states: Mapping[str, Sequence[Hashable]] | None = None,
        *,
        graph: GraphLike | None = None,
        cutset: Sequence[str] | str | None = None,
        memory: int = MEMORY,
        seed: int = 0,
    ) -> GraphModel:
        """Make a model from tables of factors.

        Args:
            factors: pairs of variables and an array that has an axis for each of them. The arrays need not be
                normalised. Variables that share a factor are neighbours in the graph.
            states: a mapping from variables to their states. By default, the states are 0, 1, 2 and so on.
            graph: a graph with further nodes and edges, as for :meth:`fit`.
            cutset: variables that every query is conditioned on, or ``"auto"`` to choose them. This needs less memory,
                but not less time.
            memory: the most bytes that the tables may need. By default, 4 GiB.
            seed: the seed of the search for a good triangulation.

        Raises ConfigError if the tables need more than ``memory`` bytes, and DataError for factors that cannot be used.

        >>> model = GraphModel.from_factors([(["A", "B"], [[4, 1], [1, 4]]), (["B", "C"], [[2, 1], [1, 2]])])
        >>> round(math.exp(model.log_z), 9), model.most_likely({"C": 1})
        (30.0, {'A': 1, 'B': 1, 'C': 1})
        """
        from corate.graphs.potentials import checked_factors

        read = None if graph is None else Graph.of(graph)
        whole, known, tables = checked_factors(factors, states or {}, read)
        if cutset is not None:
            from corate.graphs.conditioning import conditioned_engine

            engine = conditioned_engine(whole, known, tables, cutset, memory)
            return cls(whole, known, tables, engine.triangulation, memory=memory, engine=engine)
        sizes = [len(known[name]) for name in whole.nodes]
        found = triangulate(whole.nodes, sizes, edges_of(whole), seed=check_seed(seed))
        found.plan(sum(table.size for _, table in tables)).check(memory)
        return cls(whole, known, tables, found, memory=memory)

    @classmethod
    def fit(
        cls,
        data: Any,
        graph: GraphLike | None = None,
        *,
        structure: Any = None,
        states: Mapping[str, Sequence[Hashable]] | None = None,
        prior: float = 1.0,
        method: str = "auto",
        missing: str = "error",
        hidden: Mapping[str, int | Sequence[Hashable]] | None = None,
        restarts: int = 5,
        iterations: int = 1000,
        memory: int = MEMORY,
        seed: int = 0,
        threads: int = 1,
        bins: int | Mapping[str, int] | None = None,
        weights: Any = None,
    ) -> GraphModel:
        """Fit a model to the rows of a table, for a given graph or for one that is learned.

        Args:
            data: a table with named columns: a dict of lists or arrays, a pandas or polars frame, an Arrow table, the
                path of a CSV or Parquet file, or ``corate.rate.Counts``. Columns that are not in the graph are ignored.
            graph: a string such as ``"A-B B-C"``, a list of edges, or a networkx graph. The nodes are columns.
            structure: learns the graph if none is given: ``corate.graphs.Tree()`` or ``Chordal(width=3)``.
            states: a mapping from variables to their states, for example to add states that do not occur in the data.
                By default, the states are the values that occur, sorted.
            prior: the equivalent sample size of the hyper-Dirichlet prior: so many rows, spread evenly over all joint
                states, are added to the data.
            method: ``"closed"`` (counts, for triangulated graphs), ``"ipf"`` (iterative proportional fitting),
                ``"composite"`` (each clique separately), ``"conditioning"`` (counts, after every loop is broken: the
                smallest set of variables that cuts all loops is connected to all other variables), or ``"auto"``:
                closed if the graph is triangulated, else ipf.
            missing: ``"error"`` raises DataError for missing values, ``"em"`` fits data with missing values by EM.
            hidden: a mapping from variables that are not in the data to their number of states or their states. They
                are fitted by EM.
            restarts: with ``hidden``, how often EM starts from random tables. The best result is kept.
            iterations: the maximum number of iterations of iterative fitting and of EM.
            memory: the most bytes that the tables may need. By default, 4 GiB.
            seed: the seed of random tables and of the search for a good triangulation.
            threads: the number of threads.
            bins: into how many ranges to divide columns of numbers, with about equally many rows in each. A dict from
                columns to numbers, or one number for all columns of numbers that are not integers and have more
                different values. The states are the ranges; evidence and further data have numbers.
            weights: the weight of each row, or the name of the column that has them. By default, 1.

        Raises ConfigError for wrong arguments and if the tables need more than ``memory`` bytes, and DataError for data
        that cannot be used.

        >>> model = GraphModel.fit({"A": [0, 1, 1], "B": [0, 1, 0]}, "A-B", prior=0)
        >>> model.joint(["A", "B"]).round(2).tolist()
        [[0.33, 0.0], [0.33, 0.33]]
        """
        from corate.graphs.fitting import FitOptions, fit_model

        options = FitOptions(
            prior,
            method,
            missing,
            dict(hidden or {}),
            restarts,
            iterations,
            memory,
            check_seed(seed),
            check_threads(threads),
            check_bins(bins),
            weights,
        )
        return fit_model(cls, opened(data), graph, structure, states or {}, options)

    def update(self, data: Any, *, threads: int = 1, weights: Any = None) -> GraphModel:
        """A new model, fitted to the rows so far and to more rows.

        ``data`` and ``weights`` are as for :meth:`fit`. Raises DataError if the data has new states, or if this model
        was not fitted to complete data.

        >>> data = {"A": [0, 1, 1], "B": [0, 1, 0]}
        >>> both = GraphModel.fit(data, "A-B").update(data)
        >>> both.record["rows"]
        6.0
        """
        from corate.graphs.fitting import refit

        if self._counts is None:
            raise DataError("this model has no counts to add to; only models fitted to complete data can be updated")
        rows = self._rows(data, weights)
        return refit(self, rows, check_threads(threads))

    def save(self, path: str | os.PathLike[str]) -> int:
        """Write the model to a file and return its size in bytes.

        The file is written under a temporary name and then renamed.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     size = GraphModel.fit({"A": [0, 1], "B": [0, 1]}, "A-B").save(f"{folder}/model.corate")
        ...     GraphModel.load(f"{folder}/model.corate")
        GraphModel(2 variables, 1 edge, treewidth 1, fitted to 2 rows)
        """
        from corate.graphs.archive import save_model

        return save_model(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, memory: int = MEMORY) -> GraphModel:
        """Read a model that :meth:`save` wrote.

        ``memory`` is as for :meth:`fit`. Raises ModelError if the file is damaged or is not a graph model.
        """
        from corate.graphs.archive import load_model

        return load_model(cls, path, memory)

    @classmethod
    def read(cls, source: Any, format: str | None = None, *, cutset: Any = None, memory: int = MEMORY) -> GraphModel:
        """Read a model file of another program.

        Args:
            source: a path, an open file, or bytes. The data may be compressed.
            format: ``"bif"``, ``"uai"`` or ``"xdsl"``. By default, it is the suffix of the path.
            cutset: as for :meth:`from_factors`.
            memory: as for :meth:`from_factors`.

        Raises DataError if the file cannot be read.

        >>> GraphModel.read(b"MARKOV 2 2 2 1 2 0 1 4 4 1 1 4", "uai")
        GraphModel(2 variables, 1 edge, treewidth 1)
        """
        from corate.graphs.files import read_file

        return read_file(cls, source, format, cutset, memory)

    def write(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Write a file for other programs.

        ``format`` is ``"bif"``, ``"uai"`` or ``"xdsl"``; by default, it is the suffix of the path. A UAI file has no
        names of variables and states. BIF and XDSL files describe Bayesian networks. A model that was not read from a
        Bayesian network is written as an equivalent one, in which the parents of a variable are neighbours in the
        triangulated graph.
        """
        from corate.graphs.files import write_file

        write_file(self, path, format)

    @classmethod
    def from_pyagrum(cls, network: Any, *, memory: int = MEMORY) -> GraphModel:
        """The model of a ``pyagrum.BayesNet``. ``memory`` is as for :meth:`fit`."""
        from corate.graphs.bridges import from_pyagrum

        return from_pyagrum(cls, network, memory)

    @classmethod
    def from_pgmpy(cls, network: Any, *, memory: int = MEMORY) -> GraphModel:
        """The model of a pgmpy Bayesian network or Markov network. ``memory`` is as for :meth:`fit`."""
        from corate.graphs.bridges import from_pgmpy

        return from_pgmpy(cls, network, memory)

    def to_pyagrum(self) -> Any:
        """A ``pyagrum.BayesNet`` with the same distribution. Its labels are the states as strings."""
        from corate.graphs.bridges import to_pyagrum

        return to_pyagrum(self)

    def draw(self, *, seed: int = 0) -> str:
        """The graph as the text of an SVG image.

        The width of an edge shows how strongly its variables depend on each other (mutual information). An edge is red
        if states of the same rank attract each other (the first with the first, the last with the last), and blue if
        they avoid each other. ``seed`` determines the layout. Requires ``pip install corate[plots]``. Raises
        ConfigError for more than 400 variables.
        """
        from corate.graphs.drawing import draw

        return draw(self, check_seed(seed))

    def to_pgmpy(self) -> Any:
        """A pgmpy Markov network with the same factors."""
        from corate.graphs.bridges import to_pgmpy

        return to_pgmpy(self)

    def to_networkx(self) -> Any:
        """The graph as a ``networkx.Graph``.

        Nodes have the attribute ``states``, and edges the attribute ``mutual_information``, in nats.
        """
        from corate.graphs.bridges import to_networkx

        return to_networkx(self)

    # -- what is in it -------------------------------------------------------------------------------------------------

    @property
    def factors(self) -> list[tuple[tuple[str, ...], F64]]:
        """The factors: pairs of a tuple of variables and an array with an axis for each of them."""
        return [(tuple(self.variables[v] for v in scope), table) for scope, table in self._engine.factors]

    @property
    def cliques(self) -> list[tuple[str, ...]]:
        """The cliques of the junction tree, each a tuple of variables."""
        return [tuple(self.variables[v] for v in sorted(clique)) for clique in self._engine.triangulation.cliques]

    @property
    def log_z(self) -> float:
        """The logarithm of the partition function: of the sum of the product of the factors over all joint states.

        It is 0 for a model that was fitted by the method closed or ipf.

        >>> GraphModel.from_factors([("A", [1, 1])]).log_z == math.log(2)
        True
        """
        if self._log_z is None:
            self._log_z = float(self._engine.log_sums(NOTHING, 1)[0])
        if self._log_z == -math.inf:
            raise DataError("the product of the factors is zero everywhere, so it is no distribution")
        return self._log_z

    def costs(self) -> Plan:
        """The cost of a query of this model, with the attributes that :meth:`plan` describes."""
        return self._engine.plan()

    def derive(self, form: str = "auto") -> Factorisation:
        """The factorisation of the graph by co-occurrence rates, with its derivation.

        ``form`` is ``"auto"``, ``"chain"``, ``"joint-over-interior"``, ``"tree"``, ``"junction-tree"``, ``"mrf"`` or
        ``"conditioning"``. Raises ``corate.rate.ExpressionError`` for a form that the graph does not have.

        >>> GraphModel.from_factors([(["A", "B"], np.ones((2, 2)))]).derive()
        P(A, B) = CR(A; B) P(A) P(B)
        """
        return factorise(self.graph, form)

    # -- questions -----------------------------------------------------------------------------------------------------

    def marginals(self, evidence: Any = None, *, threads: int = 1) -> dict[str, F64]:
        """The probabilities of the states of every variable, given evidence.

        Args:
            evidence: the observed states of some variables, as a dict such as ``{"A": 0}``. Or many rows of evidence: a
                frame, a dict of lists, or a list of dicts. A missing value means that the variable is not observed. In
                a dict, the value of a variable may be soft evidence: its likelihood given each of its states, as a
                list of numbers such as ``{"A": [0.7, 0.3]}``, or as a dict from states to numbers. A list of states or
                of whole numbers is many rows.
            threads: the number of threads.

        Returns:
            A dict from each variable to an array with the probability of each of its states, in the order of
            ``states``. For many rows of evidence, the array has a row for each of them.

        Raises DataError for unknown variables or states, and for evidence with the probability zero.

        >>> model = GraphModel.from_factors([(["A", "B"], [[4, 1], [1, 4]])])
        >>> model.marginals({"A": 0})["B"].tolist(), model.marginals({"A": [0, 1]})["B"].tolist()
        ([0.8, 0.2], [[0.8, 0.2], [0.2, 0.8]])
        """
        rows, engine = self._asked(evidence)
        rows.require_memory("marginals", sum(map(len, self.states.values())), self._memory)
        logs, flat = engine.margins(rows.given, check_threads(threads))
        rows.require_possible(logs)
        if not len(rows.given[0]) and not rows.soft:
            self._log_z = float(logs[0])
        found, start = {}, 0
        for name in self.variables:
            stop = start + len(self.states[name])
            found[name] = flat[0, start:stop] if rows.single else flat[rows.rows, start:stop]
            start = stop
        return found

    def joint(self, variables: Sequence[str], evidence: Any = None, *, threads: int = 1) -> F64:
        """The joint probabilities of some variables, given evidence as for :meth:`marginals`.

        The result is an array with an axis for each of the variables. For many rows of evidence, the first axis is that
        of the rows.

        >>> model = GraphModel.from_factors([(["A", "B"], [[4, 1], [1, 4]]), (["B", "C"], [[4, 1], [1, 4]])])
        >>> model.joint(["A", "C"]).round(2).tolist()
        [[0.34, 0.16], [0.16, 0.34]]
        """
        numbers = self._numbers_of(variables)
        rows, engine = self._asked(evidence)
        cells = math.prod(len(self.states[self.variables[v]]) for v in numbers)
        rows.require_memory("joint probabilities", cells, self._memory)
        joined = engine.joined(numbers)
        joined.triangulation.plan(0).check(self._memory)
        logs, found = joined.joint(numbers, rows.given, check_threads(threads))
        rows.require_possible(logs)
        return found[0] if rows.single else found[rows.rows]

    def most_likely(self, evidence: Any = None, *, threads: int = 1) -> dict[str, Any]:
        """The most likely joint state of all variables, given evidence as for :meth:`marginals`.

        The result is a dict from each variable to its state. For many rows of evidence, it is a dict from each variable
        to an array of states.

        >>> GraphModel.from_factors([(["A", "B"], [[4, 1], [1, 4]])]).most_likely({"A": 1})
        {'A': 1, 'B': 1}
        """
        rows, engine = self._asked(evidence)
        logs, states = engine.most_likely(rows.given, check_threads(threads))
        rows.require_possible(logs)
        if rows.single:
            return {name: self.states[name][int(states[0, v])] for v, name in enumerate(self.variables)}
        return {name: decoded(states[rows.rows, v], self.states[name]) for v, name in enumerate(self.variables)}

    def nbest(
        self, n: int, evidence: Mapping[str, Any] | None = None, *, threads: int = 1
    ) -> list[tuple[dict[str, Any], float]]:
        """The ``n`` most likely joint states of all variables with their probabilities, best first.

        There are fewer if fewer are possible. ``evidence`` is a dict of states or soft evidence, as for
        :meth:`marginals`. The probabilities are those given the evidence.

        >>> model = GraphModel.from_factors([(["A", "B"], [[4, 1], [2, 3]])])
        >>> [(states, round(p, 9)) for states, p in model.nbest(2)]
        [({'A': 0, 'B': 0}, 0.4), ({'A': 1, 'B': 1}, 0.3)]
        """
        from corate.graphs.best import n_best

        rows, engine = self._asked(evidence)
        if not rows.single:
            raise DataError("evidence for nbest must be a dict of single states")
        logs = engine.log_sums(rows.given, check_threads(threads))
        rows.require_possible(logs)
        found = n_best(engine, rows.given, check_whole("n", n, 1), threads)
        return [
            (
                {name: self.states[name][int(states[v])] for v, name in enumerate(self.variables)},
                math.exp(log - logs[0]),
            )
            for states, log in found
        ]

    def sample(self, n: int, given: Mapping[str, Hashable] | None = None, *, seed: int = 0) -> dict[str, NDArray[Any]]:
        """Draw ``n`` rows at random from the distribution, given the states of some variables.

        The result is a dict from each variable to an array of states. The same seed gives the same rows.

        >>> draws = GraphModel.from_factors([(["A", "B"], [[4, 1], [1, 4]])]).sample(1000, {"A": 1}, seed=1)
        >>> bool(0.7 < draws["B"].mean() < 0.9)
        True
        """
        rows, engine = self._asked(given)
        if not rows.single:
            raise DataError("given must be a dict of single states")
        if check_whole("n", n, 1) * len(self.variables) * 12 > self._memory:
            raise ConfigError(
                f"the memory budget of {counted(self._memory, 'byte')} is too small for {counted(n, 'draw')}",
                option="n",
            )
        logs, states = engine.draw(rows.given, n, check_seed(seed))
        rows.require_possible(logs)
        return {name: decoded(states[:, v], self.states[name]) for v, name in enumerate(self.variables)}

    def log_prob(self, data: Any, *, threads: int = 1) -> F64:
        """The natural logarithm of the probability of each row of data, as an array; -inf for an impossible row.

        ``data`` is as for the evidence of :meth:`marginals`. Missing values and missing variables are summed out.

        >>> model = GraphModel.from_factors([(["A", "B"], [[4, 1], [1, 4]])])
        >>> np.exp(model.log_prob({"A": [0, 0], "B": [0, None]})).round(3).tolist()
        [0.4, 0.5]
        """
        rows = self._read(data)
        if rows.soft:
            raise DataError("log_prob needs rows of states; soft evidence has no probability")
        variables, states = rows.given
        if len(variables) == len(self.variables) and (states >= 0).all():
            logs = self._complete_scores(states[:, np.argsort(variables)])
        else:
            logs = self._engine.log_sums(rows.given, check_threads(threads))
        return np.asarray((logs - self.log_z)[rows.rows], dtype=np.float64)

    def entropy(self, evidence: Mapping[str, Hashable] | None = None) -> float:
        """The entropy of the joint distribution of all variables in nats, given a dict of the states of some.

        >>> round(GraphModel.from_factors([(["A", "B"], np.ones((2, 3)))]).entropy() - math.log(6), 9)
        0.0
        """
        rows, engine = self._asked(evidence)
        if not rows.single:
            raise DataError("evidence for the entropy must be a dict of single states")
        found = engine.entropy(rows.given)
        if math.isnan(found):
            rows.require_possible(np.array([-np.inf]))
        return max(0.0, found)

    def mutual_information(
        self, left: str | Sequence[str], right: str | Sequence[str], evidence: Mapping[str, Any] | None = None
    ) -> float:
        """The mutual information of two variables, or of two lists of variables, in nats.

        It is the expectation of the logarithm of their co-occurrence rate. ``evidence`` is as for :meth:`rates`.

        >>> model = GraphModel.from_factors([(["A", "B"], [[4, 1], [1, 4]])])
        >>> round(model.mutual_information("A", "B"), 4)
        0.1927
        """
        sides = [[side] if isinstance(side, str) else list(side) for side in (left, right)]
        both = self.joint([*sides[0], *sides[1]], evidence)
        if both.ndim != len(sides[0]) + len(sides[1]) or not all(sides):
            raise DataError("name at least one variable on each side; evidence must be a dict of single states")
        flat = both.reshape(math.prod(both.shape[: len(sides[0])]), -1)
        apart = flat.sum(axis=1, keepdims=True) * flat.sum(axis=0, keepdims=True)
        seen = flat > 0
        return max(0.0, float((flat[seen] * np.log(flat[seen] / apart[seen])).sum()))

    def rates(self, left: str, right: str, evidence: Mapping[str, Hashable] | None = None) -> F64:
        """The co-occurrence rates P(a, b) / (P(a) P(b)) of the states of two variables.

        ``evidence`` is a dict of observed states of other variables. The result is an array with a row for each state
        of ``left`` and a column for each state of ``right``. States with a rate above 1 attract each other; states with
        a rate below 1 avoid each other. The rate is NaN where a state has the probability zero.

        >>> GraphModel.from_factors([(["A", "B"], [[4, 1], [1, 4]])]).rates("A", "B").round(2).tolist()
        [[1.6, 0.4], [0.4, 1.6]]
        """
        both = self.joint([left, right], evidence)
        if both.ndim != 2:
            raise DataError("evidence for rates must be a dict of single states")
        rows, columns = both.sum(axis=1, keepdims=True), both.sum(axis=0, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            return np.asarray(np.where((rows > 0) & (columns > 0), both / rows / columns, np.nan))

    def test(self, data: Any, *, level: float = 0.05) -> list[tuple[IndependenceTest, bool]]:
        """G-squared tests of the independences that the graph implies, and whether each is rejected.

        There is a test for every pair of variables without an edge: that they are independent given the neighbours of
        one of them. ``data`` is as for :meth:`fit`. The probability of rejecting any true independence is at most
        ``level`` (Holm's correction for many tests).

        Returns:
            A list of pairs of a test, with ``p_value`` and other attributes, and True if it is rejected.

        >>> rows = {"A": [0, 0, 1, 1] * 9, "B": [0, 0, 1, 1] * 9, "C": [0, 1, 0, 1] * 9}
        >>> GraphModel.fit(rows, "B-C A").test(rows)[0][1]
        True
        """
        from corate.graphs.structure import independence_tests

        return independence_tests(self._rows(data), self.graph, level)

    def bic(self, data: Any, *, weights: Any = None) -> float:
        """The Bayesian information criterion: k log n - 2 log L.

        k is the number of free parameters, n the number of rows, and L the likelihood of the rows. The lower the value,
        the better the model. ``data`` and ``weights`` are as for :meth:`fit`. Missing values and hidden variables are
        summed out.

        >>> rows = {"A": [0, 0, 1, 1] * 9, "B": [0, 0, 1, 1] * 9, "C": [0, 1, 0, 1] * 9}
        >>> GraphModel.fit(rows, "A-B C").bic(rows) < GraphModel.fit(rows, "A-B B-C").bic(rows)
        True
        """
        from corate.graphs.structure import free_parameters

        rows = self._rows(data, weights, hidden=True)
        ids = np.array([self._numbers[name] for name in rows.columns], dtype=np.int32)
        states = np.stack([np.asarray(codes, dtype=np.int32) for codes in rows.columns.values()], axis=1)
        distinct, row = np.unique(states, axis=0, return_inverse=True)
        logs = self._engine.log_sums((ids, np.ascontiguousarray(distinct)), 1) - self.log_z
        counts = np.bincount(row.reshape(-1), weights=rows.weights)
        parameters = free_parameters(self.graph, self._engine.triangulation)
        seen = counts > 0
        return float(parameters * math.log(rows.total) - 2 * (counts[seen] @ logs[seen]))

    def _rows(self, data: Any, weights: Any = None, *, hidden: bool = False) -> DataRows:
        """Rows of data with the states of this model; ``hidden`` if some variables may be in no column."""
        read = opened(data)
        names = [name for name in self.variables if not hidden or name in names_of(read)]
        return rows_of(read, names, self.states, bins=self.record.get("bins", {}), weights=weights)

    def _read(self, evidence: Any) -> EvidenceRows:
        return read_evidence(evidence, self.variables, self.states, self.record.get("bins", {}))

    def _asked(self, evidence: Any) -> tuple[EvidenceRows, Engine]:
        """Evidence, and the engine that answers it."""
        rows = self._read(evidence)
        return rows, self._engine.weighted(rows.soft) if rows.soft else self._engine

    def _numbers_of(self, names: Sequence[str]) -> list[int]:
        listed = [names] if isinstance(names, str) else list(names)
        self.graph.require(listed)
        if not listed or len(set(listed)) != len(listed):
            raise DataError("name at least one variable, and none twice")
        return [self._numbers[name] for name in listed]

    def _complete_scores(self, states: NDArray[np.int32]) -> F64:
        """The log of the product of the factors, for rows with a state of every variable."""
        found = np.zeros(len(states))
        with np.errstate(divide="ignore"):
            for scope, table in self._engine.factors:
                found += np.log(table)[tuple(states[:, v] for v in scope)]
        return found
