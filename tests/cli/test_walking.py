"""Real processes, stopped and killed in the middle of a crawl, and a real terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from surefoot import WorldMap, open_journal
from surefoot.agent import explore
from surefoot.cli import main
from surefoot.cli.walking import Interruption, Progress, walking
from surefoot.environments.site import Site
from surefoot.errors import UnknownFormat
from surefoot.testing.loopback import LoopbackSite

RUN = [sys.executable, "-c", "import sys; from surefoot.cli import main; sys.exit(main())"]
PAGES = 30
DEADLINE = 60.0


@pytest.fixture(scope="module")
def site() -> Iterator[LoopbackSite]:
    """Serve a chain of pages, with a dead link on each; nothing remembers who asked for them."""
    pages = {f"/{n}": f"<a href=/{n + 1}>next</a> <a href=/dead{n}>dead</a>" for n in range(PAGES)}
    with LoopbackSite({**pages, "/": "<a href=/0>start</a>", f"/{PAGES}": "<title>End</title>"}) as site:
        yield site


def words(site: LoopbackSite, path: Path, *more: str) -> list[str]:
    return ["explore", f"site:{site.url}/", "-o", "obey_robots=no", "-o", "home=no", "--map", str(path), *more]


def crawl(site: LoopbackSite, path: Path, *more: str) -> list[str]:
    return [*RUN, *words(site, path, *more)]


def go_on(site: LoopbackSite, path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Crawl what is left, in this process: only what is stopped or killed needs one of its own."""
    capsys.readouterr()
    assert main(words(site, path, "--json")) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


@pytest.fixture(scope="module")
def undisturbed(site: LoopbackSite) -> tuple[set[tuple[Any, ...]], int]:
    """Return what a crawl knows that nobody disturbs, and how many steps it takes."""
    known = WorldMap()
    with Site(site.url + "/", obey_robots=False, home=False) as world:
        went = explore(world, known)
    return {(c.state, c.action, c.to, c.refused, c.status) for c in known.claims()}, went.steps


def wait_for(what: Callable[[], bool], process: subprocess.Popen[Any]) -> None:
    end = time.monotonic() + DEADLINE
    while not what():
        assert process.poll() is None, "it ended too soon"
        assert time.monotonic() < end, "it does not get on"
        time.sleep(0.05)


def entries(path: Path) -> int:
    """Return how many entries are on record, 0 while the file is being made."""
    if not path.exists():
        return 0
    try:
        with open_journal(path, repair=False) as journal:
            return len(journal)
    except UnknownFormat:
        return 0


def known_by(path: Path) -> set[tuple[Any, ...]]:
    with WorldMap(path) as known:
        assert known.verify()
        return {(claim.state, claim.action, claim.to, claim.refused, claim.status) for claim in known.claims()}


@pytest.mark.parametrize(
    ("number", "code", "suffix"),
    [(signal.SIGINT, 130, "map"), (signal.SIGINT, 130, "jsonl"), (signal.SIGTERM, 143, "map")],
)
def test_a_crawl_that_is_stopped_leaves_a_whole_journal_and_goes_on_where_it_was(
    number: signal.Signals,
    code: int,
    suffix: str,
    site: LoopbackSite,
    undisturbed: tuple[set[tuple[Any, ...]], int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path, before = tmp_path / f"crawl.{suffix}", len(site.asked)
    slow = crawl(site, path, "-o", "rate=80")
    process = subprocess.Popen(slow, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: len(site.asked) > before + 12 and entries(path) > 30, process)  # counting requests costs nothing
    process.send_signal(number)
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == code, err
    assert "interrupted" in out.splitlines()[0]
    assert (
        f"To go on:\n  surefoot explore site:{site.url}/ -o obey_robots=no -o home=no --map {path} -o rate=80\n" in out
    )
    assert "stopping after this step" in err
    assert main(["verify", "--map", str(path)]) == 0
    wanted, steps = undisturbed
    assert len(known_by(path)) < len(wanted)
    report = go_on(site, path, capsys)
    assert (report["stopped"], report["steps"] < steps) == ("nothing left", True)
    assert known_by(path) == wanted


@pytest.mark.parametrize("suffix", ["map", "json", "jsonl"])
def test_a_crawl_that_is_killed_goes_on_where_it_was(
    suffix: str,
    site: LoopbackSite,
    undisturbed: tuple[set[tuple[Any, ...]], int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path, before = tmp_path / f"crawl.{suffix}", len(site.asked)
    process = subprocess.Popen(crawl(site, path, "-o", "rate=80"), stdout=subprocess.DEVNULL)
    wait_for(lambda: len(site.asked) > before + 12 and entries(path) > 30, process)  # counting requests costs nothing
    process.kill()
    assert process.wait(DEADLINE) == -signal.SIGKILL
    wanted, steps = undisturbed
    report = go_on(site, path, capsys)
    assert (report["stopped"], report["steps"] < steps) == ("nothing left", True)
    assert known_by(path) == wanted


def test_a_second_signal_stops_a_step_that_hangs(tmp_path: Path) -> None:
    asked, release = threading.Event(), threading.Event()

    def hang(handler: BaseHTTPRequestHandler) -> None:
        asked.set()
        release.wait(DEADLINE)

    path = tmp_path / "crawl.map"
    with LoopbackSite({"/": "<a href=/slow>slow</a>", "/slow": hang}) as site:
        process = subprocess.Popen(
            crawl(site, path, "-o", "timeout=50"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert process.stderr is not None
        assert asked.wait(DEADLINE)
        process.send_signal(signal.SIGINT)
        while "stopping after this step" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=DEADLINE)
        release.set()
    assert (process.returncode, out) == (130, "")
    assert "interrupted" in err
    assert "Traceback" not in err
    assert known_by(path) == {("/", ("link", "slow"), "/slow", False, "hypothesis")}


@pytest.mark.parametrize(("columns", "colour"), [("40", {}), ("120", {"NO_COLOR": "1"})])
def test_on_a_terminal_there_is_progress_and_it_is_gone_in_the_end(
    columns: str, colour: dict[str, str], tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    for number in range(150):
        (tree / f"{number}").mkdir(parents=True)
    reader, writer = pty.openpty()
    env = {**os.environ, "COLUMNS": columns, "TERM": "xterm", **colour}
    env = {name: value for name, value in env.items() if name != "NO_COLOR" or colour}
    process = subprocess.Popen(
        [*RUN, "explore", f"files:{tree}", "--steps", "299"], stdout=subprocess.PIPE, stderr=writer, env=env
    )
    os.close(writer)
    shown = b""
    while True:
        try:
            piece = os.read(reader, 4096)
        except OSError:  # how Linux tells the end of a terminal
            break
        if not piece:
            break
        shown += piece
    os.close(reader)
    out, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0
    assert b"steps" in shown
    assert b"unchecked" in shown or columns == "40", "a narrow one shows what fits"
    assert bool(re.search(rb"\x1b\[[39]\d", shown)) == (not colour), "colours only where they are wanted"
    assert shown.rstrip().endswith((b"\x1b[2K", b"\x1b[?25h", b"\x1b[1A\x1b[2K")), "the line is cleared"
    assert out.startswith(b"explored files:")


def test_the_line_of_progress_counts_everything() -> None:
    from surefoot.agent.walker import Step

    with Progress(WorldMap(), 10) as progress:
        for verdict in ("accepted", "refused", "fault", "accepted"):
            progress.on_step(Step("a", "x", verdict, "b", None))
        assert progress.line().startswith("4 steps, ")
        assert progress.line().endswith("/s, 1 refused, 1 faults")


def test_an_interruption_is_a_wish_first_and_an_exception_then() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with Interruption() as interruption:
        assert not interruption()
        signal.raise_signal(signal.SIGTERM)
        assert interruption()
        assert interruption.exit == 143
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_in_another_thread_there_is_no_interruption() -> None:
    heard: list[bool] = []

    def listen() -> None:
        with Interruption() as interruption:
            heard.append(interruption())

    thread = threading.Thread(target=listen)
    thread.start()
    thread.join()
    assert heard == [False]


def test_the_world_and_the_map_are_closed_whatever_happens(tmp_path: Path) -> None:
    def fail() -> None:
        with walking(f"files:{tmp_path}", path=str(tmp_path / "x.map")) as trip:
            trip.known.see("hall", "north")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not (tmp_path / "x.map-wal").exists()
    with WorldMap(tmp_path / "x.map") as known:
        assert known.states() == ["hall"]


@pytest.mark.parametrize("command", ["explore", "agent"])
def test_more_steps_than_anybody_can_wait_for_are_a_slip(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "corridor:2", "--steps", str(10**26)]) == 2
    assert "is not in the range 0<=x<=1000000000" in capsys.readouterr().err
