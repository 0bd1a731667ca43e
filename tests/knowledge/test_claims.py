"""Claims as people and programs read them."""

from __future__ import annotations

import copy
import pickle

import pytest

from surefoot import Claim, WorldMap


def claim_of(m: WorldMap, state: object = "a", action: object = "x") -> Claim:
    claim = m.claim(state, action)
    assert claim is not None
    return claim


def test_a_claim_is_a_mapping_too() -> None:
    m = WorldMap().told("a", "x", "b", quote="a sign", step=3)
    claim = claim_of(m)
    assert dict(claim) == {"to": "b", "status": "hypothesis", "source": "told", "evidence": [[3, "a sign"]], "taken": 0}
    m.arrive("a", "x", "b", step=4)
    assert claim_of(m)["evidence"] == [[3, "a sign"], [4, None]]
    assert claim_of(m)["refused"] is False
    with pytest.raises(KeyError):
        claim["colour"]


def test_evidence_of_the_wrong_place_does_not_count() -> None:
    m = WorldMap().see("a", "x", to="b", step=1)
    m.arrive("a", "x", "c", step=2)
    assert claim_of(m)["evidence"] == [[2, None]]
    assert [e.step for e in claim_of(m).evidence] == [1, 2]
    assert [(o.to, o.times, [e.step for e in o.evidence]) for o in claim_of(m).outcomes] == [("c", 1, [2])]


def test_a_claim_stays_as_it_was_asked_for() -> None:
    m = WorldMap().see("a", "x", to="b")
    before = claim_of(m)
    kept = before.evidence
    m.arrive("a", "x", "c")
    assert before.to == "b"
    assert before.evidence == kept
    assert before != claim_of(m)


def test_claims_pickle_with_their_evidence() -> None:
    m = WorldMap().told("a", "x", (1, 2), quote="q")
    for other in (pickle.loads(pickle.dumps(claim_of(m))), copy.deepcopy(claim_of(m))):
        assert other == claim_of(m)
        assert other.evidence == claim_of(m).evidence


def test_why_tells_the_whole_story() -> None:
    m = WorldMap()
    m.see("a", "x").see("a", "x", to="b").told("a", "x", "c", quote="a sign", by="a guide", step=5)
    m.see("a", "x", to="e")
    m.refuse("a", "x", "locked").told("a", "x", "c")
    m.arrive("a", "x", "d")
    m.arrive("a", "x", "d")
    m.told("a", "x", "d").human("a", "x", "c", "no, here")
    m.drop("a new release")
    m.arrive("a", "x", "c")
    words = [w for _, w in m.why("a", "x")]
    assert words == [
        "seen: on offer",
        "seen: a hypothesis",
        "told: replaces 'b' (hypothesis, seen)",
        "seen: 'c' (hypothesis, told) stands",
        "refused",
        "told: on offer again",
        "observed: refutes 'c' (hypothesis, told)",
        "observed: confirmed again",
        "told: agrees",
        "human: contradicts 'd' (confirmed, observed), which stands until somebody looks",
        "dropped: to be checked again",
        "observed: refutes 'd' (hypothesis, observed)",
    ]
    text = str(m.why("a", "x"))
    assert text.startswith("'x' in 'a' leads to 'c' (confirmed, observed)\n")
    assert "[by a guide, “a sign”, step 5]" in text
    assert str(m.why("a", "nothing")) == "'nothing' in 'a': nothing is known"


def test_why_shows_how_it_stands() -> None:
    m = WorldMap().see("a", "x").refuse("a", "x", "locked")
    assert str(m.why("a", "x")).startswith("'x' in 'a' leads nobody knows where (hypothesis, seen, refused)")
    m.arrive("a", "y", "b")
    m.human("a", "y", "c")
    assert "doubtful: to be checked again" in str(m.why("a", "y"))
    m.human("b", "z", "c").told("b", "z", "c").told("b", "z", "d")
    assert [w for _, w in m.why("b", "z")] == [
        "human: a hypothesis",
        "told: agrees",
        "told: 'c' (hypothesis, human) stands",
    ]


def test_a_claim_made_by_hand_has_no_evidence() -> None:
    claim = Claim("a", "x", "b", "confirmed", "observed", counts=(("b", 1),))
    assert claim.evidence == ()
    assert claim.outcomes[0].evidence == ()
