"""The hash chain: layout to the byte, and what each damage of a line is called."""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import values
from surefoot.errors import BadArgument, BadSeal, BrokenChain, HeadMismatch, UnknownFormat
from surefoot.journal import Entry, Head, Verification, open_journal
from surefoot.journal.chain import (
    FORMAT,
    GENESIS,
    check,
    check_last,
    hash_of,
    is_exact,
    label_of,
    link,
    parse,
)

START = GENESIS.encode()
NOTE = label_of("main", "note")


def chain(count: int, clock: bytes = b"") -> list[bytes]:
    lines, prev = [], START
    for seq in range(count):
        line, prev = link(seq, NOTE, b'{"n":%d}' % seq, prev, clock)
        lines.append(line)
    return lines


def passes(lines: list[bytes]) -> bool:
    try:
        return list(check(lines)) == lines
    except BrokenChain:
        return False


def nested(depth: int) -> tuple[object, ...]:
    value: tuple[object, ...] = ()
    for _ in range(depth):
        value = (value,)
    return value


def test_the_layout_is_fixed_to_the_byte() -> None:
    """Old journals load for ever: this line must never read otherwise."""
    line, hash_ = link(0, label_of("main", "see"), b'{"state":"hall"}', START)
    body = (
        b'{"seq":0,"stream":"main","kind":"see","data":{"state":"hall"},'
        b'"prev":"047c8f0a00587e618e0e249f1ce716e5c4c0e0f3662a382251c8e968903ff822"'
    )
    assert hashlib.sha256(FORMAT.encode()).hexdigest() == GENESIS
    assert line == body + b',"hash":"' + hash_ + b'"}'
    assert hash_ == hashlib.sha256(body + b"}").hexdigest().encode()
    assert hash_ == b"2980a94229c90fab1a7af72ce6f3a1c77a26cf8270f938c848d9d64ea8c90bae"


def test_any_json_reader_reads_a_line() -> None:
    line = chain(2, b'"noon"')[1]
    read = json.loads(line)
    assert list(read) == ["seq", "stream", "kind", "data", "time", "prev", "hash"]
    assert read["prev"] == hash_of(chain(2, b'"noon"')[0]).decode()


def test_an_entry_says_what_the_line_says() -> None:
    entry = parse(chain(2, b"[2026,1]")[1])
    assert (entry.seq, entry.stream, entry.kind, entry.data, entry.time) == (1, "main", "note", {"n": 1}, (2026, 1))
    assert parse(chain(1)[0]).time is None
    assert parse(chain(1, b"null")[0]).time is None


def test_data_is_a_fresh_copy_each_time() -> None:
    entry = parse(chain(1)[0])
    entry.data["n"] = 5
    assert entry.data == {"n": 0}


def test_entries_are_values() -> None:
    one, two = (parse(line) for line in chain(2, b'"noon"'))
    for again in (pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one), parse(chain(1, b'"noon"')[0])):
        assert again == one
        assert hash(again) == hash(one)
        assert again.data == {"n": 0}
        assert again.time == "noon"
    assert one != two
    assert len({one, two, parse(chain(1, b'"noon"')[0])}) == 2
    with pytest.raises(AttributeError):
        one.seq = 3  # type: ignore[misc]  # wrong on purpose


def test_an_entry_shows_itself_shortly() -> None:
    short, long = parse(chain(1)[0]), parse(link(0, NOTE, b'{"t":"%b"}' % (b"x" * 500), START)[0])
    assert repr(short) == f"Entry(0, 'main', 'note', {{\"n\":0}}, hash={short.hash[:12]}…)"
    assert len(repr(long)) < 140


@pytest.mark.parametrize(
    ("data", "problem"),
    [(b"[1]", "is no object but"), (b'{"n": 1}', "cannot be read"), (b'{"b":1,"a":2}', "cannot be read")],
)
def test_data_that_is_not_the_encoding_of_a_mapping_is_told(data: bytes, problem: str) -> None:
    entry = parse(link(0, NOTE, data, START)[0])
    with pytest.raises(UnknownFormat, match=f"data of entry 0 {problem}"):
        _ = entry.data
    timed = parse(link(0, NOTE, b"{}", START, b'{"b": 1}')[0])
    with pytest.raises(UnknownFormat, match="the time of entry 0 cannot be read"):
        _ = timed.time


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff",
        b'{"seq":"0"}',
        chain(1)[0][:-1],
        chain(1)[0].replace(b'"seq":0', b'"seq":0,"more":1'),
        chain(1)[0].replace(b'"main"', b'"\xff"'),
        b"[" * 20_000,
        b'{"data":' + b"[" * 20_000 + b"]" * 20_000 + b"}",
        b'{"seq":0,"stream":"main","kind":"note","data":' + b"[" * 20_000 + b"]" * 20_000 + b"}",
        chain(1)[0].replace(b'{"n":0}', b'{"n":' + b"[" * 20_000 + b"}"),
        chain(1)[0].replace(b'{"n":0}', b'{"n":' + b"[" * 20_000 + b"]" * 20_000 + b"},1"),
    ],
)
def test_what_is_no_line_is_told(line: bytes) -> None:
    with pytest.raises(UnknownFormat, match="not a line of surefoot.journal/1"):
        parse(line)


@pytest.mark.parametrize("clock", [b"", b'"noon"', values.encode(nested(10_000))])
@pytest.mark.parametrize("depth", [0, 20_000])
@pytest.mark.untraced
def test_data_of_any_depth_can_be_read(depth: int, clock: bytes) -> None:
    data = values.encode({"deep": nested(depth), "text": '"]}\\', "list": [1]})
    label = label_of('a "stream"', "kind\\")
    line, hash_ = link(7, label, data, START, clock)
    entry = parse(line)
    assert (entry.seq, entry.stream, entry.kind, bytes(entry.raw)) == (7, 'a "stream"', "kind\\", data)
    assert (bytes(entry.clock), entry.prev, entry.hash) == (clock, GENESIS, hash_.decode())
    assert is_exact(line, entry)


def test_only_lines_as_this_format_writes_them_are_exact() -> None:
    line = chain(1, b'"noon"')[0]
    entry = parse(line)
    assert is_exact(line, entry)
    for other in (
        line.replace(b'"seq":0', b'"seq": 0'),
        line.replace(b'"kind":"note"', b'"kind":"n\\u006fte"'),
        line.replace(b'"data":', b'"data":{"n":5},"data":'),
        line.replace(b'"main"', b'"other","stream":"main"'),
        line + b" ",
    ):
        assert not is_exact(other, parse(other))


@settings(max_examples=settings().max_examples // 2)
@given(st.integers(0, 10**17), st.text(min_size=1), st.text(min_size=1), st.dictionaries(st.text(), st.integers()))
def test_a_line_reads_back_as_what_it_was_made_of(seq: int, stream: str, kind: str, data: dict[str, int]) -> None:
    line, hash_ = link(seq, label_of(stream, kind), values.encode(data), START)
    entry = parse(line)
    assert (entry.seq, entry.stream, entry.kind, entry.data) == (seq, stream, kind, data)
    assert is_exact(line, entry)
    assert list(check([line], start=seq)) == [line]
    assert hash_of(line) == hash_


@pytest.mark.parametrize("word", ["", None, 1, b"x", ["x"]])
def test_stream_and_kind_are_words(word: object) -> None:
    for pair in (("main", word), (word, "note")):
        with pytest.raises(BadArgument, match="must be a non-empty str"):
            label_of(*pair)


def test_a_whole_chain_passes_from_any_place() -> None:
    lines = chain(5)
    for place in range(5):
        prev = GENESIS if place == 0 else hash_of(lines[place - 1]).decode()
        assert list(check(lines[place:], start=place, prev=prev)) == lines[place:]


def rehashed(line: bytes, old: bytes, new: bytes) -> bytes:
    """Edit a line and give it the hash that fits."""
    body = line[:-75].replace(old, new)
    return body + b',"hash":"%b"}' % hashlib.sha256(body + b"}").hexdigest().encode()


def damaged(lines: list[bytes]) -> Iterator[tuple[str, list[bytes], int]]:
    first, second, third = lines
    yield "is damaged: not a line", [first, b"rubbish", third], 1
    yield "is damaged: not a line", [first[:-1]], 0
    yield "was edited", [first, second.replace(b'"n":1', b'"n":2'), third], 1
    yield "was edited", [first, second[:-3] + (b"0" if second[-3:-2] != b"0" else b"1") + b'"}', third], 1
    yield "was edited", [first, second.replace(b'{"seq":1', b'{ "seq":1'), third], 1
    yield "was edited", [first + b"  "], 0
    yield "does not start a journal of surefoot.journal/1", [rehashed(first, START, b"0" * 64)], 0
    yield "is numbered 1: entries were removed, inserted or moved", [rehashed(first, b'"seq":0', b'"seq":1')], 0
    yield "entries before it were removed", [second], 0
    yield "is numbered 2", [first, third], 1
    yield "does not follow entry 0", [rehashed(first, b'"n":0', b'"n":9'), second], 1


def test_each_damage_has_its_name_and_place() -> None:
    cases = list(damaged(chain(3)))
    assert len(cases) == 11
    for problem, lines, place in cases:
        with pytest.raises(BrokenChain, match=problem) as caught:
            list(check(lines))
        assert f"entry {place} " in str(caught.value)
        assert caught.value.at == place


def test_every_single_entry_edit_is_caught() -> None:
    """Removed, duplicated, swapped with its neighbour, edited and re-hashed: each at each place."""
    lines = chain(8)
    for i, line in enumerate(lines):
        edited = rehashed(line, b'"n":%d' % i, b'"n":99')
        assert passes([*lines[:i], edited]), "the last line may be rewritten: only a head tells"
        assert i == 7 or not passes([*lines[:i], edited, *lines[i + 1 :]])
        assert i == 7 or not passes(lines[:i] + lines[i + 1 :])
        assert not passes([*lines[: i + 1], line, *lines[i + 1 :]])
        assert i == 7 or not passes([*lines[:i], lines[i + 1], line, *lines[i + 2 :]])


def test_every_flip_of_a_byte_is_caught() -> None:
    """Every byte of a small journal, changed to every neighbour by one bit: none passes."""
    lines = chain(2, b'"noon"')
    for i, line in enumerate(lines):
        for place in range(len(line)):
            for bit in range(8):
                flipped = bytearray(line)
                flipped[place] ^= 1 << bit
                assert not passes([*lines[:i], bytes(flipped), *lines[i + 1 :]]), (i, place, bit)


def test_every_cut_of_a_line_is_caught() -> None:
    (line,) = chain(1)
    for length in range(len(line)):
        assert not passes([line[:length]])


def test_the_last_line_must_be_sound_to_build_on() -> None:
    lines = chain(3)
    assert check_last(lines[2], 3) == hash_of(lines[2])
    for line, count in ((lines[2], 2), (lines[2].replace(b'"n":2', b'"n":3'), 3), (b"rubbish", 1), (b"", 1)):
        with pytest.raises(BrokenChain):
            check_last(line, count)


def test_a_head_has_a_text_form() -> None:
    head = Head(3, "ab" * 32)
    assert str(head) == "3:" + "ab" * 32
    assert Head.of(str(head)) == head
    assert pickle.loads(pickle.dumps(head)) == head
    assert hash(Head.of(str(head))) == hash(head)


@pytest.mark.parametrize(
    "text",
    ["", "3", "x:" + "a" * 64, "-1:" + "a" * 64, "3:abc", "3:" + "A" * 64, "²:" + "a" * 64, "9" * 19 + ":x", 3, None],
)
def test_what_is_no_head_is_refused(text: str) -> None:
    with pytest.raises(BadArgument, match=r"a head reads length:hash|Head\.hash must be 64"):
        Head.of(text)


@pytest.mark.parametrize(
    ("length", "hash_"), [(-1, "a" * 64), (True, "a" * 64), (1.0, "a" * 64), (1, None), (1, "a" * 63)]
)
def test_a_head_that_names_no_journal_is_refused(length: int, hash_: str) -> None:
    with pytest.raises(BadArgument, match=r"Head\.(length|hash) must be"):
        Head(length, hash_)


def test_a_verification_is_its_answer() -> None:
    good, bad = Verification(True, 3), Verification(False, 3, 1, "entry 1 was edited", failed="chain")
    assert good
    assert not bad
    assert good.require() is good
    assert pickle.loads(pickle.dumps(bad)) == bad


@pytest.mark.parametrize(
    ("failed", "error"), [("chain", BrokenChain), ("head", HeadMismatch), ("seal", BadSeal), (None, BrokenChain)]
)
def test_a_failed_verification_raises_what_failed(failed: str, error: type[Exception]) -> None:
    with pytest.raises(error, match="what was wrong") as caught:
        Verification(False, 1, None, "what was wrong", failed=failed).require()  # type: ignore[arg-type]  # wrong on purpose
    assert type(caught.value) is error


def test_an_entry_of_a_journal_is_an_entry() -> None:
    assert isinstance(open_journal().append("note", {}), Entry)
