"""Arithmetic of training has the same bits on every processor: no fused operations, no functions of the C library."""

from __future__ import annotations

import ast
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corate
from corate import _native, portable_math
from reference import cholesky as cholesky_reference
from reference import portable as reference

SOURCE = Path(corate.__file__).parent
NATIVE = Path(__file__).parent.parent / "native"
#: The modules whose numbers are stored in models.
STORED = [
    *(path for package in ("counting", "optimize", "training") for path in (SOURCE / package).rglob("*.py")),
    *(SOURCE / name for name in ("label_pairs.py", "model/graph_scores.py")),
    *(SOURCE / "graphs" / name for name in ("composite.py", "em.py", "structure.py")),
]


@given(st.lists(st.floats(2.3e-308, 1e308), min_size=1, max_size=40))
def test_logarithms_have_the_bits_of_the_reference_and_are_exact_to_two_units(x):
    found = portable_math.log(x).tolist()
    assert found == [reference.log(value) for value in x]
    for value, log in zip(x, found, strict=True):
        assert abs(log - math.log(value)) <= 2 * math.ulp(math.log(value))


@given(st.lists(st.floats(-708, 709), min_size=1, max_size=40))
def test_exponentials_have_the_bits_of_the_reference_and_are_exact_to_few_units(x):
    found = portable_math.exp(x).tolist()
    assert found == [reference.exp(value) for value in x]
    np.testing.assert_allclose(found, [math.exp(value) for value in x], rtol=1e-15)


@given(st.floats(-1 + 1e-16, 1e308) | st.floats(-1e-3, 1e-3))
def test_log1p_is_exact_to_few_units(x):
    assert float(portable_math.log1p(x)) == pytest.approx(math.log1p(x), rel=1e-15, abs=0)


def test_limits_of_logarithms_and_exponentials():
    assert portable_math.log([0.0, np.inf, 1.0, 5e-324]).tolist() == [-np.inf, np.inf, 0.0, math.log(5e-324)]
    assert np.isnan(portable_math.log([-1.0, -np.inf, np.nan])).all()
    assert portable_math.log1p([-1.0, np.inf, 0.0, 5e-324]).tolist() == [-np.inf, np.inf, 0.0, 5e-324]
    assert np.isnan(portable_math.log1p([-2.0, np.nan])).all()
    assert portable_math.exp([-np.inf, -1e9, 0.0]).tolist() == [0.0, 0.0, 1.0]
    assert np.isnan(portable_math.exp(np.nan))


def test_shapes_are_kept():
    table = np.arange(1.0, 7.0).reshape(2, 3)
    assert portable_math.log(table.T).shape == (3, 2)
    np.testing.assert_array_equal(portable_math.log(table.T), portable_math.log(table).T)
    assert portable_math.exp(np.float32(0.0)).shape == ()


@pytest.mark.parametrize("n", [0, 1, 31, 32, 100, 5000])
def test_inner_products_are_not_fused(n):
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=(2, n))
    assert portable_math.dot(a, b) == reference.dot(a, b)


def test_products_are_rounded_before_they_are_added():
    third = np.full(64, 1 / 3)
    third[32:] *= -1  # the sums of each lane are exactly zero, unless a product keeps more digits
    assert portable_math.dot(third, np.full(64, 1 / 3)) == 0.0
    out = _native.combination(np.full((1, 40), 1 / 3), np.array([1 / 3]), np.full(40, -(1 / 3 * (1 / 3))), 1.0)
    assert out.tolist() == [0.0] * 40


def positive_definite(n: int, condition: float = 100.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    a = basis * np.geomspace(1.0, condition, n) @ basis.T
    return (a + a.T) / 2, rng.normal(size=n)


@pytest.mark.parametrize("n", [1, 5, 8, 21, 128, 129, 150, 300])
def test_systems_are_solved_with_the_bits_of_the_reference(n):
    a, b = positive_definite(n)
    found = _native.solve_positive_definite(a, b)
    np.testing.assert_array_equal(found, cholesky_reference.solve_positive_definite(a, b))
    np.testing.assert_allclose(found, np.linalg.solve(a, b), rtol=1e-10, atol=1e-12)


def test_an_ill_conditioned_system_has_a_small_residual():
    a, b = positive_definite(60, condition=1e13)
    found = _native.solve_positive_definite(a, b)
    assert np.abs(a @ found - b).max() <= 1e-13 * np.abs(a).max() * np.abs(found).max()


def test_only_the_upper_triangle_is_read():
    a, b = positive_definite(20)
    np.testing.assert_array_equal(_native.solve_positive_definite(np.triu(a), b), _native.solve_positive_definite(a, b))


@pytest.mark.parametrize("place", [0, 7, 130, 139])
@pytest.mark.parametrize("value", [-1.0, 0.0, np.nan, np.inf])
def test_a_matrix_that_is_not_positive_definite_has_no_solution(place, value):
    a = np.eye(140)
    a[place, place] = value
    assert _native.solve_positive_definite(a, np.ones(140)) is None


def test_wrong_sizes_are_refused():
    with pytest.raises(ValueError, match="differ in size"):
        _native.solve_positive_definite(np.eye(3), np.ones(2))
    with pytest.raises(ValueError, match="differ in size"):
        _native.solve_positive_definite(np.ones((2, 3)), np.ones(2))


def test_native_code_uses_no_functions_of_the_c_library_that_depend_on_the_processor():
    calls = re.compile(r"\b(?:std::)?(exp|exp2|expm1|log|log2|log10|log1p|pow|tanh|cbrt|fma|lgamma)f?\(")
    sources = [*NATIVE.rglob("*.h"), *NATIVE.rglob("*.cpp")]
    assert len(sources) > 100
    code = ((path, re.sub(r"//.*|\"[^\"]*\"", "", path.read_text(encoding="utf-8"))) for path in sources)
    assert {str(path): found[0] for path, text in code if (found := calls.search(text))} == {}


def test_what_models_store_is_computed_without_blas_and_functions_of_numpy():
    forbidden = {"exp", "log", "log1p", "log2", "expm1", "power", "tanh", "logaddexp"}
    forbidden |= {"dot", "matmul", "einsum", "inner", "vdot", "tensordot", "linalg"}
    found = []
    for path in STORED:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
            if (named and node.value.id in ("np", "math") and node.attr in forbidden) or isinstance(
                getattr(node, "op", None), ast.MatMult
            ):
                found.append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    assert found == []
