r"""Plain values, exactly: one gate in, one encoding, one digest.

A state is a `str`, an `int` of any size, a finite `float`, a `bool`, `None`, or a `tuple` of those to any depth. An
action is the same or a JSON object (`{"name": "cancel", "order": "A1"}`). An effect, a fact or any other datum is a
plain value too, with lists and objects at any place. Subclasses that *are* such a value (a `StrEnum`, an `IntEnum`, a
`float64` of NumPy, a named tuple) are taken as the plain value; anything else is refused at the call that reports it.

The encoding, version 1 (`FORMAT`), is UTF-8 JSON without spaces in which equal bytes mean equal values and different
bytes mean different values, so that `1`, `True`, `1.0`, `"1"`, `(1,)`, `[1]`, `0.0` and `-0.0` stay apart:

| value | written as |
|---|---|
| `None`, `True`, `False` | `null`, `true`, `false` |
| `str` | a JSON string; only `"`, `\` and control characters are escaped |
| `int` within ±(2**53 - 1) | digits |
| larger `int` | `{"~i":"0x…"}`, lower-case hexadecimal with the sign in front |
| `float` | Python's `repr`: the shortest digits that read back the same, always with `.` or `e` |
| `tuple` | a JSON array |
| `list` | `{"~l":[…]}` |
| `dict` with `str` keys | a JSON object with its keys sorted by code point; a key that starts with `~` gets one more |

Any JSON reader can read it; a digest is the whole SHA-256 of these bytes.

Names of files are bytes, and need not be UTF-8: `name_of_path` turns any name into a string that is a plain value and
`path_of_name` turns it back, without loss.

Cost: about 0.5 µs for a short string or a flat tuple.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence
from json.decoder import scanstring as _scanstring  # type: ignore[attr-defined]  # not in the stubs
from typing import Any, Generic, TypeVar

import msgspec

from surefoot.errors import ValueRejected

__all__ = [
    "FORMAT",
    "ExactDict",
    "copy",
    "decode",
    "digest",
    "encode",
    "encode_action",
    "encode_state",
    "name_of_path",
    "order",
    "path_of_name",
]

FORMAT = "surefoot.values/1"
"""The name and version of the encoding, as journals record it.

Example:
    >>> FORMAT
    'surefoot.values/1'
"""

_SAFE = 2**53 - 1
"""The largest int that every JSON reader keeps exactly."""
_SHORT = 16
"""An encoding with fewer bytes than this cannot hold an int beyond `_SAFE`, which has 16 digits."""

_STATE, _ACTION, _DATA = "a state", "an action", "a plain value"
_json = msgspec.json.Encoder().encode
_json_sorted = msgspec.json.Encoder(order="sorted").encode
_parse = msgspec.json.Decoder().decode
_MANY_DIGITS = re.compile(rb"[0-9]{16}")
_WORDS = frozenset({str, bool, type(None)})
_WORDS_AND_INTS = frozenset({str, bool, type(None), int})
_TEXT = frozenset({str})
_FLAT = frozenset({str, bool, type(None), int, float})
_ESCAPED_BYTE = re.compile(rb"%(..?)?", re.DOTALL)


def encode(value: object) -> bytes:
    r"""Return the exact encoding of any plain value.

    Args:
        value: str, int, float, bool, None, or tuples, lists and str-keyed mappings of those, to any depth.

    Raises:
        ValueRejected: something in it is not plain (NaN, an infinity, a lone surrogate, bytes, a set, a dataclass, an
            object that contains itself, …); the message holds the path to it and the mend.

    Cost: linear in the size; about 0.5 µs for a short string or a flat tuple.

    Example:
        >>> encode((1, True, 1.0, "1", -0.0, None))
        b'[1,true,1.0,"1",-0.0,null]'
        >>> encode({"b": [1], "a": 2**60})
        b'{"a":{"~i":"0x1000000000000000"},"b":{"~l":[1]}}'
    """
    return _gate(value, _DATA)


def encode_state(value: object) -> bytes:
    """Return the exact encoding of a state; lists and objects are refused, since a state must not change later.

    Raises:
        ValueRejected: as for `encode`, and for a list or a mapping anywhere in it.

    Example:
        >>> encode_state(("kitchen", 3))
        b'["kitchen",3]'
        >>> encode_state(["kitchen", 3])
        Traceback (most recent call last):
        surefoot.errors.ValueRejected: $ is ['kitchen', 3]: a list cannot be a state; use a tuple
    """
    return _gate(value, _STATE)


def encode_action(value: object) -> bytes:
    """Return the exact encoding of an action: what a state may be, or JSON objects.

    Raises:
        ValueRejected: as for `encode`, and for a list that is not inside an object.

    Example:
        >>> encode_action({"name": "cancel", "orders": ["A1"]})
        b'{"name":"cancel","orders":{"~l":["A1"]}}'
    """
    return _gate(value, _ACTION)


def decode(data: bytes) -> Any:
    """Return the value whose encoding is `data`.

    Raises:
        ValueRejected: `data` is not the encoding of a plain value, to the byte.

    Example:
        >>> decode(encode((1, 2.0, [True, {"x": None}])))
        (1, 2.0, [True, {'x': None}])
    """
    try:
        value = _thaw(_parse(data))
        if encode(value) == data:
            return value
        why = f"it should read {_short(encode(value).decode())}"
    except RecursionError:
        return _decode_deep(bytes(data))
    except (msgspec.DecodeError, ValueRejected, UnicodeDecodeError) as error:
        why = str(error)
    raise ValueRejected(f"{_short(repr(bytes(data)))} is not the encoding of a plain value: {why}")


def decode_known(data: bytes) -> Any:
    """Return the value whose encoding is `data`, which is known to be one: nothing is checked again."""
    try:
        return _thaw(_parse(data))
    except RecursionError:
        return _decode_deep(data)


def all_canonical(encodings: Sequence[bytes]) -> bool:
    """Say whether all are, to the byte, encodings of simple values; False: look at each.

    Simple: text, ints, bools, None and tuples of those. Cost: one pass in C; `decode` is ten times slower.
    """
    data = b"[%b]" % b",".join(encodings)
    if b"{" in data or _MANY_DIGITS.search(data):
        return False
    try:
        parsed = _parse_simple(data)
        return len(parsed) == len(encodings) and _json(parsed) == data
    except (ValueError, RecursionError):
        return False


def _no_float(text: str) -> float:
    raise ValueError(text)


def digest(value: object) -> str:
    """Return the SHA-256 of the exact encoding, 64 hexadecimal digits.

    Example:
        >>> digest((0.1,)) == digest((0.1 + 4e-10,)), digest(1) == digest(True), len(digest(1))
        (False, False, 64)
    """
    return hashlib.sha256(encode(value)).hexdigest()


def copy(value: object) -> Any:
    """Return an exact, independent copy; subclasses come out as the plain value they are.

    Example:
        >>> given = {"items": ["a"]}
        >>> kept = copy(given)
        >>> given["items"].append("b")
        >>> kept
        {'items': ['a']}
    """
    return decode_known(encode(value))


def order(value: object) -> tuple[str, bytes]:
    """Return a sort key under which all plain values have one order: as text, then by their encoding.

    Example:
        >>> sorted([10, "b", 9, "a", True, 1, 1.0, "1"], key=order)
        ['1', 1, 1.0, 10, 9, True, 'a', 'b']
    """
    data = encode(value)
    try:
        return str(decode(data)), data
    except (ValueError, RecursionError):  # an int of more digits, or a nest deeper, than Python prints
        return data.decode(), data


def _gate(value: object, role: str) -> bytes:
    """Encode `value` for `role`: the shortest cases here, what is of the types themselves in C, the rest in ours."""
    kind = type(value)
    if kind in _WORDS:
        try:
            return _json(value)
        except UnicodeEncodeError:
            pass
    elif kind is int:
        if -_SAFE <= value <= _SAFE:  # type: ignore[operator]  # `kind is int` says so
            return b"%d" % value  # type: ignore[str-format]  # as above
    elif kind is tuple:
        kinds = set(map(type, value))  # type: ignore[call-overload]  # `kind` says so
        if kinds <= _WORDS_AND_INTS:
            try:
                data = _json(value)
                if int not in kinds or len(data) < _SHORT or _all_safe(value):  # type: ignore[arg-type]  # `kind` says so
                    return data
            except ValueError:  # a lone surrogate, or an int of more digits than Python prints
                pass
    elif kind is dict and role is not _STATE and _is_flat(value):  # type: ignore[arg-type]  # `kind` says so
        try:
            return _json_sorted(value)
        except UnicodeEncodeError:
            pass
    try:
        return _json_sorted(_as_json(value, role is _DATA, role is not _STATE))
    except (_Unusual, UnicodeEncodeError, RecursionError):
        return _encode_deep(value, role)


class _Unusual(Exception):
    """A value that is not of the types themselves, or not plain: `_encode_deep` says which."""


def _as_json(value: Any, lists: bool, objects: bool) -> Any:
    """Return what JSON writes as our encoding of `value`: itself, where nothing in it is written differently."""
    kind = type(value)
    if kind in _WORDS:
        return value
    if kind is int:
        return value if -_SAFE <= value <= _SAFE else {"~i": hex(value)}
    if kind is tuple:
        if _is_simple(value):
            return value
        return [item if type(item) in _WORDS else _as_json(item, lists, objects) for item in value]
    if kind is dict and objects:
        if _is_flat(value):
            return value
        if not _TEXT.issuperset(map(type, value)):
            raise _Unusual
        return {"~" + key if key[:1] == "~" else key: _as_json(item, True, True) for key, item in value.items()}
    if kind is list and lists:
        return {"~l": value if _is_simple(value) else [_as_json(item, True, True) for item in value]}
    if kind is float and value - value == 0.0:
        return msgspec.Raw(repr(value).encode())
    raise _Unusual


def _is_flat(value: dict[Any, Any]) -> bool:
    """Say whether an object holds only what JSON writes as our encoding does: words, small ints, tuples of those."""
    for key, item in value.items():
        if type(key) is not str or key[:1] == "~":
            return False
        kind = type(item)
        if kind is int:
            if not -_SAFE <= item <= _SAFE:
                return False
        elif kind is tuple:
            if not _is_simple(item):
                return False
        elif kind not in _WORDS:
            return False
    return True


def _is_simple(items: Iterable[Any]) -> bool:
    """Say whether each is a word or an int that may be written in digits."""
    return _WORDS_AND_INTS.issuperset(map(type, items)) and _all_safe(items)


def _all_safe(values: Iterable[Any]) -> bool:
    """Say whether each int among `values` may be written in digits."""
    for value in values:
        if type(value) is int and not -_SAFE <= value <= _SAFE:
            return False
    return True


def _encode_deep(root: object, role: str) -> bytes:
    """Encode with a stack of our own, so that depth is bounded by memory alone; keep the path for the messages."""
    out: list[bytes] = []
    stack: list[tuple[Iterator[Any], bytes, int, bool]] = []  # (what is left, the end, id of the container, an object?)
    path: list[int | str] = []
    inside: set[int] = set()
    objects = 0
    value = root
    while True:
        scalar = _scalar(value, path)
        if scalar is not None:
            out.append(scalar)
        else:
            if id(value) in inside:
                raise ValueRejected(f"{_at(path)} contains itself: a plain value is finite")
            if isinstance(value, tuple):
                frame: tuple[Iterator[Any], bytes, int, bool] = (enumerate(value), b"]", id(value), False)
                out.append(b"[")
            elif isinstance(value, list):
                if role is _STATE or (role is _ACTION and not objects):
                    raise ValueRejected(f"{_at(path)} is {_show(value)}: a list cannot be {role}; use a tuple")
                frame = (enumerate(list(value)), b"]}", id(value), False)
                out.append(b'{"~l":[')
            elif isinstance(value, Mapping):
                if role is _STATE:
                    raise ValueRejected(
                        f"{_at(path)} is {_show(value)}: a mapping cannot be a state; "
                        "use a tuple, or tuple(sorted(d.items()))"
                    )
                frame = (iter(_sorted_items(value, path)), b"}", id(value), True)
                objects += 1
                out.append(b"{")
            else:
                raise ValueRejected(f"{_at(path)} is {_show(value)}: {_mend(value)}")
            stack.append(frame)
            path.append("")
            inside.add(frame[2])
        while stack:
            rest, end, container, keyed = stack[-1]
            step = next(rest, None)
            if step is not None:
                if out[-1][-1:] not in b"[{":
                    out.append(b",")
                path[-1], value = step
                if keyed:
                    key = path[-1]
                    out.append(_json("~" + key if key.startswith("~") else key) + b":")  # type: ignore[union-attr,operator]  # `keyed` says so
                break
            stack.pop()
            path.pop()
            inside.discard(container)
            objects -= keyed
            out.append(end)
        else:
            return b"".join(out)


def _scalar(value: object, path: list[int | str]) -> bytes | None:
    """Return the encoding of a scalar, None for what may be a container."""
    if value is None:
        return b"null"
    if value is True:
        return b"true"
    if value is False:
        return b"false"
    if isinstance(value, str):
        try:
            return _json(str.__str__(value))
        except UnicodeEncodeError:
            raise ValueRejected(
                f"{_at(path)} is {_short(ascii(value))}: a lone surrogate is not text; "
                "for a file name use surefoot.values.name_of_path(name)"
            ) from None
    if isinstance(value, int):
        number = int.__int__(value)
        if -_SAFE <= number <= _SAFE:
            return b"%d" % number
        return b'{"~i":"%b"}' % hex(number).encode()
    if isinstance(value, float):
        number_ = float.__float__(value)
        if number_ - number_ != 0.0:
            raise ValueRejected(f"{_at(path)} is {number_!r}: not a finite number; leave it out or use None")
        return float.__repr__(number_).encode()
    return None


def _sorted_items(value: Mapping[Any, Any], path: list[int | str]) -> list[tuple[str, Any]]:
    """Return the items of an object in the order of their keys, which must be text."""
    items = []
    for key, item in value.items():
        if not isinstance(key, str):
            raise ValueRejected(
                f"{_at(path)} has the key {_show(key)}: keys of an object are str; use str(key), or a tuple of pairs"
            )
        plain = str.__str__(key)
        try:
            plain.encode()
        except UnicodeEncodeError:
            _scalar(plain, [*path, plain])  # says so
        items.append((plain, item))
    return sorted(items, key=lambda pair: pair[0])


def _mend(value: object) -> str:
    """Say what is wrong with something that is not plain, and the way out."""
    name = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    if isinstance(value, bytes | bytearray | memoryview):
        return f"{name} is not a plain value; use text, .hex(), or name_of_path() for a file name"
    if isinstance(value, set | frozenset):
        return f"{name} has no order; use tuple(sorted(it))"
    if hasattr(value, "__dataclass_fields__"):
        return f"the dataclass {name} is not a plain value; use dataclasses.astuple() or .asdict()"
    if hasattr(value, "__index__") or hasattr(value, "item"):
        return f"{name} is not a plain value; use .tolist() or .item(), int() or float()"
    if hasattr(value, "value") and hasattr(value, "name"):
        return f"the enum {name} is not a plain value; use its .value"
    return f"{name} is not a plain value; use str, int, float, bool, None, or tuples of those"


def _at(path: list[int | str]) -> str:
    """Return the path as `$[1].name`."""
    steps = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" if p.isidentifier() else f"[{p!r}]" for p in path)
    return "$" + _short(steps, 200)


def _show(value: object) -> str:
    """Return a short text of any object, for a message."""
    try:
        return _short(repr(value))
    except Exception:  # too deep, too many digits, a `__repr__` that fails: not what the message is about
        return f"a {type(value).__name__}"


def _short(text: str, most: int = 60) -> str:
    """Return `text`, cut in the middle when long."""
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= most else f"{text[: most - 20]}…{text[-19:]}"


def _thaw(raw: Any) -> Any:
    """Turn parsed JSON into the value: arrays are tuples, `~l` lists, `~i` large ints."""
    kind = type(raw)
    if kind is list:
        if _FLAT.issuperset(map(type, raw)):
            return tuple(raw)
        return tuple(map(_thaw, raw))
    if kind is dict:
        if len(raw) == 1:
            ((key, item),) = raw.items()
            tagged = _TAGS.get(key)
            if tagged is not None:
                return tagged(item)
        return {
            _plain_key(key) if key[:1] == "~" else key: item if type(item) in _FLAT else _thaw(item)
            for key, item in raw.items()
        }
    return raw


def _plain_key(key: str) -> str:
    """Take off the mark of a key that has one."""
    if not key.startswith("~~"):
        raise ValueRejected(f"the mark {key!r} is not of {FORMAT}")
    return key[1:]


def _thaw_list(item: Any) -> list[Any]:
    """Return the list of a `~l` object."""
    if type(item) is not list:
        raise ValueRejected(f"'~l' holds {type(item).__name__}, not an array")
    return item if _FLAT.issuperset(map(type, item)) else list(map(_thaw, item))


def _thaw_int(item: Any) -> int:
    """Return the int of a `~i` object."""
    if type(item) is not str:
        raise ValueRejected(f"'~i' holds {type(item).__name__}, not a string")
    try:
        return int(item, 16)
    except ValueError:
        raise ValueRejected(f"'~i' holds {_short(item)!r}, not hexadecimal") from None


_TAGS = {"~l": _thaw_list, "~i": _thaw_int}
_TOKEN = re.compile(r'[\[\]{},:"]|[^\[\]{},:"]+')


def _decode_deep(data: bytes) -> Any:
    """Decode what is nested too deep for a parser that recurses; only ever sees canonical bytes, and checks that."""
    try:
        value = _read_deep(data.decode())
        if encode(value) == data:
            return value
    except (ValueError, TypeError, IndexError, AttributeError, msgspec.DecodeError):
        pass
    raise ValueRejected(f"{_short(repr(data))} is not the encoding of a plain value")


def _read_deep(text: str) -> Any:
    """Parse JSON with a stack of our own, making each container's value as it closes."""
    stack: list[list[Any]] = [[]]
    keys: list[list[str]] = []
    place = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        assert token is not None  # every character starts a token
        place = token.end()
        match token.group():
            case "[":
                stack.append([])
            case "{":
                stack.append([])
                keys.append([])
            case "]":
                array = tuple(stack.pop())
                stack[-1].append(array)
            case "}":
                thing = _close_object(keys.pop(), stack.pop())
                stack[-1].append(thing)
            case '"':
                string, place = _scanstring(text, place)
                stack[-1].append(string)
            case ":":
                keys[-1].append(stack[-1].pop())
            case ",":
                pass
            case scalar:
                stack[-1].append(_parse(scalar))
    (value,) = stack[0]
    return value


def _close_object(names: list[str], items: list[Any]) -> Any:
    """Return the value of a closed object whose items are values already."""
    if names == ["~l"]:
        return list(items[0])
    if names == ["~i"]:
        return _thaw_int(items[0])
    return {_plain_key(name) if name.startswith("~") else name: item for name, item in zip(names, items, strict=True)}


_parse_simple = msgspec.json.Decoder(float_hook=_no_float).decode

V = TypeVar("V")


class ExactDict(Mapping[Any, V], Generic[V]):
    """A read-only mapping whose keys are plain values, kept apart exactly (a `dict` merges `1`, `True` and `1.0`).

    Args:
        pairs: pairs (key, value); a later pair replaces an earlier one with the same key.

    Raises:
        ValueRejected: a key is not a plain value.

    Example:
        >>> cost = ExactDict([(1, "one"), (True, "yes"), ("1", "text")])
        >>> cost[1], cost[True], cost["1"], 1.0 in cost, len(cost)
        ('one', 'yes', 'text', False, 3)
        >>> ExactDict([("a", 1)]) == {"a": 1}
        True
    """

    __slots__ = ("_items",)

    @classmethod
    def _of(cls, items: dict[bytes, tuple[Any, V]]) -> ExactDict[V]:
        """Return a mapping of {encoding of the key: (key, value)}."""
        made = cls.__new__(cls)
        made._items = items
        return made

    def __init__(self, pairs: Iterable[tuple[Any, V]] = ()) -> None:
        """Keep the pairs."""
        self._items: dict[bytes, tuple[Any, V]] = {encode(key): (key, value) for key, value in pairs}

    def __getitem__(self, key: Any) -> V:
        """Return the value at exactly `key`."""
        try:
            return self._items[encode(key)][1]
        except (KeyError, ValueRejected):
            raise KeyError(key) from None

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the keys in the order given."""
        return (key for key, _ in self._items.values())

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self._items)

    def items(self) -> ItemsView[Any, V]:
        """Return the pairs, without encoding the keys again."""
        return _Pairs(self)

    def __eq__(self, other: object) -> bool:
        """Compare with any mapping, key by exact key."""
        if not isinstance(other, Mapping):
            return NotImplemented
        try:
            theirs = other if isinstance(other, ExactDict) else ExactDict(other.items())
        except ValueRejected:  # a key that is not plain is none of ours
            return False
        mine = {data: value for data, (_, value) in self._items.items()}
        return mine == {data: value for data, (_, value) in theirs._items.items()}

    __hash__ = None  # type: ignore[assignment]  # the usual way to say so

    def __repr__(self) -> str:
        """Show it as a dict display would."""
        return "{" + ", ".join(f"{key!r}: {value!r}" for key, value in self._items.values()) + "}"


class _Pairs(ItemsView[Any, V]):
    """The pairs of an ExactDict."""

    _mapping: ExactDict[V]

    def __iter__(self) -> Iterator[tuple[Any, V]]:
        """Iterate over the kept pairs."""
        return iter(self._mapping._items.values())


def name_of_path(path: str | bytes | os.PathLike[Any]) -> str:
    r"""Return the name of a file as a plain value, whatever bytes it has.

    UTF-8 names stay as they are, but `%` becomes `%25`; a byte that is not UTF-8 becomes `%` and two hexadecimal
    digits. Different names stay different.

    Example:
        >>> name_of_path("notes/été.txt"), name_of_path(b"caf\xe9 100%")
        ('notes/été.txt', 'caf%E9 100%25')
    """
    text = os.fsencode(path).decode("utf-8", "surrogateescape")
    if "%" not in text and text.isascii():
        return text
    return "".join("%25" if c == "%" else f"%{ord(c) - 0xDC00:02X}" if "\udc80" <= c <= "\udcff" else c for c in text)


def path_of_name(name: str) -> str:
    """Return the file name that `name_of_path` gave as `name`, as the functions of `os` take it.

    Raises:
        ValueRejected: a `%` is not followed by two hexadecimal digits, so no file name gave it.

    Example:
        >>> name_of_path(path_of_name("caf%E9 100%25"))
        'caf%E9 100%25'
    """

    def byte(found: re.Match[bytes]) -> bytes:
        digits = found.group(1) or b""
        try:
            return bytes.fromhex(digits.decode("ascii"))
        except ValueError:
            return b""

    if not isinstance(name, str):
        raise ValueRejected(f"{_show(name)} is no name of a file: it is no text")
    raw = encode(name) and name.encode()
    for found in _ESCAPED_BYTE.finditer(raw):
        if len(byte(found)) != 1:
            raise ValueRejected(f"{_short(repr(name))} is no name of a file: a % must be followed by two hex digits")
    return os.fsdecode(_ESCAPED_BYTE.sub(byte, raw))
