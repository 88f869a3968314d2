"""The interfaces of python-crfsuite and sklearn-crfsuite, with training and tagging by corate.

Change one import, and a program that uses them uses corate::

    from corate.compat import pycrfsuite
    from corate.compat import sklearn_crfsuite

`install` does it for packages that import them, and ``python -m corate.compat script.py`` for a script.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["install", "register_eli5", "uninstall"]

_PACKAGES = ("pycrfsuite", "sklearn_crfsuite")
#: Modules of python-crfsuite that have another name here.
_RENAMED = {
    "pycrfsuite._pycrfsuite": "pycrfsuite",
    "pycrfsuite._logparser": "pycrfsuite.log_parser",
    "pycrfsuite._dumpparser": "pycrfsuite.dump",
}


class _Aliases(MetaPathFinder, Loader):
    """Finds modules of this package under the names that python-crfsuite and sklearn-crfsuite have for them."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The specification of a module that this class loads; None for other modules."""
        return ModuleSpec(fullname, self) if fullname.partition(".")[0] in _PACKAGES else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module itself, not a copy: there is one class of each name."""
        module = importlib.import_module(f"{__name__}.{_RENAMED.get(spec.name, spec.name)}")
        self._own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own specification again, which the import system has replaced."""
        module.__spec__ = self._own


_aliases = _Aliases()
#: The modules that were imported before `install`.
_replaced: dict[str, ModuleType] = {}


def install() -> None:
    """Make ``import pycrfsuite`` and ``import sklearn_crfsuite`` import corate's modules, everywhere in this process.

    Call it before importing packages that use them. A module that has already imported an original package keeps it; a
    warning says so. A second call does nothing. For example::

        import corate.compat

        corate.compat.install()
        import usaddress  # it now tags with corate
    """
    if _aliases in sys.meta_path:
        return
    _replaced.update(_take_modules())
    if _replaced:
        packages = " and ".join(name for name in _PACKAGES if name in _replaced)
        warnings.warn(
            f"{packages} was imported before corate.compat.install(); modules that hold it go on using it. Call "
            "install() first.",
            stacklevel=2,
        )
    sys.meta_path.insert(0, _aliases)
    importlib.import_module("pycrfsuite")
    with suppress(ModuleNotFoundError):  # there is no scikit-learn
        importlib.import_module("sklearn_crfsuite")
    if "eli5" in sys.modules:
        register_eli5()


def uninstall() -> None:
    """Undo :func:`install`: imports find the original packages again, if they are installed.

    Modules that have already imported corate's modules keep them.
    """
    if _aliases not in sys.meta_path:
        return
    sys.meta_path.remove(_aliases)
    _take_modules()
    sys.modules.update(_replaced)
    _replaced.clear()


def register_eli5() -> None:
    """Make ``eli5.explain_weights`` accept ``corate.compat.sklearn_crfsuite.CRF``. Requires the package eli5.

    :func:`install` does the same, so call this function only without ``install``.
    """
    from corate.compat.sklearn_crfsuite.estimator import CRF

    explain = importlib.import_module("eli5.explain").explain_weights
    with _installed():  # eli5's module imports sklearn_crfsuite
        module = importlib.import_module("eli5.sklearn_crfsuite.explain_weights")
    explain.register(CRF)(module.explain_weights_sklearn_crfsuite)


@contextmanager
def _installed() -> Iterator[None]:
    """Install for a while, unless the original package is there."""
    absent = _aliases not in sys.meta_path and importlib.util.find_spec("sklearn_crfsuite") is None
    if absent:
        sys.meta_path.insert(0, _aliases)
    try:
        yield
    finally:
        if absent:
            sys.meta_path.remove(_aliases)
            _take_modules()


def _take_modules() -> dict[str, ModuleType]:
    """Remove the modules with the names of both packages from those that are imported; returns them."""
    names = [name for name in sys.modules if name.partition(".")[0] in _PACKAGES]
    return {name: sys.modules.pop(name) for name in names}
