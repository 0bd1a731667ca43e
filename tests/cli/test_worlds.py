from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from surefoot import WorldMap
from surefoot.agent import explore
from surefoot.cli.worlds import LEFT_OUT, WORLDS, Without, open_world, options_of
from surefoot.environments.commands import Commands
from surefoot.environments.corridor import Corridor
from surefoot.environments.files import Files
from surefoot.environments.from_gymnasium import FromGymnasium
from surefoot.environments.site import Site
from surefoot.errors import BadArgument, WorldUnavailable
from surefoot.protocols import Closable, Describable, Signposted
from surefoot.testing import EnvironmentContract


def opened(name: str, *options: str) -> Any:
    return open_world(name, options)


def test_each_kind_is_opened_with_its_options(tmp_path: Path) -> None:
    files = opened(f"files:{tmp_path}", "hidden=no", "max_entries=3", "follow-links=TRUE")
    assert (type(files), files.root) == (Files, os.path.realpath(tmp_path))
    assert (files.hidden, files.max_entries, files.follow_links) == (False, 3, True)
    site = opened("site:http://127.0.0.1:9/docs/?v=1", "rate=2.5", "obey_robots=off", "hosts=a.example, b.example")
    assert (type(site), site.start) == (Site, "http://127.0.0.1:9/docs/?v=1")
    pip = opened(f"commands:{sys.executable} -m pip?depth=2", "timeout=3", "allow=list,show")
    assert (type(pip), pip.name, pip.depth, pip.timeout) == (Commands, "pip", 2, 3.0)
    assert pip.allow == {("list",), ("show",)}
    assert opened(f"commands:'{sys.executable}'").name == os.path.basename(sys.executable)
    assert opened("corridor:7").length == 7


def test_a_gymnasium_world_passes_on_what_it_does_not_know() -> None:
    lake = opened("gym:FrozenLake-v1?is_slippery=false&map_name=8x8&no_op=refused", "mask=none", "names=w,s,e,n")
    assert isinstance(lake, FromGymnasium)
    assert lake.reset(seed=0) == 0
    assert lake.actions(0) == ["w", "s", "e", "n"]
    assert lake.step("w").reason == "nothing changed"
    assert [lake.step("s").state for _ in range(7)][-1] == 56
    lake.close()
    short = opened("gym:FrozenLake-v1?max_episode_steps=1&render_mode=none")
    short.reset(seed=0)
    assert short.step(0).done
    short.close()


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("docs", [], r"no world 'docs': There are files:PATH, commands:PROGRAM, site:URL, gym:ID, corridor:LENGTH"),
        ("fils:.", [], r"no world 'fils:\.': did you mean 'files:\.'\?"),
        ("files:", [], "'files:' names no world: write files:PATH"),
        ("corridor:?length=1", [], "names no world: write corridor:LENGTH"),
        ("corridor:long", [], "'long' is no whole number"),
        ("corridor:0", [], "length must be an int >= 1, got 0"),
        ("corridor:3", ["left=no"], "corridor has no option 'left': It has none"),
        (
            "files:.",
            ["hiden=no"],
            r"files has no option 'hiden': did you mean hidden\? It has hidden, follow_links, max",
        ),
        ("files:.", ["hidden"], "an option reads name=value, got 'hidden'"),
        ("files:.", ["=no"], "an option reads name=value, got '=no'"),
        ("files:.", ["hidden=maybe"], "hidden='maybe': it must be true or false"),
        ("files:.", ["max_entries=few"], "max_entries='few': 'few' is no whole number"),
        ("files:.", ["max_entries=0"], "max_entries must be None or an int >= 1, got 0"),
        ("files:.", ["hidden=no", "hidden=yes"], "the option hidden is given twice"),
        ("site:http://127.0.0.1:9/", ["rate=fast"], "rate='fast': it must be a number"),
        ("site:http://127.0.0.1:9/", ["clock=now"], "site has no option 'clock'"),
        ("site:ftp://example.org", [], "ftp"),
        ("commands:'git", [], "cannot be split into words: No closing quotation"),
        ("commands:git", ["recogniser=x"], "commands has no option 'recogniser'"),
        ("gym:FrozenLake-v1?key=x", [], "gym has no option 'key'"),
        ("gym:FrozenLake-v1?colour=red", [], "colour"),
    ],
)
def test_what_cannot_be_opened_is_refused_with_the_way_out(name: str, options: list[str], says: str) -> None:
    with pytest.raises(BadArgument, match=says):
        open_world(name, options)


@pytest.mark.parametrize("name", ["files:/nowhere/at/all", "commands:no-such-program-here", "gym:NoSuchWorld-v0"])
def test_a_world_that_is_not_there_is_another_matter(name: str) -> None:
    with pytest.raises(WorldUnavailable):
        open_world(name)


@pytest.mark.parametrize("world", [Files, Commands, Site, FromGymnasium, Corridor])
def test_every_option_can_be_typed_and_none_of_them_is_code(world: type) -> None:
    options = options_of(world)
    assert not {"client", "sleep", "clock", "key", "recogniser", "refusals", "env"} & set(options)
    assert not any("Mapping" in kind for kind in options.values())


def test_every_kind_says_what_its_name_goes_on_with() -> None:
    for kind, (rest, _) in WORLDS.items():
        assert rest.isupper(), kind


# ── leaving out ──────────────────────────────────────────────────────────────────────────────────────────────────────


class TestWithout(EnvironmentContract):
    steps, long, examples = 20, 40, 3

    def make(self) -> Any:
        return Without(Corridor(length=3), ["l*"])

    def walk(self) -> list[str]:
        return ["left", "right", "left", "right", "right"]


def test_what_is_left_out_is_not_on_offer_has_no_sign_and_is_refused(tmp_path: Path) -> None:
    for name in ("docs", "__pycache__", "old.pyc"):
        (tmp_path / name).mkdir()
    world = open_world(f"files:{tmp_path}", without=["__pycache__", "*.pyc"])
    assert world.reset() == "."
    assert world.actions(".") == ["docs"]
    assert isinstance(world, Signposted)
    assert isinstance(world, Describable)
    assert isinstance(world, Closable)
    assert world.signs(".") == [("docs", "docs")]
    assert world.describe(".")["kind"] == "directory"
    assert world.step("docs").state == "docs"
    outcome = world.step("old.pyc")
    assert (outcome.state, outcome.accepted, outcome.reason) == ("docs", False, LEFT_OUT)
    world.close()
    known = WorldMap()
    explore(world, known)
    assert set(known.states()) == {".", "docs"}


def test_parts_of_an_action_and_what_is_no_text_are_matched_too() -> None:
    class Desk:
        def reset(self, seed: int | None = None) -> str:
            return "desk"

        def actions(self, state: str) -> list[Any]:
            return [("link", "Log out now"), ("link", "Help"), 7, True, {"name": "cancel"}]

    world = Without(Desk(), ["Log out*", "=7", '={"name":"c*'])  # type: ignore[arg-type]  # a stand-in
    assert world.actions(world.reset()) == [("link", "Help"), True]
    assert world.signs("desk") == []
    assert world.describe("desk") == {}
    world.close()


def test_a_single_text_is_no_list_of_patterns() -> None:
    with pytest.raises(BadArgument, match=r"write \['\*\.pyc'\]"):
        Without(Corridor(), "*.pyc")


def test_no_patterns_leave_out_nothing() -> None:
    assert Without(Corridor(), []).actions(0) == ["left", "right"]
