"""Models of other Python packages, to and from: networkx, pgmpy and pyAgrum, where they are installed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from corate.errors import DataError, placed
from corate.graphs.directed import Network, Table, network_of
from corate.graphs.files import from_network

if TYPE_CHECKING:
    from corate.graphs.model import GraphModel

__all__ = ["from_pgmpy", "from_pyagrum", "to_networkx", "to_pgmpy", "to_pyagrum"]


def _package(name: str) -> Any:
    """A package that not everyone has."""
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise DataError(f"{package} is not installed; install it with: pip install {package}") from None


def to_networkx(model: GraphModel) -> Any:
    """The graph with the ``states`` of each node, and the mutual information of each edge in nats."""
    found = model.graph.networkx()
    for name in model.variables:
        found.nodes[name]["states"] = model.states[name]
    for a, b in model.graph.edges:
        found.edges[a, b]["mutual_information"] = model.mutual_information(a, b)
    return found


def to_pyagrum(model: GraphModel) -> Any:
    """A ``pyagrum.BayesNet`` of the same distribution. Labels are the texts of the states."""
    pyagrum = _package("pyagrum")
    network = network_of(model._distribution, model.variables, model.states, model.record.get("children"))
    found = pyagrum.BayesNet()
    for name, states in network.states.items():
        labels = [str(state) for state in states]
        if len(set(labels)) != len(labels):
            raise DataError(f"two states of {name} have the same text, so pyAgrum cannot tell them apart")
        found.add(pyagrum.LabelizedVariable(name, name, labels))
    for child, (parents, _) in network.tables.items():
        for parent in parents:
            found.addArc(parent, child)
    for child, (parents, values) in network.tables.items():
        n = len(parents)  # the child runs fastest, then the first parent
        found.cpt(child).fillWith(values.transpose([*reversed(range(n)), n]).ravel().tolist())
    return found


def from_pyagrum(cls: type[GraphModel], network: Any, memory: int) -> GraphModel:
    """The model of a ``pyagrum.BayesNet``."""
    read = Network()
    names = sorted(network.names(), key=network.idFromName)
    for name in names:
        read.states[name] = tuple(network.variable(name).labels())
    for name in names:
        table = network.cpt(name)
        axes = list(table.names)[::-1]  # of the array
        parents = [axis for axis in axes if axis != name]
        values = np.asarray(table.toarray(), dtype=np.float64)
        read.tables[name] = Table(tuple(parents), values.transpose([axes.index(axis) for axis in (*parents, name)]))
    with placed(file="the pyAgrum network"):
        read.check()
        return from_network(cls, read, memory)


def to_pgmpy(model: GraphModel) -> Any:
    """A pgmpy Markov network with the factors of the model."""
    models, factor = _package("pgmpy.models"), _package("pgmpy.factors.discrete").DiscreteFactor
    found = (getattr(models, "DiscreteMarkovNetwork", None) or models.MarkovNetwork)()
    found.add_nodes_from(model.variables)
    found.add_edges_from(model.graph.edges)
    for scope, table in model.factors:
        states = {name: list(model.states[name]) for name in scope}
        found.add_factors(factor(list(scope), list(table.shape), table.ravel(), state_names=states))
    for name in model.variables:  # pgmpy wants a factor of every variable
        if not any(name in scope for scope, _ in model.factors):
            n = len(model.states[name])
            found.add_factors(factor([name], [n], np.ones(n), state_names={name: list(model.states[name])}))
    return found


def from_pgmpy(cls: type[GraphModel], network: Any, memory: int) -> GraphModel:
    """The model of a pgmpy Bayesian network or Markov network."""
    tables = [cpd.to_factor() for cpd in network.get_cpds()] if hasattr(network, "get_cpds") else network.get_factors()
    states = {name: tuple(of) for table in tables for name, of in table.state_names.items()}
    factors = [(tuple(table.variables), np.asarray(table.values, dtype=np.float64)) for table in tables]
    return cls.from_factors(factors, states, memory=memory)
