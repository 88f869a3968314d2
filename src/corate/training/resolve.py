"""From what a caller gives, a name with options or an object, to the options of a method; mistakes are refused."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from corate.errors import ConfigError
from corate.training.options import METHODS, OPTIONS, Method, options_of

__all__ = ["check_init", "options_from_settings", "resolve_method"]


def resolve_method(method: str | Method, options: Mapping[str, Any]) -> Method:
    """The options of a method that is given by name, or by an object without further options.

    An option that is None counts as not given. Options that few users need are given with ``expert=``.

    >>> resolve_method("standard", {"c2": 0.1}).c2
    0.1
    >>> resolve_method("standard", {"expert": {"batch": 4}}).batch
    4
    >>> resolve_method("standard", {"c3": 0.1})
    Traceback (most recent call last):
    corate.errors.ConfigError: unknown option 'c3' of the method 'standard'; did you mean 'c2'?
    >>> resolve_method("standard", {"ladder": "paper"})
    Traceback (most recent call last):
    corate.errors.ConfigError: ladder is an option of the method 'empirical', not of 'standard'
    >>> from corate import Standard
    >>> resolve_method(Standard(), {"c2": 0.1})
    Traceback (most recent call last):
    corate.errors.ConfigError: c2 is an option of the method: give it to Standard(...), not to train
    """
    if isinstance(method, Method):
        if options:
            name = next(iter(options))
            raise ConfigError(
                f"{name} is an option of the method: give it to {type(method).__name__}(...), not to train", option=name
            )
        return method
    if not isinstance(method, str) or method not in METHODS:
        raise ConfigError(f"unknown method {method!r}; {_hint(method, METHODS)}", option="method")
    given = dict(options)
    settings, expert = given.pop("settings", None), given.pop("expert", None) or {}
    if settings is not None:
        warnings.warn(
            "settings= is deprecated, and will be removed in version 0.3; give its values as options, such as "
            "train(corpus, passes=5)",
            FutureWarning,
            stacklevel=3,
        )
        given = options_from_settings(method, settings) | given
    given = {name: value for name, value in given.items() if value is not None or name not in OPTIONS}
    for name in given if settings is None else ():
        if name in OPTIONS and OPTIONS[name].expert:
            warnings.warn(
                f"{name}= is deprecated, and will be removed in version 0.4; give expert={{{name!r}: ...}}",
                DeprecationWarning,
                stacklevel=3,
            )
    expert = _expert(expert)
    for name in given.keys() & expert.keys():
        raise ConfigError(f"{name} is given twice; leave it out of expert", option=name)
    given |= expert
    for name in given:
        _check_known(method, name)
    return METHODS[method](**given)


def _expert(options: Any) -> dict[str, Any]:
    """The options that are given with ``expert=``."""
    if not isinstance(options, Mapping):
        raise ConfigError(f"expert is a mapping of options, such as {{'batch': 4}}, not {options!r}", option="expert")
    return {str(name): value for name, value in options.items() if value is not None or name not in OPTIONS}


def _check_known(method: str, name: str) -> None:
    known = options_of(METHODS[method])
    if name in known:
        return
    if name in OPTIONS:
        owners = " or ".join(map(repr, OPTIONS[name].methods))
        raise ConfigError(f"{name} is an option of the method {owners}, not of {method!r}", option=name)
    raise ConfigError(f"unknown option {name!r} of the method {method!r}; {_hint(name, known)}", option=name)


def _hint(name: object, known: Iterable[str]) -> str:
    """A hint with the most similar known name, or with all known names."""
    near = difflib.get_close_matches(str(name), known, 1, 0.5)
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"


def check_init(method: Method, features: object, raw: object = None) -> None:
    """Raise ConfigError for a method or options that cannot be combined with ``init=``."""
    if "init" not in method.places:
        others = " or ".join(repr(name) for name, other in METHODS.items() if "init" in other.places)
        raise ConfigError(f"init is for the method {others}, not for {method.name!r}", option="init")
    for name, argument in (("features", features), ("raw", raw)):
        if argument is not None:
            raise ConfigError(f"a model that is trained further keeps its features; leave {name} unset", option=name)
    refused = method.refused("init")
    if refused is not None:
        raise ConfigError(
            f"a model that is trained further {refused.because}; leave {refused.option} unset", option=refused.option
        )


# -- settings of version 0.1 -----------------------------------------------------------------------------------------

#: Version 0.1 took these settings for all methods on whole sentences, and ignored those that a method does not use.
_UNUSED = ("c1", "c2", "rate", "passes", "iterations", "batch", "temper", "edge")


def options_from_settings(method: str, settings: Any) -> dict[str, Any]:
    """The options that are equivalent to ``settings=`` of version 0.1.

    >>> options_from_settings("separate", {"coupling": 0.5, "passes": 0})
    {'coupling_weight': 0.5}
    """
    if not isinstance(settings, Mapping):
        raise ConfigError(f"settings are given by name, such as {{'rate': 0.1}}, not as {settings!r}")
    found = {("coupling_weight" if name == "coupling" else name): value for name, value in settings.items()}
    unset = {name for name, value in found.items() if name.endswith("passes") and value == 0}
    if METHODS[method].on_sentences:
        unset |= {name for name in found if name in _UNUSED and name not in options_of(METHODS[method])}
    return {name: value for name, value in found.items() if name not in unset}
