"""The algebra of co-occurrence rates: expressions, theorems as operations, and factorisations of undirected graphs.

    CR(X_1; ...; X_n) = P(X_1, ..., X_n) / (P(X_1) ... P(X_n))

>>> from corate import rate
>>> chain = rate.factorise("A-B B-C")
>>> print(chain.derivation)
P(A, B, C)
  = CR(A; B; C) P(A) P(B) P(C)         definition
  = CR(A; B) CR(AB; C) P(A) P(B) P(C)  partition: {A, B} | {C}
  = CR(A; B) CR(B; C) P(A) P(B) P(C)   first CIT: {C} and {A} are independent given {B}
>>> bool(chain.derivation.check_random(seed=0))
True
"""

from typing import TYPE_CHECKING, Any

from corate.rate.derivation import Check, Derivation, Step, rewrite
from corate.rate.errors import ExpressionError, SeparationError, UndefinedRateError
from corate.rate.evaluation import Distribution, interpretation
from corate.rate.expressions import CR, ONE, Expression, Group, P, Product, Sum, product
from corate.rate.forms import FORMS, Factorisation, factorise
from corate.rate.graphs import Graph
from corate.rate.independence import Independence, IndependenceTest
from corate.rate.junction import JunctionTree
from corate.rate.parsing import parse
from corate.rate.terms import Block, Sem, Seq, Term
from corate.rate.theorems import (
    cit1,
    cit2,
    cit3,
    conditioning,
    definition,
    duplicate,
    independent_merge,
    marginal,
    merge,
    order,
    partition,
    singleton,
    unconnected,
)

if TYPE_CHECKING:
    from corate.rate.counted import Counts
    from corate.rate.gaussian import Gaussian
    from corate.rate.histogram import Histogram
    from corate.rate.models import random_gaussian, random_table
    from corate.rate.tables import Table
    from corate.rate.value_rates import ValueRate

__all__ = [
    "CR",
    "FORMS",
    "ONE",
    "Block",
    "Check",
    "Counts",
    "Derivation",
    "Distribution",
    "Expression",
    "ExpressionError",
    "Factorisation",
    "Gaussian",
    "Graph",
    "Group",
    "Histogram",
    "Independence",
    "IndependenceTest",
    "JunctionTree",
    "P",
    "Product",
    "Sem",
    "SeparationError",
    "Seq",
    "Step",
    "Sum",
    "Table",
    "Term",
    "UndefinedRateError",
    "ValueRate",
    "cit1",
    "cit2",
    "cit3",
    "conditioning",
    "definition",
    "duplicate",
    "factorise",
    "independent_merge",
    "interpretation",
    "marginal",
    "merge",
    "order",
    "parse",
    "partition",
    "product",
    "random_gaussian",
    "random_table",
    "rewrite",
    "singleton",
    "unconnected",
]

#: What calculates with numbers is imported when it is first used: a derivation needs no NumPy.
_NUMERIC = {
    "Counts": "counted",
    "Gaussian": "gaussian",
    "Histogram": "histogram",
    "Table": "tables",
    "ValueRate": "value_rates",
    "random_gaussian": "models",
    "random_table": "models",
}


def __getattr__(name: str) -> Any:
    if name not in _NUMERIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"{__name__}.{_NUMERIC[name]}"), name)
    return value
