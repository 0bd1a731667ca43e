from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import values
from surefoot.agent.decision import DONE, Answer, Option, decision_of, event_of
from surefoot.agent.episode_events import seal_of
from surefoot.errors import BadArgument

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
options = st.builds(
    Option,
    action=st.one_of(texts, st.integers(), st.tuples(texts, st.integers()), st.fixed_dictionaries({"name": texts})),
    verdict=st.sampled_from(["accept", "refuse", "unknown"]),
    risk=st.floats(0, 1e9),
    support=st.integers(-1, 10**6),
    hard=st.booleans(),
    reason=texts,
    choice=st.sampled_from(["take", "avoid", "ask"]),
    said=st.none() | texts,
    gate=st.none() | st.tuples(texts, texts),
    failed=st.none() | texts,
    gain=st.floats(0, 1e9),
    advances=st.lists(texts, max_size=2).map(tuple),
    instead_of=st.none() | st.integers(),
)


@given(options)
def test_an_option_is_encoded_exactly_and_comes_back(option: Option) -> None:
    data = option.encode()
    assert values.encode(values.decode(data)) == data
    assert Option.of(values.decode(data)) == option


@given(st.lists(options, max_size=3))
def test_a_decision_is_recorded_and_comes_back(some: list[Option]) -> None:
    answer = Answer("go", "slow", "asked", DONE, "because")
    event = event_of((1, 2, "3:abc", b'"hall"'), ("a", DONE), tuple(some), answer, {"action": "go"}, {"decisions": 1})
    assert event.seal == seal_of(event)
    decision = decision_of(7, event)
    assert decision.options == tuple(some)
    assert (decision.seq, decision.episode, decision.step, decision.state) == (7, 1, 2, "hall")
    assert (decision.action, decision.rule, decision.why) == ("go", "asked", "because")
    assert decision.goals == ("a", DONE)


@pytest.mark.parametrize(
    ("option", "kind"),
    [
        (Option("a"), None),
        (Option("a", gate=("reject", "no")), "gate"),
        (Option("a", gate=("terminate", "no")), "gate"),
        (Option("a", gate=("escalate", "ask")), "person"),
        (Option("a", "refuse", hard=True), "hard"),
        (Option("a", "unknown", hard=True), "person"),
        (Option("a", "accept", hard=True, choice="take"), None),
        (Option("a", "refuse", choice="avoid", said="too risky"), "avoid"),
        (Option("a", failed="lately"), "failed"),
    ],
)
def test_what_an_option_does_not_pass(option: Option, kind: str | None) -> None:
    assert (option.blocked and option.blocked[0]) == kind


def test_what_is_no_option_is_refused() -> None:
    with pytest.raises(BadArgument, match="no recorded option"):
        Option.of({"action": "a", "colour": "red"})
