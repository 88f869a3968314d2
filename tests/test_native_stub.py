"""The types of the native module, written by hand, name what the module has: nanobind's own stub says what that is."""

from __future__ import annotations

import ast
from pathlib import Path

from nanobind.stubgen import StubGen

import corate
from corate import _native

WRITTEN = Path(corate.__file__).with_name("_native.pyi")


def generated() -> str:
    stub = StubGen(_native)
    stub.put(_native)
    return str(stub.get())


def arguments(function: ast.FunctionDef) -> list[tuple[str, bool]]:
    """Names of arguments, and whether they have a default."""
    given = function.args.posonlyargs + function.args.args
    needed = len(given) - len(function.args.defaults)
    return [(argument.arg, i >= needed) for i, argument in enumerate(given)]


def names(stub: str) -> dict[str, list[tuple[str, bool]]]:
    """Every function, method and property of a stub with its arguments, and every class without."""
    found: dict[str, list[tuple[str, bool]]] = {}

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                found[prefix + node.name] = []
                visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.FunctionDef):
                found[prefix + node.name] = arguments(node)

    visit(ast.parse(stub).body, "")
    return found


def test_the_written_stub_names_what_the_module_has():
    written, real = names(WRITTEN.read_text(encoding="utf-8")), names(generated())
    assert {"Chains.pass_over", "Edges.dense", "Edges.n_labels", "count_table"} <= set(real)
    assert set(written) == set(real)
    assert written == real
