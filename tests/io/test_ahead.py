"""Items that are made ahead are the same items, in order, also where the system cannot start a thread."""

import threading

import pytest

from corate.io.ahead import one_ahead


def items():
    yield from range(3)
    raise ValueError("the last item")


@pytest.mark.parametrize("threads", [True, False])
def test_items_come_in_order_and_errors_in_their_place(monkeypatch, threads):
    def start(self):
        raise RuntimeError("can't start new thread")

    if not threads:
        monkeypatch.setattr(threading.Thread, "start", start)
    made = one_ahead(items())
    assert [next(made) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="the last item"):
        next(made)


def test_whoever_stops_does_not_wait_for_the_next_item():
    """It may be waiting for input."""
    asked, input_is_there = threading.Event(), threading.Event()

    def waiting():
        yield 0
        asked.set()
        input_is_there.wait()

    made = one_ahead(waiting())
    assert next(made) == 0
    assert asked.wait(60)
    made.close()
    input_is_there.set()
