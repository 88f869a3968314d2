"""The comparison of methods at the place where version 0.2 had it."""

from __future__ import annotations

import pytest

from corate.evaluation import comparison


def test_the_old_name_warns_and_works() -> None:
    with pytest.warns(FutureWarning, match=r"corate\.evaluation\.comparison"):
        from corate.comparison import compare
    assert compare is comparison.compare
