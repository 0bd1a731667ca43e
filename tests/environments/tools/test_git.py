"""A real git repository: what it refuses, what it shows, nothing of the user's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from surefoot.environments.tools import Git
from surefoot.environments.tools.git import GIT_TOOLS
from surefoot.errors import WorldUnavailable
from surefoot.testing import check_environment

SETUP = [
    ("write", {"file": "a", "text": "one"}),
    ("add", {"file": "a"}),
    ("commit", {"message": "first"}),
    ("branch", {"name": "side"}),
]
OFFERS: dict[str, Any] = {
    "write": [{"file": "a", "text": "two"}],
    "add": [{"file": "a"}, {"file": "b"}],
    "commit": [{"message": "more"}],
    "switch": [{"name": "side"}],
}


@pytest.fixture(scope="module")
def shared() -> Iterator[Git]:
    with Git(setup=SETUP, offers=OFFERS) as world:
        assert isinstance(world, Git)
        yield world


@pytest.mark.nightly
def test_it_keeps_the_laws() -> None:
    walk = [("merge", {"name": "nowhere"}), ("write", {"file": "a", "text": "two"}), "stash", "pop stash"]
    check_environment(lambda: Git(setup=SETUP, offers=OFFERS), seeds=(0,), steps=6, long=12, examples=3, walk=walk)


def test_a_walk_through_a_repository(shared: Git) -> None:
    start = shared.reset()
    commit = start["branches"]["main"]
    assert start == {
        "branch": "main",
        "branches": {"main": commit, "side": commit},
        "changed": {},
        "conflicts": {},
        "files": ["a"],
        "merged": ["main", "side"],
        "merging": None,
        "staged": {},
        "stashes": [],
        "tags": {},
        "untracked": {},
    }
    assert shared.actions(start)[:1] == [{"name": "write", "args": {"file": "a", "text": "two"}}]

    def took(name: str, /, **args: str) -> Any:
        outcome = shared.step((name, args) if args else name)
        return outcome.state if outcome.accepted else outcome.reason

    assert took("commit", message="empty") == "exit 1: On branch main"
    assert took("switch", name="nowhere") == "exit 128: fatal: invalid reference: nowhere"
    assert took("delete branch", name="main").startswith(
        "exit 1: error: Cannot delete branch 'main' checked out at '~'"
    )
    assert took("write", file="../a", text="x") == "exit 1: not a file of this repository"
    assert took("write", file="d/b", text="x")["untracked"].keys() == {"d/b"}
    assert list(took("add", file="d/b")["staged"]) == ["d/b"]
    assert list(took("write", file="a", text="two")["changed"]) == ["a"]
    mine = took("commit", message="mine")
    assert (mine["merged"], list(mine["changed"]), mine["branches"]["side"]) == (["main", "side"], ["a"], commit)
    assert len(took("stash")["stashes"]) == 1
    assert took("switch", name="side")["files"] == ["a"]
    took("write", file="a", text="three")
    took("add", file="a")
    theirs = took("commit", message="theirs")
    assert theirs["merged"] == ["side"]
    assert took("delete branch", name="main").startswith("exit 1: error: The branch 'main' is not fully merged")
    assert took("merge", name="main")["merged"] == ["main", "side"]
    conflict = took("pop stash")
    assert (list(conflict["conflicts"]), len(conflict["stashes"])) == (["a"], 1), (
        "git says no, and it moved all the same"
    )
    resolved = took("write", file="a", text="both")
    assert resolved["conflicts"] != conflict["conflicts"], "what the file holds is a part of the state"
    assert shared.describe(conflict) == {"kind": "git repository", "branch": "side", "clean": False}


def test_the_same_calls_make_the_same_commits(shared: Git) -> None:
    first = shared.reset()
    with Git(setup=SETUP) as other:
        assert other.reset() == first


def test_nobodys_configuration_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, shared: Git) -> None:
    (tmp_path / ".gitconfig").write_text(
        "[user]\n\tname = somebody\n[alias]\n\tst = status\n[init]\n\tdefaultBranch = x\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    shared.reset()
    git = shared._run
    assert git(["git", "log", "-1", "--format=%an"]).out == b"agent\n"
    assert git(["git", "st"]).code == 1
    fetched = git(["git", "fetch", "https://example.org/repository.git"])
    assert (fetched.code, b"not allowed" in fetched.err) == (128, True)


def test_tools_may_be_added_and_taken_away(shared: Git) -> None:
    with Git(tools={"merge": None}) as world:
        world.reset()
        assert world.step(("merge", {"name": "main"})).reason == "no such tool"
    assert "merge" in GIT_TOOLS


def test_without_git_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(WorldUnavailable, match="git is not installed here"):
        Git()
