"""The rooms of the library import only from rooms before them, and no two modules import each other in a circle."""

from __future__ import annotations

import ast
from pathlib import Path

import networkx as nx
import pytest

import corate

SOURCE = Path(corate.__file__).parent
#: The rooms in order: a module imports from its own room and from those before it. Rooms of one line do not know each
#: other. docs/architecture.md shows the same order.
ORDER = [
    {"types", "errors"},
    {"arguments", "display", "memory", "portable_math", "progress", "spans", "versions"},
    {"rows"},
    {"edges", "strings"},
    {"label_pairs", "label_parts"},
    {"pages"},
    {"io"},
    {"attributes", "label_scores"},
    {"corpus"},
    {"formats"},
    {"features"},
    {"optimize"},
    {"counting"},
    {"inference"},
    {"model"},
    {"evaluation"},
    {"training"},
    {"comparison"},
    {"sklearn"},
    {"compat"},
    {"spark", "spacy"},
    {"rate"},
    {"graphs"},
    {"demo", "inspection"},
    {"cli"},
    {"__main__"},
]
#: `Tagger.update` is a thin call of training, a comparison trains what it compares, and pickles name an old module.
ALLOWED = {
    ("model.tagger", "training.train"),
    ("attributes", "corpus.attributes"),
    ("label_scores", "model.weights"),
    *(("evaluation.comparison", f"training.{name}") for name in ("train", "methods")),
}
#: The algebra stands on its own but for arrays, errors, numbers as text, pages, triangulations, and a corpus to count.
ALGEBRA = {
    "types",
    "errors",
    "display",
    "portable_math",
    "pages",
    "strings",
    "corpus",
    "label_pairs",
    "counting",
    "inference",
}
#: Graph models stand on the algebra; they know numbers as text, pages, tables and the model file, not text.
GRAPHS = {
    "types",
    "errors",
    "arguments",
    "display",
    "portable_math",
    "pages",
    "io",
    "formats",
    "model",
    "optimize",
    "inference",
    "rate",
    "graphs",
}


def imports(path: Path, *, lazy: bool) -> set[str]:
    """The modules of the library that a file imports, without the package's name; in functions only where ``lazy``."""
    found = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree) if lazy else tree.body:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return {name.removeprefix("corate.") for name in found if name.startswith("corate.")} & MODULES.keys()


def _name(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


MODULES = {_name(path): path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py"}


def test_every_module_has_a_room() -> None:
    assert {name.partition(".")[0] for name in MODULES} == set().union(*ORDER)


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_room_knows_only_those_before_it(module: str) -> None:
    room = module.partition(".")[0]
    place = next(i for i, rooms in enumerate(ORDER) if room in rooms)
    known = {"rate": {*ALGEBRA, room}, "graphs": GRAPHS}.get(room, set().union(*ORDER[:place], {room}))
    others = {name for name in imports(MODULES[module], lazy=True) if name.partition(".")[0] not in known}
    assert others - {target for source, target in ALLOWED if source == module} == set()


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = nx.DiGraph(
        (module, name)
        for module, path in MODULES.items()
        for name in imports(path, lazy=False)
        if not module.startswith(f"{name}.")  # its own package has nothing but its documentation and exports
    )
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    assert list(nx.simple_cycles(graph)) == []
