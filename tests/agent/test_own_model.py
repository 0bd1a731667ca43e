from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from surefoot import open_journal
from surefoot.agent.own_model import OwnModel, exact_vocabulary

OBSERVED = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["go", "stay"]), st.booleans(), st.sampled_from([None, {"at": 1}])),
    max_size=40,
)


@given(OBSERVED)
def test_the_quick_answer_is_that_of_predict(observed: list[tuple[int, str, bool, object]]) -> None:
    model = OwnModel(exact_vocabulary())
    for state, action, accepted, effect in observed:
        for where in range(5):
            quick, _ = model.predict_exactly(b"%d" % where, action)
            slow = model.predict(where, action, {})
            names = ("verdict", "risk", "support", "hard", "reason", "rate", "evidence")
            assert [getattr(quick, name) for name in names] == [getattr(slow, name) for name in names]
        model.observe(state, action, {}, accepted, effect if accepted else None)


@given(OBSERVED)
def test_what_is_unseen_stays_as_it_is_predicted(observed: list[tuple[int, str, bool, object]]) -> None:
    model = OwnModel(exact_vocabulary())
    before: dict[tuple[int, str], object] = {}
    for state, action, accepted, effect in observed:
        model.observe(state, action, {}, accepted, effect if accepted else None)
        for where in range(5):
            for name in ("go", "stay"):
                if model.unseen(b"%d" % where, name):
                    said = model.predict_exactly(b"%d" % where, name)[0]
                    assert before.setdefault((where, name), said) == said


@given(OBSERVED)
def test_what_is_recorded_with_others_is_what_observe_records(observed: list[tuple[int, str, bool, object]]) -> None:
    one, other = open_journal(), open_journal()
    apart, together = OwnModel(exact_vocabulary(), journal=one), OwnModel(exact_vocabulary(), journal=other)
    for state, action, accepted, effect in observed:
        told = effect if accepted else None
        apart.observe(state, action, {}, accepted, told)
        record, take = together.observing(state, b"%d" % state, action, accepted, told)
        other.record_all([record])
        take(len(other) - 1)
    assert one.head == other.head
    assert apart.fingerprint() == together.fingerprint()
    assert apart.surprises == together.surprises
