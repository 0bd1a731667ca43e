"""Recorded calls to tools, of any domain: how to read them, the state before each, and how to write them.

A recording is a folder with `db_<domain>.json.gz` (the database) and `probes_<domain>.jsonl.gz` (one call a line):
{i, domain, split, ep, step, action, args, accepted, message, effect, prior, intent}.

- `split` is "train" or "heldout"; a line of any other split is no call to learn from or to predict, but a change that
  others build on (how a scenario differs from the database, what a refused call left behind).
- `effect` is what a call changed: [path, value] sets or appends, [path] deletes; null when it was refused.
- `prior` names the lines whose effects, in order, lead from the database to the state before the call.
- `intent` says which faults the generator planted: for people who look at errors, never for a learner.

The state before a call shares with the database, and with the other states, all that its changes do not touch.
"""

from __future__ import annotations

import copy
import gzip
import hashlib
import json
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Probe", "Recording", "difference", "write"]

LARGE = 64
"""From how many entries a collection is overlaid, not copied, where a state changes one of them."""

State = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Probe:
    """One recorded call."""

    number: int
    split: str
    action: str
    args: Mapping[str, Any]
    accepted: bool
    effect: Any
    state: State
    message: str = ""


class Recording:
    """The calls of a folder, in file order."""

    def __init__(self, folder: Path, domain: str | None = None) -> None:
        """Read the database and every call; about four seconds for 30,000 calls.

        Args:
            folder: where the two files are.
            domain: which one, where there are several in it.

        Raises:
            FileNotFoundError: there is no recording, or there are several and none of that name.
        """
        self.domain = _domain(folder, domain)
        self.sha256: dict[str, str] = {}
        self.base: dict[str, Any] = json.loads(self._read(_file(folder, f"db_{self.domain}", "json")))
        lines = self._read(_file(folder, f"probes_{self.domain}", "jsonl")).splitlines()
        raw = [json.loads(line) for line in lines]
        effects = {probe["i"]: probe["effect"] or [] for probe in raw}
        probes = [
            Probe(
                probe["i"],
                probe["split"],
                probe["action"],
                probe["args"],
                probe["accepted"],
                probe["effect"],
                self.state([effects[i] for i in probe["prior"]]),
                probe.get("message") or "",
            )
            for probe in raw
            if probe["split"] in ("train", "heldout")
        ]
        self.train = [probe for probe in probes if probe.split == "train"]
        self.heldout = [probe for probe in probes if probe.split == "heldout"]

    def _read(self, path: Path) -> str:
        data = path.read_bytes()
        self.sha256[path.name] = hashlib.sha256(data).hexdigest()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")

    def state(self, effects: Iterable[Iterable[Sequence[Any]]]) -> State:
        """Return the database with effects applied to it, in order; the base is not touched."""
        change = _Change(self.base)
        for effect in effects:
            for path, *value in effect:
                change.apply(path, value)
        return change.state


class _Change:
    """A state that is being changed: a container is copied (or overlaid) before it is first written to."""

    def __init__(self, base: State) -> None:
        self.state = base
        self._own: dict[tuple[Any, ...], Any] = {}

    def apply(self, path: Sequence[Any], value: Sequence[Any]) -> None:
        """Set, append or delete what a path leads to."""
        *way, last = path
        holder = self._writable(tuple(way))
        if not value:
            if isinstance(holder, ChainMap):
                holder = self._put(tuple(way), dict(holder))
            del holder[last]
        elif isinstance(holder, list) and last == len(holder):
            holder.append(copy.deepcopy(value[0]))
        else:
            holder[last] = copy.deepcopy(value[0])
        shifted = () if value or not isinstance(holder, list) else way
        self._forget(tuple(path), tuple(shifted))

    def _writable(self, path: tuple[Any, ...]) -> Any:
        if path not in self._own:
            found = self.state if not path else self._writable(path[:-1])[path[-1]]
            large = isinstance(found, Mapping) and len(found) > LARGE
            self._put(path, ChainMap({}, found) if large else copy.copy(found))
        return self._own[path]

    def _put(self, path: tuple[Any, ...], value: Any) -> Any:
        if path:
            self._own[path[:-1]][path[-1]] = value
        else:
            self.state = value
        self._own[path] = value
        return value

    def _forget(self, path: tuple[Any, ...], shifted: tuple[Any, ...]) -> None:
        """Forget copies below a place that was written to: what is there now may be another."""
        for known in list(self._own):
            below = known[: len(path)] == path
            if below or (shifted and len(known) > len(shifted) and known[: len(shifted)] == shifted):
                del self._own[known]


def _domain(folder: Path, asked: str | None) -> str:
    """Return the name of the domain of a folder."""
    names = {path.name.split(".")[0].removeprefix("db_") for path in folder.glob("db_*.json*")}
    found = sorted(names)
    if asked is not None and asked in found:
        return asked
    if asked is not None or len(found) != 1:
        wanted = "one recording (db_<domain>.json.gz)" if asked is None else f"a recording named {asked!r}"
        raise FileNotFoundError(f"{folder} must hold {wanted}, found {found or 'none'}; name one with `domain`")
    return found[0]


def _file(folder: Path, name: str, kind: str) -> Path:
    packed = folder / f"{name}.{kind}.gz"
    return packed if packed.exists() else folder / f"{name}.{kind}"


def difference(before: Any, after: Any, path: list[Any]) -> list[list[Any]]:
    """Return what leads from one plain value to another: [path, value] to set or append, [path] to delete."""
    if isinstance(before, dict) and isinstance(after, dict):
        found: list[list[Any]] = []
        for key in sorted({*before, *after}):
            if key not in after:
                found.append([[*path, key]])
            elif key not in before:
                found.append([[*path, key], after[key]])
            else:
                found += difference(before[key], after[key], [*path, key])
        return found
    if isinstance(before, list) and isinstance(after, list) and len(before) <= len(after):
        changed = [difference(a, b, [*path, at]) for at, (a, b) in enumerate(zip(before, after, strict=False))]
        added = [[[*path, at], after[at]] for at in range(len(before), len(after))]
        return [step for steps in changed for step in steps] + added
    return [] if before == after and type(before) is type(after) else [[path, after]]


def write(folder: Path, domain: str, base: Any, probes: Iterable[Mapping[str, Any]]) -> None:
    """Write a recording; the same bytes for the same data."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(probe) + "\n" for probe in probes)
    for name, text in ((f"db_{domain}.json.gz", json.dumps(base)), (f"probes_{domain}.jsonl.gz", lines)):
        (folder / name).write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))
