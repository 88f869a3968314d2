"""How options are given to `corate.train` and to estimators: by keyword, or in ``expert`` if few users need them."""

from __future__ import annotations

from typing import Any

from corate.training.methods import OPTIONS


def given(**options: Any) -> dict[str, Any]:
    """The arguments that give these options.

    >>> given(passes=2, batch=4)
    {'passes': 2, 'expert': {'batch': 4}}
    """
    expert = {name: value for name, value in options.items() if name in OPTIONS and OPTIONS[name].expert}
    public = {name: value for name, value in options.items() if name not in expert}
    return public | ({"expert": expert} if expert else {})
