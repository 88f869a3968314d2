"""Model files of other programs: which reader and writer a path means."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from corate.errors import ConfigError, DataError, placed
from corate.graphs.directed import Network, network_of
from corate.io.streams import bare_suffix, load, name_of, open_output

if TYPE_CHECKING:
    from corate.graphs.model import GraphModel

__all__ = ["FORMATS", "from_network", "read_file", "write_file"]

FORMATS = ("bif", "uai", "xdsl")


def read_file(
    cls: type[GraphModel], source: Any, format: str | None, cutset: Sequence[str] | str | None, memory: int
) -> GraphModel:
    """The model in a file; the format follows from the name of the file by default."""
    text, kind = load(source).decode(), _format(source, format)
    with placed(file=name_of(source)):
        return _parsed(cls, text, kind, cutset, memory)


def _parsed(cls: type[GraphModel], text: str, kind: str, cutset: Sequence[str] | str | None, memory: int) -> GraphModel:
    """The model in a text of one kind."""
    if kind == "uai":
        from corate.graphs.uai import read_uai

        states, factors, children = read_uai(text)
        model = cls.from_factors(factors, states, graph=list_of(states), cutset=cutset, memory=memory)
        if children is not None:
            model.record["children"] = children
        return model
    if kind == "bif":
        from corate.graphs.bif import read_bif

        return from_network(cls, read_bif(text), memory, cutset)
    from corate.graphs.xdsl import read_xdsl

    return from_network(cls, read_xdsl(text), memory, cutset)


def list_of(names: Any) -> Any:
    """A graph of nodes without edges."""
    from corate.rate import Graph

    return Graph(tuple(names), ())


def from_network(
    cls: type[GraphModel], network: Network, memory: int, cutset: Sequence[str] | str | None = None
) -> GraphModel:
    """The model of a Bayesian network."""
    nodes = list_of(network.states)
    model = cls.from_factors(network.factors(), network.states, graph=nodes, cutset=cutset, memory=memory)
    model.record["children"] = list(network.tables)
    return model


def write_file(model: GraphModel, path: str | os.PathLike[str], format: str | None) -> None:
    """Write a model; the format follows from the name of the file by default."""
    kind = _format(path, format)
    if kind == "uai":
        from corate.graphs.uai import write_uai

        numbers = {name: i for i, name in enumerate(model.variables)}
        text = write_uai([len(model.states[name]) for name in model.variables], model.factors, numbers)
    else:
        network = network_of(model._distribution, model.variables, model.states, model.record.get("children"))
        if kind == "bif":
            from corate.graphs.bif import write_bif

            text = write_bif(network)
        else:
            from corate.graphs.xdsl import write_xdsl

            text = write_xdsl(network)
    with open_output(os.fspath(path)) as stream:
        stream.write(text.encode())


def _format(place: Any, format: str | None) -> str:
    kind = format if format is not None else bare_suffix(place).removeprefix(".")
    if kind in FORMATS:
        return kind
    if format is not None:
        raise ConfigError(f"unknown format {format!r}; there are {', '.join(FORMATS)}", option="format")
    raise DataError("the format is not clear from the name", f"give it: {', '.join(FORMATS)}", file=name_of(place))
