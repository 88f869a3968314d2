"""XDSL, the network files of GeNIe and SMILE: read and written, for networks of conditional tables.

Document type declarations and entities are refused, so that a small file cannot grow into a large one.
"""

from __future__ import annotations

import math
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from corate.display import counted
from corate.errors import DataError, placed
from corate.graphs.bif import MOST_CELLS
from corate.graphs.directed import Network, Table

__all__ = ["read_xdsl", "write_xdsl"]

#: Kinds of nodes that are tables, and the other kinds of XDSL, which are refused.
_TABLES = ("cpt",)
_OTHERS = ("deterministic", "noisymax", "noisyadder", "decision", "utility", "mau", "equation", "demorgan")


class _Builder:
    """Collects the nodes of a file while expat reads it."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.within = ""
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.refuse
        self.parser.EntityDeclHandler = self.refuse

    def error(self, problem: str) -> DataError:
        return DataError(problem, line=self.parser.CurrentLineNumber)

    def refuse(self, *_: Any) -> None:
        raise self.error("document type declarations and entities are not allowed; remove them")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in _OTHERS:
            raise self.error(f"a node of the kind {tag!r} has no table; only networks of cpt nodes can be read")
        if tag in _TABLES:
            self.nodes.append({"id": self.id_of(attributes), "states": [], "parents": "", "probabilities": ""})
            self.nodes[-1]["line"] = self.parser.CurrentLineNumber
        elif tag == "state" and self.nodes and self.within != "extensions":
            self.nodes[-1]["states"].append(self.id_of(attributes))
        elif tag in ("parents", "probabilities", "extensions"):
            self.within = tag

    def id_of(self, attributes: dict[str, str]) -> str:
        if "id" not in attributes:
            raise self.error("the id is missing")
        return attributes["id"]

    def end(self, tag: str) -> None:
        if tag == self.within:
            self.within = ""

    def characters(self, text: str) -> None:
        if self.within in ("parents", "probabilities") and self.nodes:
            self.nodes[-1][self.within] += text


def read_xdsl(text: str) -> Network:
    """Read a network. Raises DataError with the line of what cannot be used."""
    builder = _Builder()
    try:
        builder.parser.Parse(text, True)
    except expat.ExpatError as error:
        raise DataError(f"this is not valid XML ({expat.ErrorString(error.code)})", line=error.lineno) from None
    network = Network()
    for node in builder.nodes:
        states = tuple(node["states"])
        if node["id"] in network.states or not states or len(set(states)) != len(states):
            raise DataError(f"{node['id']} is there twice, or has no different states", line=node["line"])
        network.states[node["id"]] = states
    for node in builder.nodes:
        with placed(line=node["line"]):
            network.tables[node["id"]] = _table(network, node)
    network.check()
    return network


def _table(network: Network, node: dict[str, Any]) -> Table:
    where = f"the table of {node['id']}"
    parents = tuple(node["parents"].split())
    if unknown := [parent for parent in parents if parent not in network.states]:
        raise DataError(f"{where} has the parent {unknown[0]}, which is no node")
    if len({node["id"], *parents}) != 1 + len(parents):
        raise DataError(f"{where} names a variable twice")
    shape = [len(network.states[each]) for each in (*parents, node["id"])]
    words = node["probabilities"].split()
    if math.prod(shape) > MOST_CELLS or len(words) != math.prod(shape):
        raise DataError(f"{where} has {counted(len(words), 'number')}; its states need {math.prod(shape):,}")
    try:
        values = np.array(words, dtype=np.float64)
    except ValueError:
        raise DataError(f"{where} has a value that is not a number") from None
    if not np.isfinite(values).all() or (values < 0).any():
        raise DataError(f"{where} has a number that is negative or not finite")
    return Table(parents, values.reshape(shape))


def write_xdsl(network: Network) -> str:
    """The network as text, parents before children."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<smile version="1.0" id="Network" numsamples="10000">',
        "\t<nodes>",
    ]
    for name in _parents_first(network):
        parents, table = network.tables[name]
        lines.append(f"\t\t<cpt id={quoteattr(name)}>")
        lines += [f"\t\t\t<state id={quoteattr(str(state))} />" for state in network.states[name]]
        if parents:
            if spaced := [parent for parent in parents if parent.split() != [parent]]:
                raise DataError(f"{spaced[0]!r} has a space, which XDSL does not allow; rename it")
            lines.append(f"\t\t\t<parents>{escape(' '.join(parents))}</parents>")
        lines.append(f"\t\t\t<probabilities>{' '.join(map(repr, table.ravel().tolist()))}</probabilities>")
        lines.append("\t\t</cpt>")
    return "\n".join([*lines, "\t</nodes>", "</smile>", ""])


def _parents_first(network: Network) -> list[str]:
    found: dict[str, None] = {}
    for start in network.tables:
        stack = [start]
        while stack:
            rest = [parent for parent in network.tables[stack[-1]].parents if parent not in found]
            if rest:
                stack.append(rest[0])
            else:
                found.setdefault(stack.pop())
    return list(found)
