"""Command trees are walked by asking for help: of a program made for it, and of git, pip, ruff and uv as they are."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from surefoot.environments.commands import RUN, Commands, HelpStyle
from surefoot.errors import BadArgument, NotStarted, WorldUnavailable
from surefoot.protocols import Describable, Environment, Signposted, Snapshotable, faulted, moved, refused
from surefoot.testing import EnvironmentContract

TOOL = """
    #!/bin/sh
    # a program that writes down how it is called
    echo "$*" >> @LOG@
    case "$*" in
    "--help") cat <<END
    Usage: tool COMMAND

    Commands:
      box      Look after boxes
      sail     Leave
      gone     It is not there
      odd      Ignored
      mute     Says nothing
      slow     Takes its time
      crash    Breaks
      busy     Try again later
      push     Has an effect
    END
    ;;
    "box --help") printf 'Usage: tool box COMMAND\\n\\nCommands:\\n  add   Add one\\n  open  Open it\\n' ;;
    "box add --help") echo "Usage: tool box add NAME" ;;
    "box open --help") printf 'Sorry, tool box open was taken out.\\n' ;;
    "sail --help") echo "Usage: tool sail" >&2 ;;
    "gone --help") echo; echo "tool: gone: no such command" >&2; echo "more" >&2; exit 2 ;;
    "odd --help") exec "$0" --help ;;
    "mute --help") ;;
    "slow --help") test -e @LOG@.fast && echo "Usage: tool slow" || sleep 600 ;;
    "crash --help") kill -SEGV $$ ;;
    "busy --help") echo "the harbour is full" >&2; exit 75 ;;
    "push --help") echo "Usage: tool push" ;;
    "push") echo "pushed"; pwd ;;
    "sail") echo "there is no wind" >&2; exit 4 ;;
    "box") kill -TERM $$ ;;
    *) echo "unexpected: $*" >&2; exit 99 ;;
    esac
"""


def write_tool(folder: Path) -> str:
    path, log = folder / "tool", folder / "log"
    path.write_text(dedent(TOOL).lstrip().replace("@LOG@", str(log)))
    path.chmod(0o755)
    log.write_text("")
    return str(path)


class Tool:
    """Hold the program and what it was called with."""

    def __init__(self, folder: Path) -> None:
        self.path, self.log = write_tool(folder), folder / "log"

    def world(self, *way: str, **options: Any) -> Commands:
        world = Commands(self.path, **{"timeout": 60.0, **options})
        world.reset(seed=0)
        for action in way:
            assert world.step(action).accepted, action
        return world

    def calls(self) -> list[str]:
        return self.log.read_text().splitlines()


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    return Tool(tmp_path)


@pytest.fixture(scope="class")
def _tool(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Give a class a program without what takes long."""
    path = Path(write_tool(tmp_path_factory.mktemp("contract")))
    path.write_text(re.sub(r"\n  slow .*", "", path.read_text()))
    request.cls.program = str(path)


@pytest.mark.usefixtures("_tool")
class TestCommands(EnvironmentContract):
    offered = True
    seeds, steps, long, examples = (0,), 20, 30, 3  # what was run or broke is run again each time
    program: str

    def make(self) -> Commands:
        return Commands(self.program, allow=["push", "sail"], timeout=60.0)

    def walk(self) -> list[str]:
        return ["..", "gone", "push", RUN, "..", "sail", RUN, "..", "crash", "box", "add", "..", "nothing"]


def test_it_is_what_it_says(tool: Tool) -> None:
    for protocol in (Environment, Snapshotable, Describable, Signposted):
        assert isinstance(Commands(tool.path), protocol)


def test_a_walk_there_and_back(tool: Tool) -> None:
    world = tool.world()
    assert world.actions(("tool",)) == ["box", "sail", "gone", "odd", "mute", "slow", "crash", "busy", "push"]
    assert [world.step(action) for action in ("box", "add", "..", "..", "..", "sail")] == [
        moved(("tool", "box"), effect={"at": ("tool", "box")}),
        moved(("tool", "box", "add"), effect={"at": ("tool", "box", "add")}),
        moved(("tool", "box"), effect={"at": ("tool", "box")}),
        moved(("tool",), effect={"at": ("tool",)}),
        refused(("tool",), "at the root"),
        moved(("tool", "sail"), effect={"at": ("tool", "sail")}),
    ]
    assert world.actions(("tool", "box")) == ["add", "open", ".."]
    assert world.actions(("tool", "sail")) == [".."]
    assert world.signs(("tool", "box")) == [
        ("add", ("tool", "box", "add")),
        ("open", ("tool", "box", "open")),
        ("..", ("tool",)),
    ]


def test_nothing_is_run_but_help(tool: Tool) -> None:
    world = tool.world()
    (tool.log.with_name("log.fast")).touch()
    for action in ("push", "..", "box", "add", "..", "..", "slow", "..", "push; reboot", "--version", "rm", RUN):
        world.step(action)
    for state in (("tool", "nothing"), ("tool", "box", "nothing", "at"), ("tool", "push", "x")):
        world.actions(state), world.describe(state), world.signs(state)
        world.restore_state(state)
        assert world.step("add").reason == "no such command"
    assert tool.calls() == ["--help", "push --help", "box --help", "box add --help", "slow --help"]


def test_a_command_that_is_allowed_by_name_is_run(tool: Tool) -> None:
    world = tool.world("push", allow=["push", "sail", "box"])
    assert world.actions(("tool", "push")) == [RUN, ".."]
    assert world.signs(("tool", "push")) == [("..", ("tool",))]
    here = ("tool", "push")
    assert world.step(RUN) == moved(here, effect={"at": here, "ran": "tool push", "output": "pushed\n~\n"})
    world.restore_state(("tool", "sail"))
    assert world.step(RUN) == refused(("tool", "sail"), "there is no wind", info={"code": 4})
    world.restore_state(("tool", "box"))
    assert world.step(RUN) == faulted(("tool", "box"), "killed by SIGTERM")
    assert tool.calls() == ["--help", "push --help", "push", "sail", "box"]


def test_what_is_not_allowed_cannot_be_run(tool: Tool) -> None:
    world = tool.world("push", allow=["sail"])
    assert RUN not in world.actions(("tool", "push"))
    assert world.step(RUN) == refused(("tool", "push"), "no such command")


# -- refusals and faults ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "reason", "code"),
    [
        ("gone", "tool: gone: no such command", 2),
        ("odd", "it has no help of its own", 0),
        ("mute", "it shows no help", 0),
    ],
)
def test_refusals(tool: Tool, name: str, reason: str, code: int) -> None:
    world = tool.world()
    assert world.step(name) == refused(("tool",), reason, info={"code": code})
    assert world.actions(("tool", name)) == [".."]
    assert world.describe(("tool", name)) == {"kind": "missing", "command": f"tool {name}"}


def test_prose_is_read_as_a_refusal_only_with_a_recogniser(tool: Tool) -> None:
    assert tool.world("box").step("open").accepted

    def taken_out(text: str) -> str | None:
        return "taken out" if text.startswith("Sorry") else None

    world = tool.world("box", recogniser=taken_out)
    assert world.step("open") == refused(("tool", "box"), "taken out", info={"code": 0})


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("crash", "killed by SIGSEGV"),
        ("busy", "exit code 75: the harbour is full"),
        ("slow", "no answer within 0.3 s"),
    ],
)
def test_faults_change_nothing_and_are_not_remembered(tool: Tool, name: str, fault: str) -> None:
    world = tool.world()
    world.timeout = 0.3 if name == "slow" else 60.0
    for _ in range(2):
        assert world.step(name) == faulted(("tool",), fault)
    with pytest.raises(WorldUnavailable, match=f"^cannot ask for the help of 'tool {name}': {fault}$"):
        world.actions(("tool", name))
    assert tool.calls().count(f"{name} --help") == 3


def test_a_fault_may_be_gone_at_the_next_try(tool: Tool) -> None:
    world = tool.world()
    world.timeout = 0.3
    assert world.step("slow").verdict == "fault"
    (tool.log.with_name("log.fast")).touch()
    world.timeout = 60.0
    assert world.step("slow").accepted


def test_a_fault_of_the_page_underfoot_is_a_fault_of_the_step(tool: Tool) -> None:
    world = tool.world()
    assert world.restore_state(("tool", "crash")) == ("tool", "crash")
    assert world.step("deeper") == faulted(("tool", "crash"), "killed by SIGSEGV")
    assert world.restore_state(("tool", "crash", "deeper")) == ("tool", "crash", "deeper")
    assert world.step("still") == faulted(("tool", "crash", "deeper"), "killed by SIGSEGV")
    assert world.step("..").accepted


def test_what_is_printed_without_end_is_a_fault(tool: Tool) -> None:
    world = tool.world(most_output=400, cache=False)
    assert world.step("box").accepted
    with pytest.raises(WorldUnavailable, match="shows no help: more than 50 bytes of output; say how to ask"):
        tool.world(most_output=50, cache=False)


def test_a_signal_without_a_name_is_a_fault_too(tmp_path: Path) -> None:
    path = tmp_path / "hurt"
    path.write_text("#!/bin/sh\nkill -40 $$\n")
    path.chmod(0o755)
    with pytest.raises(WorldUnavailable, match="shows no help: killed by signal 40; say how to ask"):
        Commands(str(path)).reset()


def test_the_codes_are_sets_that_can_be_given(tool: Tool) -> None:
    style = HelpStyle(accepted=frozenset({0, 2, 75}), faults=frozenset({99}))
    world = tool.world(help=style)
    assert world.step("gone").state == ("tool", "gone")
    assert world.restore_state(("tool",)) == ("tool",)
    assert world.step("busy").accepted
    with pytest.raises(
        WorldUnavailable, match="shows no help: exit code 99: unexpected: -h; say how to ask with help="
    ):
        tool.world(help=HelpStyle(root=("-h",), faults=frozenset({99})))


# -- what is remembered -----------------------------------------------------------------------------------------------


def test_a_page_is_asked_for_once_per_process(tool: Tool) -> None:
    for _ in range(3):
        world = tool.world("box", "..", "box")
        assert world.step("..").accepted
        assert not world.step("gone").accepted
    assert tool.calls() == ["--help", "box --help", "gone --help"]


def test_a_program_that_has_changed_is_asked_again(tool: Tool) -> None:
    tool.world("box")
    path = Path(tool.path)
    path.write_text(path.read_text().replace("  box      Look after boxes", "  crate    Look after crates"))
    world = tool.world()
    assert "crate" in world.actions(("tool",))
    assert world.step("box").reason == "no such command"


def test_without_a_cache_each_episode_asks_anew(tool: Tool) -> None:
    world = tool.world("box", "..", "box", cache=False)
    world.reset()
    assert world.step("box").accepted
    assert tool.calls() == ["--help", "box --help"] * 2


def test_worlds_with_a_recogniser_do_not_share_what_they_took_for_a_refusal(tool: Tool) -> None:
    assert not tool.world(recogniser=lambda text: "no" if text == "Usage: tool sail\n" else None).step("sail").accepted
    assert tool.world().step("sail").accepted


# -- the shape of the tree --------------------------------------------------------------------------------------------


@pytest.fixture
def endless(tmp_path: Path) -> str:
    """Return a program whose every command has a command."""
    path = tmp_path / "endless"
    path.write_text('#!/bin/sh\nprintf "Usage: $*\\n\\nCommands:\\n  on   Further\\n"\n')
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("depth", [1, 3])
def test_the_tree_is_walked_to_a_depth(endless: str, depth: int) -> None:
    world = Commands(endless, depth=depth)
    state = world.reset()
    steps = 0
    while "on" in world.actions(state):
        state = world.step("on").state
        steps += 1
    assert (steps, len(state)) == (depth, depth + 1)
    assert world.step("on") == refused(state, "no such command")


def test_what_is_described(tool: Tool) -> None:
    world = tool.world()
    assert world.describe(("tool",)) == {"kind": "command", "command": "tool", "usage": "tool COMMAND", "commands": 9}
    assert world.describe(("tool", "box", "add")) == {
        "kind": "command",
        "command": "tool box add",
        "summary": "Add one",
        "usage": "tool box add NAME",
        "commands": 0,
    }


def test_names_of_programs(tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tool.world(name="t").actions(("t", "box")) == ["add", "open", ".."]
    assert Commands(["/bin/sh", tool.path]).reset() == ("tool",)
    monkeypatch.chdir(tmp_path)
    assert Commands("./tool").reset() == ("tool",)
    assert Commands("tool", env={"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}).reset() == ("tool",)


def test_step_needs_a_reset(tool: Tool) -> None:
    world = Commands(tool.path)
    with pytest.raises(NotStarted, match=r"^step\('box'\) before reset\(\): call reset\(seed=\.\.\.\) first$"):
        world.step("box")
    with pytest.raises(NotStarted, match=r"^save_state\(\) before reset\(\)"):
        world.save_state()
    assert tool.calls() == []


@pytest.mark.parametrize(
    "state", [(), ("box",), ["tool"], "tool", ("tool", 1), ("tool", "--help"), ("tool", ""), ("tool", "a b"), None]
)
def test_what_is_no_state_is_refused_and_changes_nothing(tool: Tool, state: Any) -> None:
    world = tool.world("box")
    for ask in (world.actions, world.signs, world.describe, world.restore_state):
        with pytest.raises(
            BadArgument, match=r"^a state of this world is a tuple of words that starts with 'tool', got"
        ):
            ask(state)
    assert world.save_state() == ("tool", "box")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"program": ""}, "program must be a name, a path or a sequence of words, got ''"),
        ({"program": []}, "program must be a name, a path or a sequence of words, got []"),
        ({"program": ["sh", 1]}, "program must be a name, a path or a sequence of words, got ['sh', 1]"),
        ({"program": "a\0b"}, "program must be a name, a path or a sequence of words, got 'a\\x00b'"),
        ({"name": "a b"}, "name must be one word, got 'a b'; give another with name="),
        ({"timeout": 0}, "timeout must be a number of seconds > 0, got 0"),
        ({"timeout": float("nan")}, "timeout must be a number of seconds > 0, got nan"),
        ({"timeout": True}, "timeout must be a number of seconds > 0, got True"),
        ({"depth": 0}, "depth must be an int >= 1, got 0"),
        ({"most_output": 1.5}, "most_output must be an int >= 1, got 1.5"),
        ({"allow": "push"}, "allow must be a collection of commands, got 'push'; write allow=['push']"),
        (
            {"allow": ["push --force"]},
            "allow must hold the words of commands, such as 'remote show', got 'push --force'",
        ),
        ({"allow": [""]}, "allow must hold the words of commands, such as 'remote show', got ''"),
        ({"allow": [3]}, "allow must hold the words of commands, such as 'remote show', got 3"),
    ],
)
def test_bad_arguments(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArgument, match=f"^{re.escape(message)}$"):
        Commands(**{"program": "sh", **options})


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(WorldUnavailable, match=r"^no program 'no-such-tool' here that can be run: give a name on PATH"):
        Commands("no-such-tool")
    with pytest.raises(WorldUnavailable, match=r"for several words write \['python', '-m', 'pip'\]$"):
        Commands("python -m pip")


# -- real programs ----------------------------------------------------------------------------------------------------


def everything(world: Commands) -> dict[tuple[str, ...], str]:
    """Walk all of a tree; return the verdict of each step."""
    verdicts: dict[tuple[str, ...], str] = {}

    def visit(here: tuple[str, ...]) -> None:
        for action in world.actions(here):
            if action != "..":
                outcome = world.step(action)
                verdicts[(*here, action)] = outcome.verdict
                if outcome.accepted:
                    visit(outcome.state)
                    world.step("..")

    visit(world.reset())
    return verdicts


def installed(program: str) -> str:
    """Return the path of a program of this environment or on PATH, or skip."""
    found = shutil.which(program, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return found or pytest.skip(f"{program} is not installed")


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], bool]]:
    """Put a foreign `git-...` command on PATH; return a function that says whether it was run."""
    (tmp_path / "bin").mkdir()
    program, mark = tmp_path / "bin" / "git-surefoot-foreign", tmp_path / "mark"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    yield mark.exists
    assert not mark.exists()


def test_git_whole(foreign: Callable[[], bool]) -> None:
    world = Commands(installed("git"))
    verdicts = everything(world)
    assert {"git"} == {state[0] for state in verdicts}
    assert "fault" not in verdicts.values()
    accepted = {state for state, verdict in verdicts.items() if verdict == "accepted"}
    assert {("git", name) for name in ("add", "commit", "push", "remote", "filter-branch", "rev-parse")} <= accepted
    assert {("git", "bundle", "create"), ("git", "remote", "add"), ("git", "stash", "clear")} <= accepted
    assert len(accepted) > 100
    words = {state[1] for state in verdicts}
    assert not words & {"surefoot-foreign", "glossary", "attributes", "format-pack"}
    assert not foreign()
    facts = world.describe(("git", "remote"))
    assert facts["summary"] == "Manage set of tracked repositories"
    assert facts["usage"].startswith("git remote")


def repository(folder: Path, git: str) -> dict[str, str]:
    """Make a repository in the midst of work: stashed, bisecting, with a remote and notes; return its variables."""
    (folder / "home").mkdir()
    names = {
        "GIT_AUTHOR_NAME": "Kim",
        "GIT_AUTHOR_EMAIL": "k@x",
        "GIT_COMMITTER_NAME": "Kim",
        "GIT_COMMITTER_EMAIL": "k@x",
    }
    env = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "GIT_CONFIG_NOSYSTEM": "1", **names}
    work = folder / "work"
    work.mkdir()

    def run(*words: str) -> None:
        subprocess.run([git, *words], cwd=work, env=env, check=True, capture_output=True)

    run("init", "--quiet")
    for n in range(5):
        (work / "file").write_text(f"{n}\n")
        run("add", "file")
        run("commit", "--quiet", "-m", f"commit {n}")
    run("remote", "add", "origin", str(folder / "elsewhere"))
    run("notes", "add", "-m", "a note")
    (work / "file").write_text("stashed\n")
    run("stash", "push", "--quiet")
    run("bisect", "start", "HEAD", "HEAD~4")
    (work / "new").write_text("not added\n")
    return {"GIT_DIR": str(work / ".git"), "GIT_WORK_TREE": str(work), "GIT_INDEX_FILE": str(work / ".git" / "index")}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_git_in_the_midst_of_work_is_left_as_it_is(tmp_path: Path) -> None:
    git = installed("git")
    env = repository(tmp_path, git)
    before = contents(tmp_path)
    assert any("BISECT_LOG" in name for name in before)
    assert any(name.endswith("refs/stash") for name in before)
    logging, log = tmp_path / "git", tmp_path / "log"
    logging.write_text(f'#!/bin/sh\necho "$*" >> "{log}"\nexec "{git}" "$@"\n')
    logging.chmod(0o755)
    world = Commands(str(logging), env=env, cache=False)
    verdicts = everything(world)
    calls = log.read_text().splitlines()
    assert all(call == "help -a" or re.fullmatch(r"[\w.-]+ -h", call) for call in calls), calls
    log.unlink()
    logging.unlink()
    for words in (("bisect", "reset"), ("bisect", "run"), ("stash", "clear"), ("remote", "add"), ("worktree", "add")):
        assert verdicts["git", *words] == "accepted", words
    assert contents(tmp_path) == before


def test_a_verb_of_a_usage_line_is_never_asked(tmp_path: Path) -> None:
    program, log = tmp_path / "vcs", tmp_path / "log"
    program.write_text(
        dedent(f"""
        #!/bin/sh
        echo "$*" >> {log}
        case "$*" in
        "-h") printf 'Commands:\\n  stash   Put away\\n' ;;
        "stash -h") printf 'usage: vcs stash list [<options>]\\n   or: vcs stash (clear|drop)\\n'; exit 129 ;;
        *) echo "cleared: $*" ;;
        esac
        """).lstrip()
    )
    program.chmod(0o755)
    style = HelpStyle(root=("-h",), page=("*", "-h"), accepted=frozenset({0, 129}), verbs=True)
    world = Commands(str(program), help=style, allow=["stash drop"])
    verbs = [("vcs", "stash", verb) for verb in ("list", "clear", "drop")]
    assert world.actions(world.reset()) == ["stash"]
    assert [world.step(word).state for word in ("stash", "list", "..", "clear", "..", "drop")][1::2] == verbs
    assert (world.actions(verbs[0]), world.actions(verbs[2])) == ([".."], [RUN, ".."])
    assert world.step(RUN).accepted
    assert world.describe(("vcs", "stash", "clear")) == {
        "kind": "command",
        "command": "vcs stash clear",
        "usage": "vcs stash (clear|drop)",
        "commands": 0,
    }
    assert log.read_text().splitlines() == ["-h", "stash -h", "stash drop"]
    again = Commands(str(program), help=style, cache=False)
    assert again.actions(("vcs", "stash", "list")) == [".."]
    assert again.restore_state(("vcs", "stash")) == ("vcs", "stash")
    assert again.step("list").state == ("vcs", "stash", "list")
    assert again.step("clear").reason == "no such command"
    assert set(log.read_text().splitlines()) == {"-h", "stash -h", "stash drop"}


def test_git_is_asked_outside_of_every_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git = installed("git")
    (tmp_path / ".git").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    world = Commands(git, allow=["status"], cache=False)
    world.reset()
    assert world.step("status").accepted
    outcome = world.step(RUN)
    assert (outcome.verdict, outcome.info) == ("refused", {"code": 128})
    assert outcome.reason is not None
    assert outcome.reason.startswith("fatal: not a git repository")


def test_pip_in_part() -> None:
    pytest.importorskip("pip", reason="pip is not installed here")
    world = Commands([sys.executable, "-m", "pip"], timeout=60.0)
    assert world.reset() == ("pip",)
    assert {"install", "list", "cache", "help"} <= set(world.actions(("pip",)))
    assert world.step("install") == moved(("pip", "install"), effect={"at": ("pip", "install")})
    assert world.actions(("pip", "install")) == [".."]
    assert world.describe(("pip", "install"))["summary"] == "Install packages."


def test_ruff_whole() -> None:
    verdicts = everything(Commands(installed("ruff"), timeout=60.0))
    accepted = {" ".join(state[1:]) for state, verdict in verdicts.items() if verdict == "accepted"}
    assert {"check", "format", "analyze", "analyze graph"} <= accepted
    assert "fault" not in verdicts.values()


def test_uv_whole() -> None:
    verdicts = everything(Commands(installed("uv"), timeout=60.0))
    accepted = {" ".join(state[1:]) for state, verdict in verdicts.items() if verdict == "accepted"}
    assert {"pip", "pip compile", "tool", "tool run", "python install"} <= accepted
    assert len(accepted) > 40
    assert "fault" not in verdicts.values()


def test_a_module_without_commands() -> None:
    world = Commands([sys.executable, "-m", "json.tool"], timeout=60.0)
    assert everything(world) == {}
    facts = dict(world.describe(("json.tool",)))
    assert "json" in facts.pop("usage")
    assert json.loads(json.dumps(facts)) == {"kind": "command", "command": "json.tool", "commands": 0}
