"""Signed heads: a journal rewritten to the last hash is caught by whoever holds the public key."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from surefoot.errors import BadArgument, BadSeal, MissingExtra
from surefoot.journal import Head, Journal, open_journal
from surefoot.journal.backends.memory import MemoryBackend
from surefoot.journal.chain import GENESIS
from surefoot.journal.seal import Seal, check_seals, load_public, new_key, public_key, sign

KEY = bytes(range(32))
PUBLIC = public_key(KEY)
OTHER = bytes(32)
PEM = serialization.Encoding.PEM


def journal_of(*words: str) -> Journal:
    """Return a journal of notes, sealed where the word is `seal` or `other`."""
    journal = open_journal()
    for word in words:
        if word in ("seal", "other"):
            journal.seal(KEY if word == "seal" else OTHER)
        else:
            journal.append("note", {"text": word})
    return journal


def redone(journal: Journal, place: int, data: dict[str, Any] | None) -> Journal:
    """Return a journal with other data at one place (None: left out) and every hash computed anew."""
    made = open_journal()
    for entry in journal.entries():
        new = data if entry.seq == place else entry.data
        if new is not None:
            made.append(entry.kind, new, stream=entry.stream)
    return made


def private_object() -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(KEY)


def pem_of(key: Any, password: bytes | None = None) -> bytes:
    lock = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    made: bytes = key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, lock)
    return made


def public_pem_of(key: Any) -> bytes:
    made: bytes = key.public_key().public_bytes(PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return made


def test_a_seal_signs_the_head_and_is_the_next_entry() -> None:
    journal = journal_of("a", "b")
    head = journal.head
    seal = journal.seal(KEY)
    assert (seal.head, seal.key) == (head, PUBLIC)
    last = list(journal.entries())[-1]
    assert (last.seq, last.stream, last.kind, last.data) == (2, "journal", "seal", seal.to_dict())
    assert private_object().public_key().public_bytes_raw().hex() == PUBLIC
    private_object().public_key().verify(bytes.fromhex(seal.signature), b"surefoot.seal/1\n" + str(head).encode())
    checked = journal.verify(key=PUBLIC)
    assert (bool(checked), checked.entries, checked.sealed) == (True, 3, 2)


def test_the_same_key_and_head_give_the_same_seal() -> None:
    """Old seals verify for ever: this signature must never come out otherwise."""
    assert sign(Head(0, GENESIS), KEY).signature == (
        "390d25007b41a1cc786e56c973faec0a2eaeed814048e8a778ead183cff99551"
        "fdc7e8e95f809389c8abfd5fd2302f2fe1444d247708394e7c9ea5c4b74ff405"
    )


def test_an_empty_journal_can_be_sealed() -> None:
    journal = open_journal()
    journal.seal(KEY)
    assert journal.verify(key=PUBLIC).sealed == 0
    assert journal.verify(key=PUBLIC)


def test_every_change_of_a_journal_computed_anew_is_caught() -> None:
    journal = journal_of("a", "b", "seal", "c", "d", "seal")
    assert journal.verify(key=PUBLIC)
    for place in (0, 1, 3, 4):
        edited = redone(journal, place, {"text": "x"})
        removed = redone(journal, place, None)
        for forged in (edited, removed):
            assert forged.verify()
            checked = forged.verify(key=PUBLIC)
            assert (bool(checked), checked.failed) == (False, "seal")
            assert "does not fit the entries before it: they were changed" in str(checked.problem)
            assert checked.at == (2 if place < 2 else 5) - (forged is removed)
            assert checked.sealed == (0 if place < 2 else 2)
            with pytest.raises(BadSeal):
                checked.require()


def test_what_nobody_signed_is_told() -> None:
    journal = journal_of("a", "seal", "b", "c")
    checked = journal.verify(key=PUBLIC)
    assert (bool(checked), checked.at, checked.sealed, checked.failed) == (False, 2, 1, "seal")
    assert checked.problem == (
        "nobody signed the entries from 2 to 3, after the seal at 1: seal again, or verify journal.at(2)"
    )
    assert journal.at(2).verify(key=PUBLIC)
    journal.seal(KEY)
    assert journal.verify(key=PUBLIC).sealed == 4


def test_a_journal_without_a_seal_of_the_key_is_told() -> None:
    checked = journal_of("a").verify(key=PUBLIC)
    assert (bool(checked), checked.at, checked.sealed) == (False, None, 0)
    assert checked.problem == f"no seal of the key {PUBLIC} is in the journal: cut off, or never sealed"
    assert "(1 of other keys)" in str(journal_of("a", "other").verify(key=PUBLIC).problem)


def test_seals_of_other_keys_are_counted_and_add_nothing_to_sign() -> None:
    both = journal_of("a", "seal", "other")
    assert both.verify(key=PUBLIC)
    assert both.verify(key=public_key(OTHER)).sealed == 2
    after = journal_of("a", "seal", "other", "b").verify(key=PUBLIC)
    assert (bool(after), after.at) == (False, 3)
    assert "the entries from 3 to 3, after the seal at 1 (1 of other keys)" in str(after.problem)
    between = journal_of("a", "seal", "b", "other").verify(key=PUBLIC)
    assert (bool(between), between.at) == (False, 2)


def test_another_key_that_signs_something_else_needs_a_signature_itself() -> None:
    journal = journal_of("a", "seal")
    journal.append("seal", sign(Head(1, "0" * 64), OTHER).to_dict(), stream="journal")
    assert journal.verify(key=PUBLIC).at == 2


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"head": "x", "key": "y", "signature": "z"},
        {"head": 1, "key": "a" * 64, "signature": "b" * 128},
        {**sign(Head(1, "0" * 64), KEY).to_dict(), "note": "more"},
        {**sign(Head(1, "0" * 64), KEY).to_dict(), "signature": 1},
    ],
    ids=["nothing", "wrong texts", "a number for a head", "more than a seal", "a number for a signature"],
)
def test_what_stands_as_a_seal_and_is_none_is_told(data: dict[str, Any]) -> None:
    journal = journal_of("a")
    journal.append("seal", data, stream="journal")
    journal.seal(KEY)
    checked = journal.verify(key=PUBLIC)
    assert (bool(checked), checked.at) == (False, 1)
    assert "entry 1 stands as a seal and is none" in str(checked.problem)


def test_a_seal_that_cannot_be_read_is_told() -> None:
    journal = journal_of("a")
    journal.record([("seal", b'{"head": 1}')], stream="journal")
    assert "entry 1 stands as a seal and is none: the data of entry 1" in str(journal.verify(key=PUBLIC).problem)


def test_a_seal_copied_to_another_place_does_not_fit() -> None:
    journal = journal_of("a", "seal", "b")
    journal.append("seal", list(journal.entries())[1].data, stream="journal")
    assert journal.verify(key=PUBLIC).at == 3


def test_a_stolen_name_does_not_fit() -> None:
    """A seal that names our key, signed by another."""
    journal = journal_of("a")
    forged = Seal(journal.head, PUBLIC, sign(journal.head, OTHER).signature)
    journal.append("seal", forged.to_dict(), stream="journal")
    assert journal.verify(key=PUBLIC).at == 1
    off_the_curve = Seal(journal.head, "f" * 64, forged.signature)
    assert not off_the_curve.verify("f" * 64)


def test_entries_of_the_same_kind_elsewhere_are_no_seals() -> None:
    journal = open_journal()
    journal.append("seal", {"animal": True})
    journal.append("note", {"text": "not a seal"}, stream="journal")
    journal.seal(KEY)
    assert journal.verify(key=PUBLIC)


def test_a_broken_chain_is_told_before_its_seals() -> None:
    lines = list(journal_of("a", "seal").lines())
    lines[0] = lines[0].replace(b'"a"', b'"b"')
    assert Journal(MemoryBackend(lines)).verify(key=PUBLIC).failed == "chain"
    assert journal_of("a", "seal").verify(key=PUBLIC, head=Head(1, "0" * 64)).failed == "head"


def test_a_cut_back_to_an_older_seal_is_caught_by_a_newer_one_kept_elsewhere() -> None:
    journal = journal_of("a", "seal", "b")
    kept = journal.seal(KEY)
    cut = journal.at(2)
    assert cut.verify(key=PUBLIC)
    for seal in (kept, kept.to_dict()):
        assert journal.verify(key=PUBLIC, seal=seal)
        checked = cut.verify(key=PUBLIC, seal=seal)
        assert (bool(checked), checked.failed) == (False, "head")
        assert "its tail was cut" in str(checked.problem)


def test_a_seal_kept_elsewhere_must_be_of_the_key() -> None:
    journal = journal_of("a", "seal")
    checked = journal.verify(key=PUBLIC, seal=sign(journal.head, OTHER))
    assert (bool(checked), checked.failed) == (False, "seal")
    assert "was not signed by the key" in str(checked.problem)
    with pytest.raises(BadArgument, match=r"verify\(seal=...\) needs key="):
        journal.verify(seal=sign(journal.head, KEY))
    with pytest.raises(BadSeal, match="a seal has the fields"):
        journal.verify(key=PUBLIC, seal={"head": "x"})


def test_since_and_key_go_together() -> None:
    journal = journal_of("a", "seal", "b", "c", "seal")
    for place in range(6):
        assert journal.verify(key=PUBLIC, since=journal.at(place).head).sealed == 4
    journal.append("note", {})
    assert journal.verify(key=PUBLIC, since=journal.at(5).head).at == 5


def test_a_seal_signs_the_new_head_when_somebody_was_faster() -> None:
    class Busy(MemoryBackend):
        """Somebody else appends between the look at the head and the seal, once."""

        once = True

        def extend(self, build: Any) -> None:
            if self.once and len(self._lines) == 1:
                self.once = False
                Journal(self).append("note", {"text": "faster"})
            super().extend(build)

    journal = Journal(Busy())
    journal.append("note", {"text": "a"})
    assert journal.seal(KEY).head.length == 2
    assert journal.verify(key=PUBLIC).sealed == 2


def test_a_clock_does_not_disturb_a_seal() -> None:
    journal = Journal(MemoryBackend(), clock=lambda: "noon")
    journal.append("note", {})
    journal.seal(KEY)
    assert journal.verify(key=PUBLIC)


def test_all_seals_can_be_checked_without_a_journal() -> None:
    entries = list(journal_of("a", "seal", "b").entries())
    assert check_seals(entries, PUBLIC)[:2] == (1, 2)
    assert check_seals(entries[:2], PUBLIC) == (1, None, None)
    assert check_seals(entries[1:2], PUBLIC, count=2) == (1, None, None)
    assert check_seals([], PUBLIC)[2] is not None


def test_a_seal_is_a_value() -> None:
    seal = sign(Head(0, GENESIS), KEY)
    assert Seal.of_dict(seal.to_dict()) == seal
    assert pickle.loads(pickle.dumps(seal)) == seal
    assert seal.verify(PUBLIC)
    assert not seal.verify(public_key(OTHER))
    assert not Seal(Head(1, "0" * 64), seal.key, seal.signature).verify(PUBLIC)


@pytest.mark.parametrize(
    ("head", "key", "signature"),
    [
        ("0:x", "a" * 64, "b" * 128),
        (Head(0, GENESIS), "a" * 63, "b" * 128),
        (Head(0, GENESIS), "A" * 64, "b" * 128),
        (Head(0, GENESIS), "a" * 64, "b" * 127),
        (Head(0, GENESIS), None, "b" * 128),
    ],
    ids=["head", "short key", "capitals in the key", "short signature", "no key"],
)
def test_what_is_no_seal_is_refused(head: Any, key: Any, signature: Any) -> None:
    with pytest.raises(BadSeal, match=r"Seal\.(head|key|signature) must be"):
        Seal(head, key, signature)


def test_private_keys_come_in_every_usual_form() -> None:
    pem = pem_of(private_object())
    for key in (KEY, private_object(), pem, pem.decode()):
        assert public_key(key) == PUBLIC
    assert public_key(new_key()) != public_key(new_key())


def test_public_keys_come_in_every_usual_form() -> None:
    pem = public_pem_of(private_object())
    for key in (PUBLIC, f" {PUBLIC}\n", bytes.fromhex(PUBLIC), private_object().public_key(), pem, pem.decode()):
        assert load_public(key) == PUBLIC


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        (private_object(), "this is a private key"),
        (pem_of(private_object()), "this is a private key"),
        (b"rubbish", "got 7 bytes of something else"),
        ("z" * 64, "got 64 bytes of something else"),
        ("a password of 32 characters, text", "got 33 bytes"),
        ("x" * 32, "got 32 bytes"),
        (5, "got int"),
        (public_pem_of(X25519PrivateKey.generate()), "seals are made with Ed25519, this is X25519PublicKey"),
    ],
    ids=[
        "a private key",
        "a private PEM",
        "rubbish",
        "64 letters",
        "a password",
        "32 letters",
        "a number",
        "an exchange key",
    ],
)
def test_what_is_no_public_key_is_refused(key: Any, problem: str) -> None:
    with pytest.raises(BadSeal, match=problem):
        journal_of("a", "seal").verify(key=key)


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        (b"rubbish", "got something else"),
        ("x" * 32, "got something else"),
        (PUBLIC, "got something else"),
        (None, "got NoneType"),
        (pem_of(private_object(), b"secret"), "locked with a password"),
        (pem_of(X25519PrivateKey.generate()), "seals are made with Ed25519, this is X25519PrivateKey"),
    ],
    ids=["rubbish", "32 letters", "a public key", "None", "locked", "an exchange key"],
)
def test_what_is_no_private_key_is_refused_and_changes_nothing(key: Any, problem: str) -> None:
    journal = journal_of("a")
    with pytest.raises(BadSeal, match=problem):
        journal.seal(key)
    assert len(journal) == 1


def test_without_the_package_the_mend_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    journal = journal_of("a", "seal")
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    for call in (lambda: journal.seal(KEY), lambda: journal.verify(key=PUBLIC), new_key):
        with pytest.raises(MissingExtra, match=r"signed heads need .*: pip install 'surefoot\[seal\]'"):
            call()
    assert len(journal) == 2


def test_only_sealing_loads_the_package() -> None:
    script = (
        "import sys; from surefoot.journal import open_journal; import surefoot.journal.seal\n"
        "open_journal().append('note', {}); assert 'cryptography' not in sys.modules, 'loaded too early'\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
