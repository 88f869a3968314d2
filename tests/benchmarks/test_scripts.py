"""Every benchmark can be imported, and what it asks of the others is there."""

import ast
import importlib
from pathlib import Path

import pytest
from benchmarks.__main__ import SCRIPTS


@pytest.mark.parametrize("name", SCRIPTS)
def test_what_a_script_takes_from_other_modules_is_there(name):
    script = importlib.import_module(f"benchmarks.{name}")
    tree = ast.parse(Path(script.__file__).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = getattr(script, node.value.id, None)
            if type(module) is type(importlib):
                assert hasattr(module, node.attr), f"{name}: {node.value.id}.{node.attr}"
