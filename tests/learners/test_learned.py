from __future__ import annotations

import pytest

from surefoot.errors import UnknownName
from surefoot.learners.counts import Counts
from surefoot.learners.learned import Change


def test_an_interval_is_asked_for_by_values() -> None:
    counts = Counts()
    for n in range(50):
        counts.observe((0, 1), "go", (0, n % 2))
    learned = counts.intervals(initial=(0, 1), support="seen", choices=1)
    assert learned.interval((0, 1), "go", (0, 0)) == learned.interval((0, 1), "go", (0, 1))
    assert learned.interval((0, 1), "go", "elsewhere") == (0.0, 0.0)
    with pytest.raises(UnknownName):
        learned.interval((7, 7), "go", (0, 0))


def test_a_change_reads_as_a_sentence() -> None:
    change = Change("hall", "open", "room", (0.9, 1.0), (0.0, 0.25), 0.95)
    said = "'open' in 'hall' leads to 'room' with [0, 0.25], before with [0.9, 1] (confidence 0.95)"
    assert str(change) == said
