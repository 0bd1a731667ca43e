"""Vocabularies that nobody had to think about: raw values of the arguments and of the records that they name.

For each action: each argument (of a list, its length), and for each argument that is often the key of a record in a
collection of the state (one level down, or two), each plain value of that record (two levels deep; of a list, its
length). "all" takes every one of them, "few" those that take at most 12 values in the calls it was made from. What is
read is named by its path, so any domain has such a vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from _recording import Probe

__all__ = ["FEW", "vocabulary"]

FEW = 12
OFTEN = 0.25
SAMPLE = 200

Predicate = Callable[[Any, Mapping[str, Any]], Any]
Path = tuple[Any, ...]


def vocabulary(probes: Sequence[Probe], most: int | None = None) -> tuple[dict[str, Predicate], dict[str, list[str]]]:
    """Return the predicates and `only` of a vocabulary made from calls.

    Args:
        probes: the calls that it may be made from.
        most: how many values a condition may take in them; None: any number.
    """
    predicates: dict[str, Predicate] = {}
    only: dict[str, list[str]] = {}
    for action in sorted({probe.action for probe in probes}):
        mine = [probe for probe in probes if probe.action == action]
        for name, predicate in _readers(mine[:SAMPLE]).items():
            if most is None or len({repr(_try(predicate, probe)) for probe in mine}) <= most:
                predicates[name] = predicate
                only.setdefault(action, []).append(name)
        only.setdefault(action, [])
    return predicates, only


def _try(predicate: Predicate, probe: Probe) -> Any:
    try:
        return predicate(probe.state, probe.args)
    except LookupError:
        return None


def _readers(probes: Sequence[Probe]) -> dict[str, Predicate]:
    found: dict[str, Predicate] = {}
    names = sorted({name for probe in probes for name in probe.args})
    for name in names:
        found[name] = _argument(name)
    for name in names:
        for place in _collections(probes, name):
            fields: dict[Path, None] = {}
            for probe in probes:
                record = _record(probe.state, place, probe.args.get(name))
                if isinstance(record, Mapping):
                    fields.update(dict.fromkeys(_fields(record)))
            for path in sorted(fields, key=str):
                found[f"{'.'.join(map(str, place))}[{name}].{'.'.join(map(str, path))}"] = _field(place, name, path)
    for path in sorted({path for probe in probes[:20] for path in _roots(probe.state)}, key=str):
        found[".".join(path)] = _root(path)
    return found


def _collections(probes: Sequence[Probe], name: str) -> list[Path]:
    """Return the collections in which an argument is often a key."""
    places = {(kind,) for probe in probes[:1] for kind, records in probe.state.items() if isinstance(records, Mapping)}
    hits = {place: sum(_record(p.state, place, p.args.get(name)) is not None for p in probes) for place in places}
    return sorted(place for place, times in hits.items() if times >= OFTEN * len(probes))


def _record(state: Any, place: Path, key: Any) -> Any:
    if not isinstance(key, str | int):
        return None
    records = state[place[0]]
    return records.get(key, records.get(str(key)))


def _fields(record: Mapping[str, Any], depth: int = 2) -> list[Path]:
    found: list[Path] = []
    for key, value in record.items():
        if isinstance(value, Mapping) and depth > 1 and len(value) <= FEW:
            found += [(key, *rest) for rest in _fields(value, depth - 1)]
        else:
            found.append((key,))
    return found


def _roots(state: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return where the state holds plain values outside of its collections."""
    plain = [(key,) for key, value in state.items() if not isinstance(value, Mapping | list)]
    small = [(key, value) for key, value in state.items() if isinstance(value, Mapping) and len(value) <= FEW]
    return plain + [(key, name) for key, value in small for name in value if not isinstance(value[name], Mapping)]


def _plain(value: Any) -> Any:
    return len(value) if isinstance(value, Mapping | list) else value


def _argument(name: str) -> Predicate:
    return lambda state, args: _plain(args[name])


def _root(path: tuple[str, ...]) -> Predicate:
    def read(state: Any, args: Mapping[str, Any]) -> Any:
        for step in path:
            state = state[step]
        return _plain(state)

    return read


def _field(place: Path, name: str, path: Path) -> Predicate:
    def read(state: Any, args: Mapping[str, Any]) -> Any:
        value = _record(state, place, args[name])
        if value is None:
            raise KeyError(name)
        for step in path:
            value = value[step]
        return _plain(value)

    return read
