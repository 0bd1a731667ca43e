"""`surefoot agent WORLD --goal STATE`: let an agent act, with all that it knows kept in one journal."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from surefoot.cli.exits import Exit, reading
from surefoot.cli.showing import counted, json_option, say, say_json
from surefoot.cli.spelling import nearest, safe, spelled, state_of
from surefoot.cli.walking import MOST_STEPS, Interruption
from surefoot.cli.worlds import open_world
from surefoot.protocols import Closable

if TYPE_CHECKING:
    from surefoot.agent.episode import Episode
    from surefoot.agent.knowledge_base import Knowledge

__all__: list[str] = []

_HELP = """Let an agent act in WORLD until it is in each goal STATE; without --goal until the world says done.

It explores where it knows nothing, and takes the shortest known way where it does. With --journal everything that it
learns and each decision is kept: the next call goes on from there, `surefoot report` shows it, and `surefoot replay`
proves it.

\b
Examples:
  surefoot agent site:https://example.org/docs/ -o rate=5 --goal /docs/faq.html --journal docs.jsonl
  surefoot agent gym:FrozenLake-v1 --goal =15 --episodes 20 --journal lake.jsonl
  surefoot agent corridor:8 --episodes 3

Exit codes: 0 the last episode ended well; 1 it did not; 3 the world broke; 130 stopped.
"""


@click.command("agent", help=_HELP, short_help="Let an agent act.")
@click.argument("world", metavar="WORLD")
@click.option(
    "--goal", "goals", multiple=True, metavar="STATE", help="Where to be; repeated: all of them, in any order."
)
@click.option("--journal", "path", metavar="FILE", help="Keep what it knows there. Without: in memory.")
@click.option("--episodes", type=click.IntRange(min=1), default=1, show_default=True, help="How many episodes to play.")
@click.option(
    "--steps", type=click.IntRange(0, MOST_STEPS), default=1_000, show_default=True, help="Steps of an episode at most."
)
@click.option("--seconds", type=click.FloatRange(min=0), help="Seconds of an episode at most.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Episodes get seeds made of it.")
@click.option("--map", "map_", default="main", show_default=True, metavar="NAME", help="The map to walk on.")
@click.option("-o", "options", multiple=True, metavar="NAME=VALUE", help="An option of the world.")
@click.option("--without", multiple=True, metavar="PATTERN", help="Leave out actions like that, as in '*.pyc'.")
@json_option
def command(
    world: str,
    goals: tuple[str, ...],
    path: str | None,
    episodes: int,
    steps: int,
    seconds: float | None,
    seed: int,
    map_: str,
    options: tuple[str, ...],
    without: tuple[str, ...],
    as_json: bool,
) -> int:
    """Act."""
    from surefoot.agent.agent import Agent
    from surefoot.agent.knowledge_base import Knowledge

    wanted = [state_of(text) for text in goals]
    env = open_world(world, options, without=without)
    try:
        with reading(path):
            knowledge = Knowledge(path)
        try:
            _declare(knowledge, wanted)
            played: list[Episode] = []
            with Interruption() as interruption:
                agent = Agent(_Stoppable(env, interruption), knowledge=knowledge, seed=seed)
                code = Exit.FINE
                for _ in range(episodes):
                    try:
                        played.append(agent.run(steps=steps, map=map_, seconds=seconds))
                    except KeyboardInterrupt:
                        code = interruption.exit
                        break
            code = code or _exit_of(played[-1])
            if as_json:
                say_json(_as_data(world, played, knowledge, path))
            else:
                _say(world, goals, played, knowledge, path, map_)
            return code
        finally:
            knowledge.journal.close()
    finally:
        if isinstance(env, Closable):
            env.close()


class _Stoppable:
    """A world that takes no further step once Ctrl-C was pressed."""

    def __init__(self, env: Any, interruption: Interruption) -> None:
        self._env, self._interruption = env, interruption

    def reset(self, seed: int | None = None) -> Any:
        return self._env.reset(seed=seed)

    def actions(self, state: Any) -> Any:
        return self._env.actions(state)

    def step(self, action: Any) -> Any:
        if self._interruption():
            raise KeyboardInterrupt
        return self._env.step(action)

    def __getattr__(self, name: str) -> Any:
        """Return what else the world shows: signs, facts."""
        return getattr(self._env, name)


def _declare(knowledge: Knowledge, wanted: list[Any]) -> None:
    """Declare the goals; those of earlier commands are dropped."""
    from surefoot import values

    names = {f"be in {spelled(state)}": values.encode_state(state) for state in wanted}
    for view in knowledge.agenda.goals():
        if view.name not in names:
            knowledge.agenda.drop_goal(view.name, why="not asked for")
    for name, key in names.items():
        knowledge.goal(name, partial(_is_there, key), replace=True)


def _is_there(key: bytes, state: Any) -> bool:
    """Say whether a state is the one of this encoding."""
    from surefoot import values

    return values.encode_state(state) == key


def _exit_of(episode: Episode) -> Exit:
    """Return the exit code for how an episode ended."""
    from surefoot.agent.episode import Stopped

    if episode:
        return Exit.FINE
    return Exit.WORLD if episode.stopped in (Stopped.RAISED, Stopped.TIMED_OUT) else Exit.NO


def _as_data(world: str, played: list[Episode], knowledge: Knowledge, path: str | None) -> dict[str, Any]:
    """Return what came of it as plain values."""
    shown = tuple(
        {
            "episode": episode.number,
            "stopped": episode.stopped.value,
            "why": episode.why,
            "steps": episode.steps,
            "refused": episode.refused,
            "faults": episode.faults,
            "fast": episode.fast,
            "slow": episode.slow,
            "reached": episode.goals_done,
            "open": episode.goals_open,
            "state": episode.state,
        }
        for episode in played
    )
    return {"command": "agent", "world": world, "journal": path, "head": str(knowledge.head), "episodes": shown}


def _say(
    world: str, goals: tuple[str, ...], played: list[Episode], knowledge: Knowledge, path: str | None, map_: str
) -> None:
    """Print what came of it."""
    for episode in played:
        say(safe(str(episode)))
    if not played:
        say(f"{world}: stopped in the first episode; the record of it is kept")
    last = played[-1] if played else None
    if last is not None and not last:
        near = [found for text in goals for found in nearest(text, knowledge.map(map_).states())]
        if near:
            say("", "The nearest states that the map knows:", *(f"  {state}" for state in dict.fromkeys(near)))
    if path is not None:
        say(f"{path}: {counted(len(knowledge.journal), 'entry', 'entries')}, head {knowledge.head}")
