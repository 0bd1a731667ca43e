from __future__ import annotations

import contextlib
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.checking.formula import Binary, Label, Name, Number, Operator, Reward, Unary, is_temporal, parse
from surefoot.errors import BadProperty


def asked(text: str) -> Operator:
    formula = parse(text)
    assert isinstance(formula, Operator)
    return formula


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ('"a" & "b" | "c"', Binary("|", Binary("&", Label("a"), Label("b")), Label("c"))),
        ('!"a" & "b"', Binary("&", Unary("!", Label("a")), Label("b"))),
        ('"a" => "b" => "c"', Binary("=>", Label("a"), Binary("=>", Label("b"), Label("c")))),
        ("x + 2*y <= 3", Binary("<=", Binary("+", Name("x"), Binary("*", Number(2), Name("y"))), Number(3))),
        ("-x < -1", Binary("<", Unary("-", Name("x")), Unary("-", Number(1)))),
        ("!x=3", Unary("!", Binary("=", Name("x"), Number(3)))),
        ("(true)", Number(True)),
        ("P = 3", Binary("=", Name("P"), Number(3))),
    ],
)
def test_state_formulas_bind_as_in_prism(text: str, tree: object) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize(
    ("text", "operator", "least", "most"),
    [
        ('P=? [ F "a" ]', "F", 0, None),
        ('P=? [ F<=3 "a" ]', "F", 0, 3),
        ('P=? [ F<3 "a" ]', "F", 0, 2),
        ('P=? [ F>=3 "a" ]', "F", 3, None),
        ('P=? [ F>3 "a" ]', "F", 4, None),
        ('P=? [ F=3 "a" ]', "F", 3, 3),
        ('P=? [ F[2,4] "a" ]', "F", 2, 4),
        ('P=? [ "b" U<=5 "a" ]', "U", 0, 5),
        ('P=? [ "b" W "a" ]', "W", 0, None),
        ('P=? [ G !"a" ]', "G", 0, None),
        ('P=? [ X "a" ]', "X", 0, None),
    ],
)
def test_paths_and_their_bounds(text: str, operator: str, least: int, most: int | None) -> None:
    path = asked(text).of
    assert isinstance(path, Unary | Binary)
    assert (path.operator, path.least, path.most) == (operator, least, most)


@pytest.mark.parametrize(
    ("text", "kind", "direction", "nature", "compare", "bound", "reward"),
    [
        ('P=? [ F "a" ]', "P", None, None, "=?", None, None),
        ('Pmaxmin=? [ F "a" ]', "P", "max", "min", "=?", None, None),
        ('P>=0.5 [ F "a" ]', "P", None, None, ">=", 0.5, None),
        ('Pmin<1e-3 [ F "a" ]', "P", "min", None, "<", 1e-3, None),
        ('R{"cost"}min=? [ F "a" ]', "R", "min", None, "=?", None, "cost"),
        ('Rmin{"cost"}=? [ F "a" ]', "R", "min", None, "=?", None, "cost"),
        ("R<=-5 [ C<=3 ]", "R", None, None, "<=", -5.0, None),
        ('S>0.5 [ "a" ]', "S", None, None, ">", 0.5, None),
    ],
)
def test_operators(
    text: str,
    kind: str,
    direction: str | None,
    nature: str | None,
    compare: str,
    bound: float | None,
    reward: str | None,
) -> None:
    one = asked(text)
    assert (one.kind, one.direction, one.nature, one.compare, one.bound, one.reward) == (
        kind,
        direction,
        nature,
        compare,
        bound,
        reward,
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C", Reward("C")),
        ("C<=4", Reward("C", steps=4)),
        ("Cdiscount=0.9", Reward("C", discount=0.9)),
        ("I=4", Reward("I", steps=4)),
        ("S", Reward("S")),
        ('F "a"', Reward("F", Label("a"))),
    ],
)
def test_rewards(text: str, expected: Reward) -> None:
    assert asked(f"R=? [ {text} ]").of == expected


def test_a_path_inside_a_path_is_kept_for_storm() -> None:
    one = asked('P=? [ G (F "a") ]')
    assert is_temporal(one.of)
    assert one.text == 'G (F "a")'


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("", "expected a formula", 0),
        ('P=? [ F "goal"', "expected ']'", 14),
        ('P=? [ "goal" ]', "P needs a path", 6),
        ('P>=1.5 [ F "a" ]', r"a probability is in \[0, 1\], not 1.5", 3),
        ("R=? [ Q ]", "rewards are one of", 6),
        ("R=? [ Cdiscount=2 ]", r"a discount is in \(0, 1\)", 16),
        ('P=? [ F[5,2] "a" ]', "holds no step", 11),
        ('P=? [ F<0 "a" ]', "<0 holds no step", 8),
        ('P=? [ F<=x "a" ]', "expected a whole number of steps", 9),
        ('"a" $ "b"', r"'\$' means nothing", 4),
        ('"a" "b"', "is not expected", 4),
        ('F "a"', r"stand inside P=\? \[ \]", 0),
        ('R{3}=? [ F "a" ]', "expected the name of a reward model", 2),
        ('P [ F "a" ]', "is not expected", 2),
        ('S=? [ F "a" ]', "S needs states", 6),
        ("R=? [ I ]", "expected '='", 8),
        ('P>= [ F "a" ]', "is not expected", 4),
    ],
)
def test_errors_show_the_place(text: str, message: str, column: int) -> None:
    with pytest.raises(BadProperty, match=message) as caught:
        parse(text)
    assert str(caught.value).endswith(f"    {text}\n    {' ' * column}^")


def test_only_text_is_parsed() -> None:
    with pytest.raises(BadProperty, match="a property is text, got 3"):
        parse(3)  # type: ignore[arg-type]  # wrong on purpose


@given(st.text(alphabet=string.printable, max_size=30) | st.text(alphabet='PRS=?[]FGUX "a<>0.5(){}&|!', max_size=30))
def test_anything_is_parsed_or_refused_in_words(text: str) -> None:
    with contextlib.suppress(BadProperty):  # any other error fails
        parse(text)
