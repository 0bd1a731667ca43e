"""What a format cannot say about a model, as one line of JSON that travels with it: so that every round trip is exact.

A writer writes what its format has words for, reads that back, and stores in the rest every field that came back
different. A reader of ours puts the rest in; other programs skip it, since it stands where the format has comments.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from surefoot import values
from surefoot.errors import BadModel, SurefootError
from surefoot.models._names import Names
from surefoot.models.exchange._rows import KINDS
from surefoot.models.markov import Model
from surefoot.models.rewards import RewardModel
from surefoot.models.spaces import BoolDomain, CategoricalDomain, Domain, IntDomain, Variable
from surefoot.models.valuations import Valuations

__all__ = ["MARK", "loops_of", "rest_of", "restored"]

MARK = "surefoot: "
"""What a line with the rest begins with."""
_VERSION = 1


def rest_of(model: Model, read: Model, loops: Sequence[int] = ()) -> str | None:
    """Return what `read`, which came back from a format, lacks of `model`; None where they are equal.

    Args:
        model: the model.
        read: what came back, without the loops.
        loops: states without choices that were given a branch back to themselves, which the format asks for.
    """
    if model == read and not loops:
        return None
    rest: dict[str, Any] = {"version": _VERSION, "kind": model.kind}
    if loops:
        rest["loops"] = list(loops)
    for name in type(model)._FIELDS:
        ours, theirs = getattr(model, name), getattr(read, name, _ABSENT)
        if theirs is _ABSENT or not _equal(ours, theirs):
            rest[name] = _encode(ours)
    return json.dumps(rest, separators=(",", ":"), allow_nan=False)


def loops_of(rest: str | None) -> frozenset[int]:
    """Return the states whose only choice was added by a writer."""
    try:
        return frozenset(json.loads(rest).get("loops", ())) if rest else frozenset()
    except (json.JSONDecodeError, AttributeError, TypeError) as error:
        raise _misfit(error) from error


def restored(read: Model, rest: str | None) -> Model:
    """Return the model that was written, from what the format said of it and the rest.

    Raises:
        BadModel: the rest does not fit what was read, or is none.
    """
    if rest is None:
        return read
    try:
        held = json.loads(rest)
        version, kind = held.pop("version"), KINDS[held.pop("kind")]
        held.pop("loops", None)
        if version != _VERSION:
            raise BadModel(f"its version is {version}; this one reads {_VERSION}")
        fields = {name: getattr(read, name) for name in kind._FIELDS if hasattr(read, name)}
        if not kind.has_actions:
            fields |= {"choice_action": None, "action_names": None}
        fields |= {name: _decode(name, value) for name, value in held.items()}
        return kind(**fields)
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError, SurefootError) as error:
        raise _misfit(error) from error


def _misfit(error: Exception) -> BadModel:
    return BadModel(
        f"what stands behind {MARK.strip()!r} does not fit the rest of the file ({error}); was one of them edited? "
        f"Take that line out to read the file without it"
    )


_ABSENT = object()


def _equal(one: Any, other: Any) -> bool:
    """Say whether two fields are equal."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and np.array_equal(one, other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return list(one) == list(other) and all(_equal(held, other[name]) for name, held in one.items())
    return bool(one == other)


def _encode(field: Any) -> Any:
    """Return a field of a model as JSON has it."""
    if isinstance(field, np.ndarray):
        return np.flatnonzero(field).tolist() if field.dtype == bool else field.tolist()
    if isinstance(field, Names):
        return field.given
    if isinstance(field, Mapping):
        return {name: _encode(held) for name, held in field.items()}
    if isinstance(field, RewardModel):
        parts = {"state": field.state, "choice": field.choice, "transition": field.transition}
        return {name: part.tolist() for name, part in parts.items() if part is not None}
    if isinstance(field, Valuations):
        return {
            "variables": [[variable.name, _encode_domain(variable.domain)] for variable in field.variables],
            "codes": field.codes.tolist(),
            "tables": values.encode(field.tables).decode(),
        }
    return field


def _decode(name: str, field: Any) -> Any:
    """Return the field of that name from JSON."""
    if name == "rewards":
        return {one: RewardModel(**parts) for one, parts in field.items()}
    if name.endswith("valuations") and field is not None:
        codes = np.asarray(field["codes"], np.int64).reshape(len(field["codes"]), len(field["variables"]))
        variables = tuple(Variable(one, _decode_domain(domain)) for one, domain in field["variables"])
        return Valuations(variables, codes, values.decode(field["tables"].encode()))
    if name in ("choice_action", "target", "observation"):
        return np.asarray(field, np.int32)
    return field


def _encode_domain(domain: Domain | None) -> Any:
    match domain:
        case IntDomain():
            return ["int", domain.lo, domain.hi, domain.allow_none]
        case BoolDomain():
            return ["bool", domain.allow_none]
        case CategoricalDomain():
            return ["categories", values.encode(domain.values).decode(), domain.allow_none]
    return None


def _decode_domain(given: Any) -> Domain | None:
    if given is None:
        return None
    kind, *rest = given
    if kind == "int":
        return IntDomain(*rest)
    return BoolDomain(*rest) if kind == "bool" else CategoricalDomain(values.decode(rest[0].encode()), rest[1])
