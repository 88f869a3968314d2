"""Work ahead: make the next item on another thread while the current one is used."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["one_ahead"]

Item = TypeVar("Item")
_END = object()


def one_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The items, each made while the one before it is used. Errors are raised where their item would come.

    >>> list(one_ahead(iter(range(4))))
    [0, 1, 2, 3]
    """
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(next, items, _END)
        while (item := waiting.result()) is not _END:
            waiting = pool.submit(next, items, _END)
            yield item  # type: ignore[misc]
