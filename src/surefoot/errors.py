"""Every error that Surefoot raises, in one tree.

```
SurefootError
├── ValueRejected (TypeError, ValueError)   a value that is not plain and exact was reported
├── BadArgument (ValueError)                an argument is out of its range
├── JournalError
│   ├── BrokenChain (ValueError)            an entry does not follow from the one before it
│   │   └── HeadMismatch                    the chain is whole, but it is not the one you hold a head of
│   ├── CutTail (ValueError)                the file ends in the middle of an entry
│   ├── UnknownFormat (ValueError)          written by something else, or by a newer version
│   ├── BadSeal (ValueError)                a signature that does not fit
│   ├── AppendFailed (OSError)              nothing was recorded, nothing was changed
│   ├── Conflict (RuntimeError)             somebody else appended since you looked
│   ├── JournalClosed (ValueError)          used after `close()`
│   └── ReadOnly (TypeError)                a view of the past cannot be written to
├── MapError
│   ├── UnknownPlace (KeyError)             a state or claim that the map has never heard of
│   └── MergeRefused (ValueError)           two maps that cannot be one
├── UnknownItem (KeyError, ValueError)      a knowledge store has no item of that id
├── ModelError
│   ├── BadModel (ValueError)               arrays, tables or functions that are no model
│   │   └── NotADistribution                probabilities that are none, or intervals that admit none
│   ├── UnknownName (KeyError, ValueError)  a model has no state, action, label or reward of that name
│   ├── BadProperty (ValueError)            a text that is no property, or one that does not fit the model
│   └── Undecided (ValueError)              the bounds of a value leave open whether a property holds
├── WorldError
│   ├── NotStarted (RuntimeError)           `step` before `reset`
│   ├── ActionUnavailableError (ValueError) a Gymnasium environment was given an action that is not on offer
│   └── WorldUnavailable (OSError)          the world cannot be reached at all
├── NotAttached (RuntimeError)              a goal or gate of an earlier run lacks the function behind it
├── ContractBroken (AssertionError)         an implementation breaks a law of its protocol
└── MissingExtra (ImportError)              an optional package is not installed
```

Each message names the value, the place and the way out. The built-in bases are part of the contract: code that caught
`ValueError` from another implementation of these protocols goes on working.

Example:
    >>> issubclass(ValueRejected, TypeError) and issubclass(ValueRejected, ValueError)
    True
"""

from __future__ import annotations

__all__ = [
    "ActionUnavailableError",
    "AppendFailed",
    "BadArgument",
    "BadModel",
    "BadProperty",
    "BadSeal",
    "BrokenChain",
    "Conflict",
    "ContractBroken",
    "CutTail",
    "HeadMismatch",
    "JournalClosed",
    "JournalError",
    "MapError",
    "MergeRefused",
    "MissingExtra",
    "ModelError",
    "NotADistribution",
    "NotAttached",
    "NotStarted",
    "ReadOnly",
    "SurefootError",
    "Undecided",
    "UnknownFormat",
    "UnknownItem",
    "UnknownName",
    "UnknownPlace",
    "ValueRejected",
    "WorldError",
    "WorldUnavailable",
]


class SurefootError(Exception):
    """Catch every error of this library.

    Example:
        >>> try:
        ...     raise BadArgument("steps must be at least 1, got 0")
        ... except SurefootError as error:
        ...     print(error)
        steps must be at least 1, got 0
    """


class ValueRejected(SurefootError, TypeError, ValueError):
    """A reported value is not plain and exact; the message holds the path to it and the mend.

    Example:
        >>> from surefoot.values import encode
        >>> encode((1, float("nan")))
        Traceback (most recent call last):
        surefoot.errors.ValueRejected: $[1] is nan: not a finite number; leave it out or use None
    """


class BadArgument(SurefootError, ValueError):
    """An argument is outside its range; the message names the argument, the value and the range.

    Example:
        >>> raise BadArgument("hypothesis_cost must be an int >= 1, got -1")
        Traceback (most recent call last):
        surefoot.errors.BadArgument: hypothesis_cost must be an int >= 1, got -1
    """


class JournalError(SurefootError):
    """Catch everything that can be wrong with a journal.

    Example:
        >>> issubclass(BrokenChain, JournalError)
        True
    """


class BrokenChain(JournalError, ValueError):
    """An entry was edited, removed, inserted or moved; `at` is its place, None where that is not known.

    Example:
        >>> issubclass(BrokenChain, ValueError), BrokenChain("entry 3 was edited").at
        (True, None)
    """

    at: int | None = None


class HeadMismatch(BrokenChain):
    """The journal is not the one whose head you hold: its tail was cut, or it was written anew.

    Example:
        >>> issubclass(HeadMismatch, BrokenChain)
        True
    """


class CutTail(JournalError, ValueError):
    """A journal file ends in the middle of an entry (a crash, a full disk); `repair=True` keeps the whole ones.

    Example:
        >>> issubclass(CutTail, ValueError)
        True
    """


class UnknownFormat(JournalError, ValueError):
    """A file or an event is not in a format that this version reads.

    Example:
        >>> issubclass(UnknownFormat, ValueError)
        True
    """


class BadSeal(JournalError, ValueError):
    """A seal or a key cannot be read, or a signature does not fit what it claims to sign.

    Example:
        >>> issubclass(BadSeal, ValueError)
        True
    """


class AppendFailed(JournalError, OSError):
    """The backend could not store the entries: nothing was recorded and nothing in memory has changed.

    Example:
        >>> issubclass(AppendFailed, OSError)
        True
    """


class Conflict(JournalError, RuntimeError):
    """The journal has grown since you looked (`append(..., expect=n)`): read the new entries and decide again.

    Example:
        >>> from surefoot.journal import open_journal
        >>> journal = open_journal()
        >>> _ = journal.append("note", {"text": "first"}, expect=0)
        >>> journal.append("note", {"text": "second"}, expect=0)
        Traceback (most recent call last):
        surefoot.errors.Conflict: expected 0 entries, the journal has 1: read them, then decide again
    """


class JournalClosed(JournalError, ValueError):
    """The journal was used after `close()`; open it again with `open_journal`.

    Example:
        >>> from surefoot.journal import open_journal
        >>> journal = open_journal()
        >>> journal.close()
        >>> journal.append("note", {})
        Traceback (most recent call last):
        surefoot.errors.JournalClosed: this journal is closed; open it again with open_journal(...)
    """


class ReadOnly(JournalError, TypeError):
    """A view of the past (`journal.at(n)`) was asked to append.

    Example:
        >>> issubclass(ReadOnly, TypeError)
        True
    """


class MapError(SurefootError):
    """Catch everything that a world map refuses.

    Example:
        >>> issubclass(MergeRefused, MapError)
        True
    """


class UnknownPlace(MapError, KeyError):
    """The map has no such state or claim.

    Example:
        >>> str(UnknownPlace("the map has no state 'attic'"))
        "the map has no state 'attic'"
    """

    def __str__(self) -> str:
        """Return the message as it is (`KeyError` would show its repr)."""
        return str(self.args[0]) if self.args else ""


class MergeRefused(MapError, ValueError):
    """Two maps cannot become one, because they fold the same history differently.

    Example:
        >>> issubclass(MergeRefused, ValueError)
        True
    """


class UnknownItem(SurefootError, KeyError, ValueError):
    """A knowledge store has no item, key or flag of that name.

    Example:
        >>> str(UnknownItem("no item starts with 'ab12'"))
        "no item starts with 'ab12'"
    """

    def __str__(self) -> str:
        """Return the message as it is (`KeyError` would show its repr)."""
        return str(self.args[0]) if self.args else ""


class ModelError(SurefootError):
    """Catch everything that a model, or what builds one, refuses.

    Example:
        >>> issubclass(BadModel, ModelError) and issubclass(UnknownName, ModelError)
        True
    """


class BadModel(ModelError, ValueError):
    """Arrays, tables or functions do not make a model; the message names the state, the choice, the value and the mend.

    Example:
        >>> issubclass(BadModel, ValueError)
        True
    """


class NotADistribution(BadModel):
    """Probabilities are negative, not numbers or do not sum to 1, or intervals hold no distribution.

    Example:
        >>> from surefoot.models.builder import from_dicts
        >>> from_dicts({"a": {"go": {"a": 0.5, "b": 0.4}}}, initial="a")
        Traceback (most recent call last):
        surefoot.errors.NotADistribution: the probabilities of action 'go' in state 'a' sum to 0.9, not to 1 (±1e-09); \
give what is missing, or divide them by their sum if they are weights
    """


class UnknownName(ModelError, KeyError, ValueError):
    """A model has no state, action, label, observation or reward model of that name.

    Example:
        >>> str(UnknownName("there is no state 's9'"))
        "there is no state 's9'"
    """

    def __str__(self) -> str:
        """Return the message as it is (`KeyError` would show its repr)."""
        return str(self.args[0]) if self.args else ""


class BadProperty(ModelError, ValueError):
    """A text is no property, or asks what this kind of model cannot answer; the message shows the place.

    Example:
        >>> raise BadProperty("expected ']' at the end")
        Traceback (most recent call last):
        surefoot.errors.BadProperty: expected ']' at the end
    """


class Undecided(ModelError, ValueError):
    """The bounds of a value leave open whether a property holds; the message holds them.

    Example:
        >>> issubclass(Undecided, ModelError)
        True
    """


class WorldError(SurefootError):
    """Catch everything that an environment of ours raises.

    Example:
        >>> issubclass(NotStarted, WorldError)
        True
    """


class NotStarted(WorldError, RuntimeError):
    """`step` was called before `reset`, or after the episode was over.

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> Corridor().step("right")
        Traceback (most recent call last):
        surefoot.errors.NotStarted: step('right') before reset(): call reset(seed=...) first
    """


class ActionUnavailableError(WorldError, ValueError):
    """A `ModelEnv` was given an action that its state does not offer, or that does not exist; nothing has changed.

    Example:
        >>> issubclass(ActionUnavailableError, ValueError)
        True
    """


class WorldUnavailable(WorldError, OSError):
    """The world cannot be reached at all (no such folder, no such command, no server there).

    Example:
        >>> issubclass(WorldUnavailable, OSError)
        True
    """


class NotAttached(SurefootError, RuntimeError):
    """A goal or a gate was declared in another run, and the function behind it is not at hand: declare it again.

    Example:
        >>> issubclass(NotAttached, RuntimeError)
        True
    """


class ContractBroken(SurefootError, AssertionError):
    """An implementation breaks a law of its protocol; the message is a report with the shortest failing run.

    Example:
        >>> issubclass(ContractBroken, AssertionError)
        True
    """


class MissingExtra(SurefootError, ImportError):
    """An optional package is missing; the message holds the `pip install` line that mends it.

    Example:
        >>> raise MissingExtra.of("cryptography", extra="seal", what="signed heads")
        Traceback (most recent call last):
        surefoot.errors.MissingExtra: signed heads need the package cryptography: pip install 'surefoot[seal]'
    """

    @classmethod
    def of(cls, package: str, *, extra: str, what: str) -> MissingExtra:
        """Return the error for `package`, which `what` needs and which comes with `extra`."""
        return cls(f"{what} need the package {package}: pip install 'surefoot[{extra}]'")
