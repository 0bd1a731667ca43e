from __future__ import annotations

from pathlib import Path

import pytest

from surefoot.testing.laws import ALWAYS, Breach, Law


def breach(law: Law = Law.NO_TRACE, *, steps: int = 1, how: str = "", also: tuple[Law, ...] = ()) -> Breach:
    calls = [("reset(seed=3)", "state 0"), *((f"step({i})", f"accepted, state {i}") for i in range(steps))]
    return Breach("Attic", law, 3, calls, [b"1"] * steps, "state 1", "state 2", how, "state is 1, then 2", also)


def test_each_law_has_a_short_name_and_a_sentence() -> None:
    assert len({law.value for law in Law}) == len(Law) == 26
    for law in Law:
        assert law == law.value
        assert law is Law(law.value)
        assert len(law.value) <= 45
        assert law.statement.endswith(".")
        assert "\n" not in law.statement


def test_the_page_about_the_laws_has_all_of_them() -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "the-laws-of-an-environment.md"
    rows = [line.split("|")[1].strip() for line in page.read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    assert [row for row in rows if row != "law"] == [law.value for law in Law]


def test_a_name_that_is_no_law() -> None:
    with pytest.raises(ValueError, match="'be nice' is not a valid Law"):
        Law("be nice")


def test_the_laws_that_cannot_be_left_out_come_before_those_that_stand_on_them() -> None:
    order = list(Law)
    assert max(order.index(law) for law in ALWAYS) < order.index(Law.KEPT)


def test_a_breach_reads_as_a_report() -> None:
    assert str(breach(how="the same calls were made without those that were refused", also=(Law.RESET,))) == (
        'Attic breaks the law "a refusal leaves no trace".\n'
        "\n"
        "    Without its refused steps, a run goes the same way: a refusal changes nothing that\n"
        "    is hidden either.\n"
        "\n"
        "The shortest run found that shows it has 1 step:\n"
        "    reset(seed=3)  ->  state 0\n"
        "    step(0)        ->  accepted, state 0\n"
        "\n"
        "The same calls were made without those that were refused.\n"
        "\n"
        "expected: state 1\n"
        "happened: state 2\n"
        "first difference: state is 1, then 2\n"
        "\n"
        "Broken too:\n"
        '    "a reset starts afresh"\n'
        "\n"
        "Where this world cannot keep it, leave it out:\n"
        '    without=["a refusal leaves no trace"]'
    )


@pytest.mark.parametrize("law", [*sorted(ALWAYS), Law.OFFERED])
def test_what_cannot_be_left_out_is_not_offered_to_be(law: Law) -> None:
    assert "without=" not in str(breach(law))


def test_the_length_of_the_run_is_told() -> None:
    assert "has no step:" in str(breach(steps=0))
    assert "has 2 steps:" in str(breach(steps=2))
    nothing = Breach("Attic", Law.CLOSING, 0, [], [], "it returns", "close() raised OSError: gone")
    assert "It shows before the first call." in str(nothing)


def test_a_very_long_run_is_cut_in_the_middle() -> None:
    text = str(breach(steps=100))
    assert "    … 61 more calls …" in text
    assert text.count("\n    step(") == 39
    assert "step(99)" in text
    assert "step(50)" not in text
