from __future__ import annotations

import pytest

from surefoot import errors
from surefoot.cli.exits import Exit, exit_of


def test_each_error_of_ours_has_its_exit_code() -> None:
    kinds = [getattr(errors, name) for name in errors.__all__]
    got = {kind.__name__: exit_of(kind("…")) for kind in kinds}
    assert {name for name, code in got.items() if code is Exit.JOURNAL} == {
        name for name in errors.__all__ if issubclass(getattr(errors, name), errors.JournalError)
    }
    assert {name for name, code in got.items() if code is Exit.WORLD} == {
        "ActionUnavailableError",
        "WorldError",
        "NotStarted",
        "WorldUnavailable",
        "ContractBroken",
    }
    assert set(got.values()) == {Exit.USAGE, Exit.WORLD, Exit.JOURNAL}


@pytest.mark.parametrize(("name", "code"), [("FINE", 0), ("NO", 1), ("USAGE", 2), ("WORLD", 3), ("JOURNAL", 4)])
def test_the_codes_are_what_scripts_rely_on(name: str, code: int) -> None:
    assert Exit[name] == code
