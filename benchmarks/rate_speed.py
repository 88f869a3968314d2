"""How long does it take to factorise a large graph symbolically, with every step of its derivation?

`python -m benchmarks.rate_speed`

Random 5-trees of 500 nodes (treewidth exactly 5: each new node is connected to a clique of five), the same without 30 %
of the edges (treewidth at most 5, triangulated first), and a chain of 500 nodes. No table is built. The time includes
`factorise` and computing the product from its steps; it is the median of three graphs. The peer is networkx's
`junction_tree` on the same graphs, which finds only cliques and separators, without steps.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.tables import Row, Table, parser

NODES, WIDTH = 500, 5
SEEDS = (1, 2, 3)


def k_tree(seed: int, left_out: float = 0.0) -> Any:
    """A random 5-tree, with some of its edges left out."""
    import networkx as nx

    rng = random.Random(seed)
    graph = nx.complete_graph(WIDTH + 1)
    cliques = [tuple(range(WIDTH + 1))]
    for node in range(WIDTH + 1, NODES):
        joined = rng.sample(rng.choice(cliques), WIDTH)
        graph.add_edges_from((node, other) for other in joined)
        cliques.append((*joined, node))
    graph.remove_edges_from([edge for edge in graph.edges if rng.random() < left_out])
    return graph


def seconds(
    work: Callable[[Any], object], graphs: Sequence[Any], clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Seconds of the work on each graph."""
    found = []
    for graph in graphs:
        begin = clock()
        work(graph)
        found.append(clock() - begin)
    return found


def factorised(graph: Any) -> Any:
    """Factorise, and compute the product from the steps."""
    from corate.rate import factorise

    found = factorise(graph)
    return found.expression, found


def main(arguments: Sequence[str] | None = None) -> None:
    """Three kinds of graph."""
    parser("rate_speed", "Seconds of symbolic factorisation.").parse_args(arguments)
    import networkx as nx

    table = Table("rate_speed", "How long does symbolic factorisation of 500 nodes take?")
    cases = {
        "random 5-tree": [k_tree(seed) for seed in SEEDS],
        "the same, 30 % of the edges left out": [k_tree(seed, 0.3) for seed in SEEDS],
        "chain": [nx.path_graph(NODES)] * len(SEEDS),
    }
    factorised(nx.path_graph(3))  # imports
    for name, graphs in cases.items():
        times = seconds(factorised, graphs)
        processor = statistics.median(seconds(factorised, graphs, time.process_time))
        found = [factorised(graph)[1] for graph in graphs]
        width = max(len(factor.free()) for one in found for factor in one.factors) - 1
        peer = statistics.median(seconds(nx.junction_tree, graphs))
        steps = ", ".join(f"{len(one.derivation.steps):,}" for one in found)
        row = Row(
            f"{name}, {NODES} nodes",
            statistics.median(times),
            "s",
            at_most=2.0,
            peer=peer,
            peer_name="networkx junction_tree",
            note=f"worst {max(times):.2f} s; processor {processor:.2f} s; {steps} steps; cliques of width {width}",
            command="python -m benchmarks.rate_speed",
        )
        table.add(row)
    table.finish()


if __name__ == "__main__":
    main()
