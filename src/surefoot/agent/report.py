"""What an agent did, in words and as one page that needs no network."""

from __future__ import annotations

import html as markup
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from surefoot import values
from surefoot.agent.decision import Decision, Reader
from surefoot.agent.episode import Episode, Stopped
from surefoot.agent.episode_events import Began, Came, Decided, Over, Shielded
from surefoot.agent.knowledge_base import Knowledge

__all__ = ["Shown", "Told", "gather", "in_words", "page", "page_of_many", "write_page"]

_SHOWN = 2_000
_LISTED = 100


@dataclass(frozen=True, slots=True)
class Shown:
    """A decision with what came of it.

    Attributes:
        decision: the decision.
        came: "accepted", "refused", "fault", or "" where nothing came of it.
        to: where it led.
        reached: the goals that it reached.
        why: the world's reason.

    Example:
        >>> Shown.__slots__[:2]
        ('decision', 'came')
    """

    decision: Decision
    came: str = ""
    to: Any = None
    reached: tuple[str, ...] = ()
    why: str | None = None


@dataclass(slots=True)
class Told:
    """What a journal tells of its episodes.

    Attributes:
        episodes: what each came to; one that has not ended counts as broken off.
        decisions: how many there were, by path.
        shown: the newest decisions of each episode, up to 2,000 in all.
        skills: pairs (what for, action, reached, taken).
        shields: {map: what its newest shield allows, in words}.
        head: the journal's head.

    Example:
        >>> Told().episodes
        []
    """

    episodes: list[Episode] = field(default_factory=list)
    decisions: dict[str, int] = field(default_factory=lambda: {"fast": 0, "slow": 0, "none": 0})
    shown: dict[int, list[Shown]] = field(default_factory=dict)
    skills: list[tuple[str, Any, int, int]] = field(default_factory=list)
    head: str = ""
    shields: dict[str, str] = field(default_factory=dict)


def gather(knowledge: Knowledge) -> Told:
    """Return what a journal tells of its episodes. Cost: a pass over the journal.

    Example:
        >>> gather(Knowledge()).decisions
        {'fast': 0, 'slow': 0, 'none': 0}
    """
    told = Told(head=str(knowledge.head))
    open_: dict[int, dict[str, Any]] = {}
    rows: list[Shown] = []
    reader = Reader()
    for seq, event in knowledge.experience.events():
        match event:
            case Began():
                open_[event.episode] = _new(event)
            case Decided():
                told.decisions[event.path] += 1
                open_[event.episode]["counts"][event.path] += 1
                rows.append(Shown(reader.decision(seq, event)))
                del rows[:-_SHOWN]
            case Came():
                row = open_[event.episode]
                row["counts"][event.verdict] += 1
                row["reached"] += event.goals
                row["state"] = values.decode(bytes(event.to))
                rows[-1] = Shown(rows[-1].decision, event.verdict, row["state"], event.goals, event.why)
            case Shielded():
                kept = values.decode(bytes(event.rules))["property"]
                told.shields[event.map] = (
                    f"{kept} allows {event.allowed} of {event.choices} choices, by {event.outcomes} outcomes"
                )
            case Over():
                told.episodes.append(_episode(open_.pop(event.episode), event.stopped, event.why))
    told.episodes += [_episode(row, Stopped.BROKEN_OFF.value, "it has not ended") for row in open_.values()]
    told.episodes.sort(key=lambda episode: episode.number)
    for shown in rows:
        told.shown.setdefault(shown.decision.episode, []).append(shown)
    fold = knowledge.experience.fold
    told.skills = [(goal, values.decode(action), *skill) for (goal, action), skill in fold.skills.items()]
    return told


def _new(event: Began) -> dict[str, Any]:
    return {
        "began": event,
        "state": values.decode(bytes(event.state)),
        "reached": list(event.goals),
        "counts": dict.fromkeys(("fast", "slow", "none", "accepted", "refused", "fault"), 0),
    }


def _episode(row: Mapping[str, Any], stopped: str, why: str) -> Episode:
    began, counts = row["began"], row["counts"]
    return Episode(
        began.episode,
        began.map,
        began.seed,
        Stopped(stopped),
        why,
        counts["accepted"] + counts["refused"] + counts["fault"],
        counts["accepted"],
        counts["refused"],
        counts["fault"],
        counts["fast"],
        counts["slow"],
        tuple(row["reached"]),
        state=row["state"],
    )


def in_words(told: Told) -> str:
    """Return a line for all, and one for each episode.

    Example:
        >>> in_words(Told())
        '0 episodes, 0 decisions: 0 fast, 0 slow'
    """
    counts, episodes = told.decisions, len(told.episodes)
    head = f"{episodes} episode{'s' * (episodes != 1)}, {sum(counts.values())} decisions: "
    head += f"{counts['fast']} fast, {counts['slow']} slow"
    shields = [f"  shield on {map_!r}: {said}" for map_, said in told.shields.items()]
    return "\n".join([head, *(f"  {episode}" for episode in told.episodes), *shields])


_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1c2526;background:#fff}
table{border-collapse:collapse;width:100%;margin:.5rem 0 1.5rem}td,th{border-bottom:1px solid #d5dddd;
padding:.25rem .5rem;text-align:left;vertical-align:top}
code{font:13px ui-monospace,monospace;overflow-wrap:anywhere}.fast{color:#00695c}
.slow{color:#8a5a00}.none{color:#a32020}details{margin:.5rem 0}summary{cursor:pointer}
@media (prefers-color-scheme:dark){body{background:#121818;color:#dde5e5}td,th{border-color:#2c3838}.fast{color:#4db6ac}
.slow{color:#e0b050}.none{color:#ef8080}}
"""


_HEAD = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>What the agent did</title>'
    f"<style>{_STYLE}</style><h1>What the agent did</h1>"
)


def page(told: Told) -> str:
    """Return one page of HTML: the episodes, and under each its decisions with what was on offer.

    Example:
        >>> page(Told()).startswith("<!doctype html>")
        True
    """
    return "".join([_HEAD, *_body(told), "</html>\n"])


def page_of_many(named: Mapping[str, Told]) -> str:
    """Return one page of HTML for several journals: a line for each, then what each tells.

    Example:
        >>> page_of_many({"seed 1": Told()}).count("<h2>seed 1</h2>")
        1
    """
    parts = [_HEAD, "<table><tr><th>journal<th>episodes<th>ended well<th>steps<th>decisions<th>fast<th>slow</tr>"]
    for name, told in named.items():
        counts, episodes = told.decisions, told.episodes
        well, steps = sum(map(bool, episodes)), sum(episode.steps for episode in episodes)
        cells = (name, len(episodes), well, steps, sum(counts.values()), counts["fast"], counts["slow"])
        parts.append(f"<tr>{''.join(f'<td>{_text(cell)}' for cell in cells)}</tr>")
    parts.append("</table>")
    for name, told in named.items():
        parts += [f"<h2>{_text(name)}</h2>", *_body(told)]
    return "".join([*parts, "</html>\n"])


def _body(told: Told) -> list[str]:
    """Return what a page says of one journal."""
    parts = [
        f"<p>{_text(in_words(told).splitlines()[0])}. The journal's head: <code>{_text(told.head)}</code></p>",
        "<table><tr><th>episode<th>map<th>ended<th>steps<th>refused<th>fast<th>slow<th>reached</tr>",
    ]
    for e in told.episodes:
        why = f" ({e.why})" if e.why else ""
        cells = (e.number, e.map, e.stopped.value + why, e.steps, e.refused, e.fast, e.slow, ", ".join(e.goals_done))
        parts.append(f"<tr>{''.join(f'<td>{_text(cell)}' for cell in cells)}</tr>")
    parts.append("</table>")
    parts += [f"<p>Shield on {_text(repr(map_))}: {_text(said)}.</p>" for map_, said in told.shields.items()]
    if told.skills:
        parts.append("<h3>What helped</h3><table><tr><th>goal<th>action<th>reached it<th>of</tr>")
        for goal, action, reached, taken in told.skills:
            parts.append(
                f"<tr><td>{_text(goal or 'done')}<td><code>{_text(repr(action))}</code><td>{reached}<td>{taken}</tr>"
            )
        parts.append("</table>")
    for number, rows in told.shown.items():
        parts.append(f"<details><summary>Episode {number}: {len(rows)} decisions</summary><table>")
        parts.append("<tr><th>step<th>state<th>action<th>path<th>came of it<th>on offer</tr>")
        parts += [_row(row) for row in rows]
        parts.append("</table></details>")
    return parts


def _row(row: Shown) -> str:
    """Return one decision as a row."""
    decision = row.decision
    action = "nothing" if decision.action is None else repr(decision.action)
    came = f"{row.came} {row.to!r}" if row.came else ""
    if row.why:
        came += f": {row.why}"
    if row.reached:
        came += f"; reached {', '.join(row.reached)}"
    more = len(decision.options) - _LISTED
    options = "<br>".join(
        f"<code>{_text(repr(o.action))}</code> {_text(o.verdict)}, {_text(o.choice)}"
        + (f": {_text(o.blocked[1])}" if o.blocked else "")
        for o in decision.options[:_LISTED]
    ) + (f"<br>and {more:,} more" if more > 0 else "")
    what = f"{decision.path}: {decision.rule}" + (f" ({decision.why})" if decision.why else "")
    return (
        f"<tr><td>{decision.step}<td><code>{_text(repr(decision.state))}</code><td><code>{_text(action)}</code>"
        f'<td class="{decision.path}">{_text(what)}<td>{_text(came)}<td><details><summary>{len(decision.options)}'
        f"</summary>{options}</details></tr>"
    )


def _text(value: object) -> str:
    return markup.escape(str(value))


def write_page(told: Told | Mapping[str, Told], path: str | os.PathLike[str]) -> None:
    """Write the page of one journal, or of several by name, to a file, whole or not at all.

    Example:
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_page(Told(), os.path.join(folder, "report.html"))
        ...     os.listdir(folder)
        ['report.html']
    """
    place = Path(path)
    beside = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        beside.write_text(page(told) if isinstance(told, Told) else page_of_many(told), encoding="utf-8")
        os.replace(beside, place)
    finally:
        beside.unlink(missing_ok=True)
