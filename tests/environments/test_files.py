"""A file tree is walked as it is: real links, real permissions, real faults, names of any bytes."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot
from surefoot.environments.files import Files
from surefoot.errors import BadArgument, NotStarted, WorldUnavailable
from surefoot.protocols import Describable, Environment, Signposted, Snapshotable, faulted, moved, refused
from surefoot.testing import EnvironmentContract
from surefoot.values import name_of_path

GONE = {"errno": "ENOENT"}


def plant(root: Path) -> Path:
    """Make a small tree below `root`."""
    for folder in ("docs/how", "src", ".git", "empty"):
        (root / folder).mkdir(parents=True)
    for file, text in {"docs/index.md": "hello", "docs/how/a.md": "", "src/x.py": "x = 1\n", ".git/HEAD": "r"}.items():
        (root / file).write_text(text)
    return root


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return plant(tmp_path / "tree")


def started(root: Path, *way: str, **options: Any) -> Files:
    """Return a world whose walker has gone `way`."""
    world = Files(root, **options)
    world.reset(seed=0)
    for action in way:
        assert world.step(action).accepted, action
    return world


def walk_all(world: Files) -> set[str]:
    """Return every place that a depth-first walk finds, by stepping only."""
    places = {world.reset()}

    def visit(here: str) -> None:
        for action in world.actions(here):
            if action == "..":
                continue
            outcome = world.step(action)
            if outcome.accepted and outcome.state not in places:
                places.add(outcome.state)
                visit(outcome.state)
            if outcome.accepted:
                world.restore_state(here)

    visit(".")
    return places


@pytest.fixture(scope="class")
def _planted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Give a class a tree with links of its own."""
    root = plant(tmp_path_factory.mktemp("contract") / "tree")
    for name, target in {"round": "../src/round", "up": "..", "out": "/"}.items():
        (root / "src" / name).symlink_to(target)
    request.cls.root = root


@pytest.mark.usefixtures("_planted")
class _Tree(EnvironmentContract):
    offered = True
    steps, long, examples = 30, 60, 4
    root: Path

    def walk(self) -> list[str]:
        return ["..", "src", "x.py", "y.py", "..", "..", "nowhere", "docs"]


class TestFiles(_Tree):
    def make(self) -> Files:
        return Files(self.root)


class TestFilesWithLinks(_Tree):
    def make(self) -> Files:
        return Files(self.root, follow_links=True, hidden=False, max_entries=4)


def test_it_is_what_it_says(tree: Path) -> None:
    world = Files(tree)
    for protocol in (Environment, Snapshotable, Describable, Signposted):
        assert isinstance(world, protocol)


def test_a_walk_there_and_back(tree: Path) -> None:
    world = started(tree)
    assert world.actions(".") == [".git", "docs", "empty", "src"]
    assert [world.step(action) for action in ("docs", "index.md", "how", "..", "..", "..")] == [
        moved("docs", effect={"at": "docs"}),
        moved("docs/index.md", effect={"at": "docs/index.md"}),
        refused("docs/index.md", "no such entry", info={"errno": "ENOTDIR"}),
        moved("docs", effect={"at": "docs"}),
        moved(".", effect={"at": "."}),
        refused(".", "at the root"),
    ]
    assert world.actions("docs") == ["how", "index.md", ".."]
    assert world.actions("docs/index.md") == world.actions("empty") == [".."]
    assert world.signs(".") == [(name, name) for name in (".git", "docs", "empty", "src")]
    assert world.signs("docs/how") == [("a.md", "docs/how/a.md"), ("..", "docs")]
    assert world.signs("docs") == [("how", "docs/how"), ("index.md", "docs/index.md"), ("..", ".")]


def test_it_finds_what_the_operating_system_finds() -> None:
    root = Path(surefoot.__file__).parent
    theirs = {"."}
    for folder, folders, files in os.walk(root):
        theirs |= {name_of_path(Path(folder, name).relative_to(root)) for name in folders + files}
    assert walk_all(Files(root)) == theirs


def test_what_is_described(tree: Path) -> None:
    (tree / "link").symlink_to("no/where")
    world = Files(tree)
    assert world.describe("docs/index.md") == {"kind": "file", "name": "index.md", "size": 5}
    assert world.describe("docs") == {"kind": "directory", "name": "docs", "entries": 2}
    assert world.describe(".") == {"kind": "directory", "name": ".", "entries": 5}
    assert world.describe("link") == {"kind": "link", "name": "link", "target": "no/where"}
    assert world.describe("link/x") == {"kind": "missing", "name": "x"}
    assert world.describe("attic") == {"kind": "missing", "name": "attic"}


def test_hidden_entries_can_be_left_out(tree: Path) -> None:
    world = started(tree, hidden=False)
    assert world.actions(".") == ["docs", "empty", "src"]
    assert world.step(".git") == refused(".", "no such entry")
    assert ".git/HEAD" not in walk_all(world)


def test_a_long_directory_can_be_cut(tree: Path) -> None:
    world = started(tree, max_entries=2)
    assert world.actions(".") == [".git", "docs"]
    assert world.step("src") == refused(".", "no such entry")
    assert world.describe(".") == {"kind": "directory", "name": ".", "entries": 2, "more": 2}
    assert world.restore_state(".") == "."
    assert [world.step(action).accepted for action in ("src", "docs", "how")] == [False, True, True]
    shutil.rmtree(tree / "docs")
    assert world.restore_state("docs") == "docs"
    assert world.step("how") == refused("docs", "no such entry", info=GONE)


# -- a tree that changes ----------------------------------------------------------------------------------------------


def test_a_change_is_seen_at_the_next_visit(tree: Path) -> None:
    world = started(tree, "docs")
    (tree / "docs" / "new.md").write_text("")
    assert world.actions("docs") == ["how", "index.md", ".."]
    assert world.step("new.md").accepted
    assert world.step("..").accepted
    assert world.actions("docs") == ["how", "index.md", "new.md", ".."]


def test_an_entry_that_has_vanished_is_refused(tree: Path) -> None:
    world = started(tree, "docs")
    (tree / "docs" / "index.md").unlink()
    assert world.step("index.md") == refused("docs", "no longer there", info=GONE)
    assert world.actions("docs") == ["how", ".."]
    assert world.step("index.md") == refused("docs", "no such entry", info=GONE)


def test_a_place_that_vanishes_under_the_walker_leaves_the_way_back(tree: Path) -> None:
    world = started(tree, "docs", "how")
    shutil.rmtree(tree / "docs" / "how")
    assert world.step("a.md") == refused("docs/how", "no longer there", info=GONE)
    assert world.actions("docs/how") == [".."]
    assert world.step("..") == moved("docs", effect={"at": "docs"})
    shutil.rmtree(tree / "docs")
    assert world.restore_state("docs/how") == "docs/how"
    assert world.step("..") == refused("docs/how", "no longer there", info=GONE)


def test_a_root_that_vanishes_is_a_fault_and_no_evidence(tree: Path) -> None:
    world = started(tree)
    tree.rename(tree.with_name("moved"))
    assert world.step("docs") == faulted(".", "the root is gone", info=GONE)
    with pytest.raises(WorldUnavailable, match=r"^cannot read 'docs' in "):
        world.actions("docs")
    with pytest.raises(WorldUnavailable, match="No such file or directory; give a directory that may be read"):
        world.reset()
    tree.with_name("moved").rename(tree)
    assert world.step("docs").accepted


def test_a_directory_that_becomes_a_link_leads_nowhere(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "outside" / "how").mkdir(parents=True)
    (tmp_path / "outside" / "how" / "secret").write_text("")
    for options in ({}, {"follow_links": True}):
        world = started(tree, "docs", "how", **options)
        (tree / "docs").rename(tree / "kept")
        (tree / "docs").symlink_to(tmp_path / "outside")
        assert not world.step("secret").accepted
        assert world.actions("docs/how") == [".."]
        assert world.describe("docs/how/secret") == {"kind": "missing", "name": "secret"}
        (tree / "docs").unlink()
        (tree / "kept").rename(tree / "docs")


# -- links and special files ------------------------------------------------------------------------------------------


def test_links_are_leaves_unless_followed(tree: Path) -> None:
    (tree / "link").symlink_to("docs")
    world = started(tree, "link")
    assert world.actions("link") == [".."]
    assert world.describe("link")["target"] == "docs"
    assert "link/index.md" not in walk_all(world)


@pytest.fixture
def links(tree: Path) -> Path:
    """Return a tree with a link of every kind in `src`."""
    for name, target in {
        "docs": "../docs",
        "deep": str(tree / "docs" / "how"),
        "root": "..",
        "loop": "loop",
        "nothing": "nowhere/at/all",
        "out": "../..",
        "git": "../.git",
        "chain": "docs",
    }.items():
        (tree / "src" / name).symlink_to(target)
    return tree


@pytest.mark.parametrize(
    ("name", "place"), [("docs", "docs"), ("deep", "docs/how"), ("root", "."), ("git", ".git"), ("chain", "docs")]
)
def test_a_followed_link_leads_to_the_place_itself(links: Path, name: str, place: str) -> None:
    world = started(links, "src", follow_links=True)
    assert dict(world.signs("src"))[name] == place
    assert world.step(name) == moved(place, effect={"at": place})


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("loop", "a loop of links"),
        ("nothing", "a link to nothing"),
        ("out", "a link out of the tree"),
        ("git", "a link to a hidden place"),
    ],
)
def test_a_followed_link_that_leads_nowhere_is_refused(links: Path, name: str, reason: str) -> None:
    world = started(links, "src", follow_links=True, hidden=False)
    assert name in world.actions("src")
    assert name not in dict(world.signs("src"))
    outcome = world.step(name)
    assert (outcome.verdict, outcome.state, outcome.reason) == ("refused", "src", reason)


def test_a_walk_through_loops_of_links_ends(links: Path) -> None:
    (links / "docs" / "again").symlink_to("../src")
    plain = {
        "." if folder == str(links) else name_of_path(Path(folder).relative_to(links))
        for folder, _, _ in os.walk(links)
    }
    assert {place for place in walk_all(Files(links, follow_links=True)) if (links / place).is_dir()} == plain


def test_special_files_are_leaves_and_never_opened(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tree / "pipe")  # opening it would wait for ever
    monkeypatch.chdir(tree)  # the address of a socket is short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        world = started(tree, "pipe")
        assert world.actions("pipe") == [".."]
        assert world.describe("pipe") == {"kind": "fifo", "name": "pipe"}
        assert world.describe("socket") == {"kind": "socket", "name": "socket"}
    assert Files("/dev").describe("null") == {"kind": "character device", "name": "null"}


# -- names ------------------------------------------------------------------------------------------------------------


def test_names_that_are_not_utf8_are_walked(tree: Path) -> None:
    root = os.fsencode(tree / "empty")
    try:
        os.mkdir(root + b"/caf\xe9")
    except OSError as error:
        pytest.skip(f"this file system takes UTF-8 names only: {error}")
    for name in (b"/caf\xe9/100%", b"/caf\xe9/\xff\n\\", "/caf\xe9/é".encode("latin-1"), b"/caf%E9"):
        Path(os.fsdecode(root + name)).write_bytes(b"1")
    world = started(tree, "empty")
    assert world.actions("empty") == ["caf%25E9", "caf%E9", ".."]
    assert world.step("caf%E9").state == "empty/caf%E9"
    assert world.actions("empty/caf%E9") == ["%E9", "%FF\n\\", "100%25", ".."]
    assert world.step("100%25") == moved("empty/caf%E9/100%25", effect={"at": "empty/caf%E9/100%25"})
    assert world.describe("empty/caf%E9/%FF\n\\") == {"kind": "file", "name": "%FF\n\\", "size": 1}


@given(st.lists(st.binary(min_size=1, max_size=8), min_size=1, max_size=8))
def test_any_names_are_walked_and_stay_apart(tmp_path_factory: pytest.TempPathFactory, names: list[bytes]) -> None:
    root = tmp_path_factory.mktemp("names")
    given_names = {name for name in names if b"/" not in name and b"\0" not in name and name not in (b".", b"..")}
    for name in given_names:
        Path(os.fsdecode(os.fsencode(root) + b"/" + name)).write_bytes(b"")
    world = started(root)
    actions = world.actions(".")
    assert actions == sorted({name_of_path(name) for name in given_names})
    assert len(actions) == len(given_names)
    for action in actions:
        assert (world.step(action).state, world.step("..").state) == (action, ".")


@pytest.mark.parametrize(
    "action", ["", ".", "a/b", "/", "docs/", "docs/../docs", "%", "d%6Fcs", "%2F", "%00", "\0", 3, None]
)
def test_what_is_no_name_is_refused(tree: Path, action: Any) -> None:
    assert started(tree).step(action) == refused(".", "no such entry")


@pytest.mark.parametrize(
    "state", ["", "/", "/docs", "docs/", "docs//how", "./docs", "docs/..", "..", "%2F", "\0", "\udce9", 3, None]
)
def test_what_is_no_place_is_refused_and_changes_nothing(tree: Path, state: Any) -> None:
    world = started(tree, "docs")
    for ask in (world.actions, world.signs, world.describe, world.restore_state):
        with pytest.raises(BadArgument, match=r'^a state of this world is "\." or a path below the root'):
            ask(state)
    assert world.save_state() == "docs"


# -- the root ---------------------------------------------------------------------------------------------------------


def test_the_root_must_be_a_directory(tree: Path) -> None:
    for root, why in ((tree / "attic", "No such file or directory"), (tree / "docs" / "index.md", "Not a directory")):
        with pytest.raises(WorldUnavailable, match=f"^cannot walk .*: {why}; give a directory that may be read$"):
            Files(root)


def test_the_root_may_be_bytes_a_link_or_the_root_of_the_system(tree: Path) -> None:
    (tree.parent / "link").symlink_to(tree)
    assert started(tree.parent / "link", "docs", "..").save_state() == "."
    assert Files(os.fsencode(tree)).actions("docs") == ["how", "index.md", ".."]
    world = Files("/")
    assert (world.reset(), world.step("dev").state, world.step("..").state) == (".", "dev", ".")


@pytest.mark.parametrize("most", [0, -1, True, 1.5, "2"])
def test_max_entries_is_an_int_of_at_least_one(tree: Path, most: Any) -> None:
    with pytest.raises(BadArgument, match=r"^max_entries must be None or an int >= 1, got "):
        Files(tree, max_entries=most)


def test_step_needs_a_reset(tree: Path) -> None:
    with pytest.raises(NotStarted, match=r"^step\('docs'\) before reset\(\): call reset\(seed=\.\.\.\) first$"):
        Files(tree).step("docs")
    with pytest.raises(NotStarted, match=r"^save_state\(\) before reset\(\)"):
        Files(tree).save_state()


def test_a_snapshot_goes_back_to_the_place(tree: Path) -> None:
    world = started(tree, "docs")
    token = world.save_state()
    world.step("how")
    assert world.restore_state(token) == "docs"
    assert world.step("index.md").state == "docs/index.md"


# -- what the operating system refuses --------------------------------------------------------------------------------


def in_a_process_of_its_own(script: str) -> Any:
    """Run `script` as a user whom permissions bind, in a folder of that user; return what it leaves in `told`."""
    preamble = """
        import errno, json, os, resource, shutil, sys, tempfile
        from surefoot.environments.files import Files
        from surefoot.errors import WorldUnavailable
        if os.geteuid() == 0:
            os.setgroups([]); os.setgid(65534); os.setuid(65534)
        root = tempfile.mkdtemp(prefix="surefoot-test-")
        told = {}
        def short(outcome):
            return [outcome.state, outcome.verdict, outcome.reason or outcome.fault, dict(outcome.info)]
        try:
            ...
        finally:
            os.chmod(root, 0o700)
            for folder, folders, _ in os.walk(root):
                for name in folders:
                    os.chmod(os.path.join(folder, name), 0o700)
            shutil.rmtree(root)
        print(json.dumps(told))
    """
    before, after = textwrap.dedent(preamble).split("    ...\n")
    body = textwrap.indent(textwrap.dedent(script).strip(), "    ")
    env = os.environ | {"PYTHONPATH": str(Path(surefoot.__file__).parent.parent), "TMPDIR": "/tmp"}
    done = subprocess.run(
        [sys.executable, "-c", f"{before}{body}\n{after}"], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_permission_denied_is_a_refusal() -> None:
    told = in_a_process_of_its_own("""
        os.makedirs(root + "/closed/inside"); os.makedirs(root + "/listed/inside"); os.mkdir(root + "/open")
        world = Files(root)
        world.reset()
        os.chmod(root + "/closed", 0o000)   # neither read nor entered
        os.chmod(root + "/listed", 0o400)   # read, but nothing in it can be reached
        told["closed"] = short(world.step("closed"))
        told["still"] = world.save_state(), world.actions("."), world.actions("closed")
        told["closed, described"] = world.describe("closed"), world.describe("closed/inside")
        told["listed"] = short(world.step("listed")), world.actions("listed")
        told["inside"] = short(world.step("inside"))
        world.step("..")
        told["back"] = short(world.step("open"))
        os.chmod(root, 0o000)
        told["up"] = short(world.step(".."))
        try:
            Files(root)
        except WorldUnavailable as error:
            told["root"] = str(error).replace(root, "ROOT")
    """)
    denied = {"errno": "EACCES"}
    assert told == {
        "closed": [".", "refused", "permission denied", denied],
        "still": [".", ["closed", "listed", "open"], [".."]],
        "closed, described": [{"kind": "directory", "name": "closed"}, {"kind": "out of reach", "name": "inside"}],
        "listed": [["listed", "accepted", None, {}], ["inside", ".."]],
        "inside": ["listed", "refused", "permission denied", denied],
        "back": ["open", "accepted", None, {}],
        "up": ["open", "refused", "permission denied", denied],
        "root": "cannot walk 'ROOT': Permission denied; give a directory that may be read",
    }


def test_an_error_that_is_no_answer_is_a_fault() -> None:
    told = in_a_process_of_its_own("""
        os.makedirs(root + "/docs/how")
        world = Files(root)
        world.reset()
        free = os.dup(0); os.close(free)
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (free, limits[1]))  # not one more file can be opened
        told["step"] = short(world.step("docs"))
        told["still"] = world.save_state(), world.actions(".")
        for ask in (world.actions, world.describe):
            try:
                ask("docs")
            except WorldUnavailable as error:
                told[ask.__name__] = str(error).replace(root, "ROOT")
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        told["again"] = short(world.step("docs"))
    """)
    assert told == {
        "step": [".", "fault", "EMFILE: Too many open files", {"errno": "EMFILE"}],
        "still": [".", ["docs"]],
        "actions": "cannot read 'docs' in 'ROOT': [Errno 24] Too many open files: 'ROOT/docs'",
        "describe": "cannot look at 'docs' in 'ROOT': [Errno 24] Too many open files: 'ROOT/docs'",
        "again": ["docs", "accepted", None, {}],
    }


@pytest.fixture
def very_deep(tmp_path: Path) -> Iterator[Path]:
    """Return a folder with folders in it, one in the other, deeper than a path can be long."""
    top = tmp_path / "top"
    top.mkdir()
    fd = os.open(top, os.O_RDONLY)
    for _ in range(25):
        os.mkdir("d" * 200, dir_fd=fd)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)
    yield top
    shutil.rmtree(top)


def test_a_path_that_is_too_long_is_refused(very_deep: Path) -> None:
    world = started(very_deep)
    steps = 0
    while (outcome := world.step("d" * 200)).accepted:
        steps += 1
    assert 4 <= steps < 25
    assert (outcome.verdict, outcome.reason, outcome.info) == (
        "refused",
        "the path is too long",
        {"errno": "ENAMETOOLONG"},
    )
    assert world.step("..").accepted
