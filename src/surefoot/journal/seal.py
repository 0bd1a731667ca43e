"""Signed heads: what lets somebody else see that a journal is still the one you sealed.

A seal signs, with Ed25519, the bytes `surefoot.seal/1`, a line feed, and the head as text (`length:hash`). The head
names every entry before it, so one signature covers them all. `Journal.seal(key)` appends the seal as an entry of the
stream `journal` and the kind `seal`, and returns it, to be kept elsewhere too.

A public key is written as 64 hexadecimal digits. Needs the package cryptography: `pip install 'surefoot[seal]'`.

Source: Ed25519, RFC 8032 (Josefsson and Liusvaara 2017), sec. 5.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from surefoot.errors import BadArgument, BadSeal, MissingExtra, UnknownFormat
from surefoot.journal.chain import Entry, Head

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

__all__ = ["PrivateKey", "PublicKey", "Seal", "check_seals", "new_key", "public_key", "sign"]

PrivateKey: TypeAlias = "Ed25519PrivateKey | bytes | str"
"""What signs: PEM (text or bytes, without a password), its 32 bytes, or an `Ed25519PrivateKey`.

Example:
    >>> new_key()[:27]
    b'-----BEGIN PRIVATE KEY-----'
"""

PublicKey: TypeAlias = "Ed25519PublicKey | bytes | str"
"""What checks: 64 hexadecimal digits, PEM (text or bytes), its 32 bytes, or an `Ed25519PublicKey`.

Example:
    >>> len(public_key(new_key()))
    64
"""

_CONTEXT = b"surefoot.seal/1\n"
_FIELDS = {"head", "key", "signature"}


@dataclass(frozen=True, slots=True)
class Seal:
    """A signature under a head: whoever holds the key says that the journal was this.

    Attributes:
        head: what was signed.
        key: the public key of whoever signed, 64 hexadecimal digits. It says who claims to have signed; pass the key
            that you trust to `verify`, never this one.
        signature: 128 hexadecimal digits.

    Raises:
        BadSeal: a field is not of that form.

    Example:
        >>> from surefoot.journal import open_journal
        >>> key = new_key()
        >>> seal = sign(open_journal().head, key)
        >>> seal.verify(public_key(key)), seal.verify(public_key(new_key())), Seal.of_dict(seal.to_dict()) == seal
        (True, False, True)
    """

    head: Head
    key: str
    signature: str

    def __post_init__(self) -> None:
        """Refuse what cannot be a seal."""
        if not isinstance(self.head, Head):
            raise BadSeal(f"Seal.head must be a Head, got {self.head!r}")
        for name, digits in (("key", 64), ("signature", 128)):
            if not _is_hex(getattr(self, name), digits):
                raise BadSeal(
                    f"Seal.{name} must be {digits} lower-case hexadecimal digits, got {getattr(self, name)!r}"
                )

    def to_dict(self) -> dict[str, str]:
        """Return it as plain data, to be kept as JSON."""
        return {"head": str(self.head), "key": self.key, "signature": self.signature}

    @classmethod
    def of_dict(cls, data: Mapping[str, Any]) -> Seal:
        """Return the seal that `to_dict` gave as `data`.

        Raises:
            BadSeal: it is not of that form, or holds anything else.
        """
        if set(data) != _FIELDS:
            raise BadSeal(f"a seal has the fields head, key and signature, got {sorted(map(str, data))}")
        try:
            head = Head.of(data["head"])
        except BadArgument as error:
            raise BadSeal(f"a seal with a head that cannot be read: {error}") from None
        return cls(head, data["key"], data["signature"])

    def verify(self, key: PublicKey) -> bool:
        """Say whether `key` signed this head.

        Raises:
            BadSeal: `key` cannot be read.
            MissingExtra: the package cryptography is not installed.

        Cost: about 0.1 ms.
        """
        public = load_public(key)
        return public == self.key and _fits(public, self.signature, self.head)


def new_key() -> bytes:
    """Return a new private key as PEM, to be kept where the journal's writer cannot read it when it is not sealing.

    Raises:
        MissingExtra: the package cryptography is not installed.

    Example:
        >>> new_key().decode().splitlines()[-1]
        '-----END PRIVATE KEY-----'
    """
    ed25519, serialization, _ = _cryptography()
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    made: bytes = ed25519.Ed25519PrivateKey.generate().private_bytes(pem, pkcs8, serialization.NoEncryption())
    return made


def public_key(key: PrivateKey) -> str:
    """Return the public key that belongs to a private one, as 64 hexadecimal digits: hand it to everybody.

    Raises:
        BadSeal: the key cannot be read.
        MissingExtra: the package cryptography is not installed.

    Example:
        >>> public_key(bytes(32))[:16]
        '3b6a27bcceb6a42d'
    """
    return _hex_of(_load_private(key).public_key())


def sign(head: Head, key: PrivateKey) -> Seal:
    """Return a seal on `head`; `Journal.seal` also appends it.

    Raises:
        BadSeal: the key cannot be read.
        MissingExtra: the package cryptography is not installed.

    Example:
        >>> sign(Head(0, "0" * 64), bytes(32)).signature[:16]
        '1443a9921fd6ab1e'
    """
    private = _load_private(key)
    return Seal(head, _hex_of(private.public_key()), private.sign(_CONTEXT + str(head).encode()).hex())


def is_seal(entry: Entry) -> bool:
    """Say whether an entry is in the place of a seal."""
    return entry.kind == "seal" and entry.stream == "journal"


def check_seals(
    entries: Iterable[Entry], key: PublicKey, count: int | None = None
) -> tuple[int, int | None, str | None]:
    """Check every seal of one key, against the place where it stands.

    The entries must be known to follow from one another already (`Journal.verify` sees to that): then the `prev` of a
    seal's entry is the hash of the head that it must have signed.

    Args:
        entries: all entries, or at least all seals, in order.
        key: the public key you trust. Seals of other keys are not looked into, they are only counted.
        count: how many entries there are, when `entries` leaves some out.

    Returns:
        (how many entries the last seal covers, the first entry that is wrong or None, what is wrong or None).

    Example:
        >>> from surefoot.journal import open_journal
        >>> key, journal = new_key(), open_journal()
        >>> _ = journal.append("note", {}), journal.seal(key), journal.append("note", {})
        >>> check_seals(journal.entries(), public_key(key))[:2]
        (1, 2)
    """
    public = load_public(key)
    seen = sealed = after = others = 0
    last: int | None = None
    for entry in entries:
        seen = entry.seq + 1
        if not is_seal(entry):
            continue
        try:
            seal = Seal.of_dict(entry.data)
        except (BadSeal, UnknownFormat) as error:
            return sealed, entry.seq, f"entry {entry.seq} stands as a seal and is none: {error}"
        here = Head(entry.seq, entry.prev)
        fits = seal.head == here and _fits(seal.key, seal.signature, here)
        if seal.key != public:
            others += 1
            if fits and last is not None and entry.seq == last + 1 + after:
                after += 1  # a second signature under the same content adds nothing that needs one
            continue
        if not fits:
            return (
                sealed,
                entry.seq,
                f"the seal at entry {entry.seq} does not fit the entries before it: they were changed",
            )
        sealed, last, after = here.length, entry.seq, 0
    total = seen if count is None else count
    if last is None:
        return 0, None, f"no seal of the key {public} is in the journal{_of_others(others)}: cut off, or never sealed"
    first = last + 1 + after
    if first < total:
        return (
            sealed,
            first,
            (
                f"nobody signed the entries from {first} to {total - 1}, after the seal at {last}{_of_others(others)}: "
                f"seal again, or verify journal.at({last + 1})"
            ),
        )
    return sealed, None, None


def _of_others(others: int) -> str:
    """Say how many seals of other keys were met."""
    return f" ({others} of other keys)" if others else ""


def load_public(key: PublicKey) -> str:
    """Return a public key as 64 hexadecimal digits.

    Raises:
        BadSeal: it cannot be read.
        MissingExtra: the package cryptography is not installed.
    """
    ed25519, serialization, _ = _cryptography()
    if isinstance(key, ed25519.Ed25519PublicKey):
        return _hex_of(key)
    if isinstance(key, ed25519.Ed25519PrivateKey):
        raise BadSeal("this is a private key: checking needs the public one, public_key(key)")
    if isinstance(key, str) and _is_hex(key.strip(), 64):
        return key.strip()
    data = key.encode() if isinstance(key, str) else key
    if not isinstance(data, bytes):
        raise BadSeal(f"a public key is 64 hexadecimal digits, PEM, or 32 bytes, got {type(key).__name__}")
    if len(data) == 32 and data is key:
        return data.hex()
    if b"PRIVATE KEY" in data:
        raise BadSeal("this is a private key: checking needs the public one, public_key(key)")
    try:
        loaded = serialization.load_pem_public_key(data)
    except ValueError:
        raise BadSeal(
            f"a public key is 64 hexadecimal digits, PEM, or 32 bytes, got {len(data)} bytes of something else"
        ) from None
    if not isinstance(loaded, ed25519.Ed25519PublicKey):
        raise BadSeal(f"seals are made with Ed25519, this is {type(loaded).__name__}: make a key with new_key()")
    return _hex_of(loaded)


def _load_private(key: PrivateKey) -> Ed25519PrivateKey:
    """Return a private key as cryptography holds it."""
    ed25519, serialization, _ = _cryptography()
    if isinstance(key, ed25519.Ed25519PrivateKey):
        held: Ed25519PrivateKey = key
        return held
    data = key.encode() if isinstance(key, str) else key
    if not isinstance(data, bytes):
        raise BadSeal(f"a private key is PEM, or 32 bytes, got {type(key).__name__}")
    if len(data) == 32 and data is key:
        made: Ed25519PrivateKey = ed25519.Ed25519PrivateKey.from_private_bytes(data)
        return made
    try:
        loaded = serialization.load_pem_private_key(data, password=None)
    except TypeError:
        raise BadSeal(
            "the private key is locked with a password: load it with cryptography and pass the object"
        ) from None
    except ValueError:
        raise BadSeal("a private key is PEM, or 32 bytes, got something else; make one with new_key()") from None
    if not isinstance(loaded, ed25519.Ed25519PrivateKey):
        raise BadSeal(f"seals are made with Ed25519, this is {type(loaded).__name__}: make a key with new_key()")
    private: Ed25519PrivateKey = loaded
    return private


def _fits(public: str, signature: str, head: Head) -> bool:
    """Say whether the key signed the head."""
    ed25519, _, invalid = _cryptography()
    try:
        key = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(signature), _CONTEXT + str(head).encode())
    except (invalid, ValueError):
        return False
    return True


def _hex_of(key: Ed25519PublicKey) -> str:
    return key.public_bytes_raw().hex()


def _is_hex(text: object, digits: int) -> bool:
    return isinstance(text, str) and len(text) == digits and not set(text) - set("0123456789abcdef")


def _cryptography() -> tuple[Any, Any, type[Exception]]:
    """Return what is used of the package, or say how to get it."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise MissingExtra.of("cryptography", extra="seal", what="signed heads") from None
    return ed25519, serialization, InvalidSignature
