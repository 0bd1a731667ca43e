"""One tree of errors, drawn at the top of its module, with the built-in bases that callers count on."""

from __future__ import annotations

import pickle
import re

import pytest

from surefoot import errors
from surefoot.errors import MissingExtra, SurefootError, UnknownPlace

NAMES = errors.__all__


def drawn() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Read the tree in the docstring: {name: (the name above it, the built-ins in brackets)}."""
    tree: dict[str, tuple[str, tuple[str, ...]]] = {}
    above: list[str] = []
    for line in str(errors.__doc__).split("```")[1].splitlines():
        found = re.match(r"^([│ ├└─]*)(\w+)(?: \(([\w, ]+)\))?", line)
        if found and found[2]:
            depth = len(found[1]) // 4
            above[depth:] = [found[2]]
            bases = tuple(found[3].split(", ")) if found[3] else ()
            tree[found[2]] = (above[depth - 1] if depth else "Exception", bases)
    return tree


def test_the_tree_that_is_drawn_is_the_tree_that_is() -> None:
    tree = drawn()
    assert sorted(tree) == NAMES
    for name, (above, builtin) in tree.items():
        assert tuple(base.__name__ for base in getattr(errors, name).__bases__) == (above, *builtin), name


@pytest.mark.parametrize("name", NAMES)
def test_each_is_caught_by_the_root_and_keeps_its_message(name: str) -> None:
    kind = getattr(errors, name)
    with pytest.raises(SurefootError) as caught:
        raise kind("what, where, way out")
    assert str(caught.value) == "what, where, way out"
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again)) == (kind, "what, where, way out")


def test_all_errors_of_the_module_are_public() -> None:
    found = {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert found == set(NAMES)


def test_a_key_error_of_ours_reads_as_a_sentence() -> None:
    assert str(UnknownPlace("the map has no state 'attic'")) == "the map has no state 'attic'"
    assert str(UnknownPlace(("hall", 1))) == "('hall', 1)"
    assert str(UnknownPlace()) == ""


def test_a_missing_package_is_told_with_the_line_that_mends_it() -> None:
    error = MissingExtra.of("networkx", extra="networkx", what="graphs")
    assert str(error) == "graphs need the package networkx: pip install 'surefoot[networkx]'"
    assert isinstance(error, ImportError)
