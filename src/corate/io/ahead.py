"""Work ahead: make the next item on another thread while the current one is used."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

__all__ = ["one_ahead"]

Item = TypeVar("Item")
_END = object()


def one_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The items, each made while the one before it is used. Errors are raised where their item would come.

    If the system cannot start a thread, each item is made when it is needed.

    >>> list(one_ahead(iter(range(4))))
    [0, 1, 2, 3]
    """
    pool = ThreadPoolExecutor(1)
    try:
        waiting = _submitted(pool, items)
        if waiting is None:
            yield from items
            return
        while (item := waiting.result()) is not _END:
            waiting = pool.submit(next, items, _END)
            yield item  # type: ignore[misc]
    finally:
        pool.shutdown(wait=False)  # the thread may be waiting for input


def _submitted(pool: ThreadPoolExecutor, items: Iterator[Item]) -> Future[object] | None:
    """The first item, in the making; None if the system cannot start a thread."""
    try:
        return pool.submit(next, items, _END)
    except RuntimeError:
        return None
