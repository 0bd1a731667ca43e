"""What can be asked of an action model beyond a prediction: why, what is missing, what changes, and for the record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from surefoot import values
from surefoot.errors import BadArgument
from surefoot.learners._cases import Case, Item, exact
from surefoot.learners._judging import say
from surefoot.learners._outcomes import Overlay
from surefoot.learners._spaces import Undetermined
from surefoot.learners.effects import EffectRule
from surefoot.learners.evidence import ActionEvidence
from surefoot.learners.explaining import Explanation
from surefoot.learners.suggesting import Row, Suggestion, separate
from surefoot.learners.vocabulary import MISSING, Vocabulary
from surefoot.protocols import Prediction

if TYPE_CHECKING:
    from surefoot.journal import Journal
    from surefoot.knowledge.store import KnowledgeStore
    from surefoot.learners._programs import Foresight

__all__: list[str] = []  # the parts of an action model; nothing here is public

_MOST_ROWS = 2000
_VERBS = {"equal": "is equal to", "at most": "is at most", "member": "is in"}


def say_relation(item: Item, names: tuple[str, ...]) -> str:
    """Say which relation holds in every accepted case."""
    return f"{names[item[1]]} {_VERBS[item[0]]} {names[item[2]]}"


class Answering:
    """The questions that an action model answers about itself."""

    vocabulary: Vocabulary
    caution: str
    _actions: dict[str, ActionEvidence]
    _foresight: Foresight
    _journal: Journal | None
    _stream: str
    _lock: Any

    if TYPE_CHECKING:

        def predict(self, state: Any, action: str, args: Mapping[str, Any] | None = None) -> Prediction: ...

        def actions(self) -> list[str]: ...

        def summary(self, action: str) -> dict[str, Any] | None: ...

        def _broken(self, action: str, features: tuple[Any, ...]) -> str | None: ...

        def _judge(
            self, action: str, evidence: ActionEvidence | None, features: tuple[Any, ...], case: Case | None
        ) -> Prediction: ...

    def explain(self, state: Any, action: str, args: Mapping[str, Any] | None = None) -> Explanation:
        """Say why a call is answered as it is: what refuses it, the nearest accepted case, what differs, the evidence.

        Raises:
            BrokenPredicate: a predicate raised something that does not mean "cannot be read here".

        Cost: that of a prediction, and linear in the action's distinct cases.

        Example:
            >>> from surefoot import ConservativeActionModel
            >>> model = ConservativeActionModel(Vocabulary({"open": lambda state, args: state["open"]}))
            >>> _ = model.observe({"open": True}, "enter", {}, True), model.observe({"open": False}, "enter", {}, False)
            >>> print(model.explain({"open": False}, "enter", {}))
            'enter' is refused: open is False, never accepted (1 refusal)
            no accepted case shows that open is False
            nearest accepted case (1 time): open is True, not False
        """
        given = {} if args is None else args
        with self._lock:
            answer = self.predict(state, action, given)
            features = self.vocabulary.features(state, action, given)
            names = self.vocabulary.of(action)
            conditions = tuple(zip(names, features, strict=True))
            evidence = self._actions.get(action)
            if evidence is None:
                return Explanation(
                    action, answer.verdict, answer.reason, answer.hard, conditions, (), (), (), 0, answer.evidence, ()
                )
            refusing, seqs = self._refusing(action, evidence, features, answer)
            near = _nearest(evidence, features)
        nearest = () if near is None else tuple(zip(names, near.features, strict=True))
        differs = (
            ()
            if near is None
            else tuple(
                (name, here, there)
                for name, here, there in zip(names, features, near.features, strict=True)
                if exact(here) != exact(there)
            )
        )
        return Explanation(
            action,
            answer.verdict,
            answer.reason,
            answer.hard,
            conditions,
            refusing,
            nearest,
            differs,
            0 if near is None else near.accepted,
            seqs,
            () if near is None else near.seqs,
        )

    def _refusing(
        self, action: str, evidence: ActionEvidence, features: tuple[Any, ...], answer: Prediction
    ) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Return in words what no accepted case shows, and where refusals of that are recorded."""
        if answer.verdict == "accept":
            return (), answer.evidence
        broken = self._broken(action, features) if self.vocabulary.required else None
        if broken is not None:
            return (broken,), answer.evidence
        items = evidence.violations(features) or evidence.pairs(features)
        found = evidence.matching(items, features)
        seqs = answer.evidence
        if found is not None and answer.verdict == "refuse":
            items = list(found[0])
            seqs = seqs or tuple(
                sorted(n for case in evidence.cases.values() if case.violations == found[0] for n in case.seqs)[-8:]
            )
        return tuple(sorted(say(item, self.vocabulary.of(action), evidence, features) for item in items)), seqs

    def effects(self, action: str) -> list[EffectRule]:
        """Return what accepted calls of an action change, in words and as edits, and how sure that is.

        One rule where one program explains all of them; else one for each value of the condition with the fewest values
        that explains them; else one for each case.

        Example:
            >>> from surefoot import ConservativeActionModel
            >>> model = ConservativeActionModel(Vocabulary({"free": lambda state, args: state["free"] > 0}))
            >>> for n in range(3, 6):
            ...     _ = model.observe({"free": n}, "take", {}, True, next_state={"free": n - 1})
            >>> print(model.effects("take")[0])
            subtract 1 from free (3 calls)
            >>> model.predict({"free": 9}, "take", {}).next_state
            {'free': 8}
        """
        with self._lock:
            return self._foresight.rules(action, self.vocabulary.of(action))

    def possible(
        self, state: Any, action: str, args: Mapping[str, Any] | None = None, *, most: int = 16
    ) -> tuple[Any, ...]:
        """Return the states that a call may lead to, were it accepted: what plain programs not ruled out make of it.

        A plain program edits the deepest parts that explain what was seen, by an argument or a constant rather than by
        a part of the state that happened to equal it. There is one state where what was seen determines it; none where
        no next state was told of the action, or no program explains what was told.

        Args:
            state: the state.
            action: the action's name.
            args: its arguments.
            most: how many are returned at most, an int >= 1.

        Raises:
            BadArgument: `most` is out of its range.
            ValueRejected: the state or an argument is not plain.

        Cost: linear in the parts that may change, times `most`.

        Source: the version space of Mitchell 1982, asked for each of its answers.

        Example:
            >>> from surefoot import ConservativeActionModel
            >>> model = ConservativeActionModel(Vocabulary({"always": lambda state, args: True}))
            >>> _ = model.observe({"logs": 2}, "burn", {}, True, next_state={"logs": 1})
            >>> model.predict({"logs": 3}, "burn").next_state, model.possible({"logs": 3}, "burn")
            (None, ({'logs': 1}, {'logs': 2}))
        """
        if type(most) is not int or most < 1:
            raise BadArgument(f"most must be an int >= 1, got {most!r}")
        given = {} if args is None else args
        with self._lock:
            evidence = self._actions.get(action)
            if evidence is None:
                return ()
            features = self._features(state, action, given)
            return tuple(self._foresight.possible(action, evidence.key_of(features), features, state, given, most))

    def _features(self, state: Any, action: str, args: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the values of the conditions in a call."""
        return self.vocabulary.features(state, action, args)

    def foretell(
        self, state: Mapping[str, Any], action: str, args: Mapping[str, Any]
    ) -> tuple[Prediction, dict[tuple[str, ...], Any] | None]:
        """Return what is predicted for a call in a lazy state, and what it changes, reading no more than needed.

        Args:
            state: an object whose parts are read one by one (`surefoot.learners.pddl` has such states).
            action: the action's name.
            args: its arguments.

        Returns:
            The prediction, and {path: the new value} of the parts that are edited; None when that is not determined.
        """
        features = self.vocabulary.features(state, action, args)
        with self._lock:
            evidence = self._actions.get(action)
            key = None if evidence is None else evidence.key_of(features)
            case = None if evidence is None else evidence.cases.get(key)
            answer = self._judge(action, evidence, features, case)
            programs = self._foresight.states.get(action)
            if answer.verdict != "accept" or programs is None:
                return answer, None
            try:
                made = programs.outcome(key, features, state, args, state, self.caution == "safe")
            except Undetermined:
                return answer, None
            return answer, made.changes() if isinstance(made, Overlay) else ({} if made is state else None)

    def suggest(self, action: str | None = None) -> list[Suggestion]:
        """Return what else the vocabulary could read, to explain refusals that it cannot: the best first.

        Unexplained is a refusal of a case that was accepted too, or in which nothing is new. The recorded states and
        arguments of these are compared with those of the accepted calls, the newest 2,000 of either kind.

        Args:
            action: only for this action; None: for all.

        Raises:
            BadArgument: the observations were not recorded (the model has no journal).

        Cost: reads the journal; see `separate`.

        Example:
            >>> from surefoot import ConservativeActionModel, open_journal
            >>> model = ConservativeActionModel(
            ...     Vocabulary({"open": lambda state, args: state["open"]}), journal=open_journal()
            ... )
            >>> for n in range(4):
            ...     _ = model.observe({"open": True, "dark": n < 2, "n": n}, "enter", {}, n >= 2)
            >>> print(model.suggest()[0])
            dark is True: 2 of 2 unexplained refusals, none of 2 accepted
        """
        if self._journal is None:
            raise BadArgument("suggest needs recorded observations: make the model with journal=open_journal(...)")
        refused: dict[str, list[Row]] = {}
        accepted: dict[str, list[Row]] = {}
        with self._lock:
            for entry in self._journal.entries(kind="observe", stream=self._stream):
                data = entry.data
                name = data["action"]
                if action is not None and name != action:
                    continue
                if data["accepted"]:
                    accepted.setdefault(name, []).append((data["state"], data["args"]))
                elif self._is_unexplained(name, data["state"], data["args"]):
                    refused.setdefault(name, []).append((data["state"], data["args"]))
        found = [
            suggestion
            for name in sorted(refused)
            for suggestion in separate(name, refused[name][-_MOST_ROWS:], accepted.get(name, [])[-_MOST_ROWS:])
        ]
        return sorted(found, key=lambda suggestion: -suggestion.refused)

    def _is_unexplained(self, action: str, state: Any, args: Mapping[str, Any]) -> bool:
        evidence = self._actions.get(action)
        if evidence is None:
            return False
        case = evidence.cases.get(evidence.key_of(self.vocabulary.features(state, action, args)))
        return case is not None and bool(case.refused) and (bool(case.accepted) or not case.violations)

    def commit(self, store: KnowledgeStore, scope: Any = None) -> dict[str, str]:
        """Write what was learned of each action into a knowledge store, as items of the kind "action".

        Each holds the action's summary, its effects and the vocabulary's fingerprint, part by part; the source is
        "outcome", by "environment". A newer version refutes the older one in the same scope.

        Returns:
            {action: id of the item}.

        Raises:
            ValueRejected: the scope is not plain.

        Example:
            >>> from surefoot import ConservativeActionModel
            >>> from surefoot.knowledge.store import KnowledgeStore
            >>> model, store = ConservativeActionModel(Vocabulary({"open": lambda s, a: s["open"]})), KnowledgeStore()
            >>> _ = model.observe({"open": True}, "enter", {}, True)
            >>> first = model.commit(store)["enter"]
            >>> _ = model.observe({"open": False}, "enter", {}, False)
            >>> second = model.commit(store)["enter"]
            >>> store.get(first).status, store.get(second).status, store.get(second).body["action"]
            ('refuted', 'active', 'enter')
        """
        described = self.vocabulary.describe()
        written: dict[str, str] = {}
        earlier: dict[str, list[str]] = {}
        for item in store.find(kind="action", scope=scope, status="active"):
            body = item.body
            if isinstance(body, dict) and isinstance(body.get("action"), str) and "vocabulary" in body:
                earlier.setdefault(body["action"], []).append(item.id)
        for action in self.actions():
            with self._lock:
                seqs = sorted(n for case in self._actions[action].cases.values() for n in case.seqs)
            body = {
                "action": action,
                "learned": _plain(self.summary(action)),
                "effects": [str(rule) for rule in self.effects(action)],
                "vocabulary": self.vocabulary.fingerprint(),
                "predicates": {name: described["predicates"][name] for name in self.vocabulary.of(action)},
            }
            old = earlier.get(action, [])
            same = [id for id in old if values.encode(store.get(id).body) == values.encode(body)]
            if same:
                written[action] = same[0]
                continue
            written[action] = store.add(
                "action", body, scope, source="outcome", by="environment", evidence=seqs[-8:] or None, supersedes=old
            )
        return written


def _nearest(evidence: ActionEvidence, features: tuple[Any, ...]) -> Case | None:
    """Return the accepted case that differs in the fewest conditions; of those the nearest in numbers, or commonest."""

    def distance(case: Case) -> tuple[Any, ...]:
        different, far = 0, 0.0
        for at, (here, there) in enumerate(zip(features, case.features, strict=True)):
            if exact(here) != exact(there):
                different += 1
                if evidence.is_number(at, here) and evidence.is_number(at, there):
                    numbers = evidence.numbers[at]
                    far += abs(here - there) / ((numbers.high - numbers.low if numbers else 0) or 1)
        return different, far, -case.accepted, [None if f is MISSING else [f] for f in case.features]

    def rank(case: Case) -> tuple[Any, ...]:
        *numbers, shown = distance(case)
        return *numbers, values.encode(shown)

    return min((case for case in evidence.cases.values() if case.accepted), key=rank, default=None)


def _plain(value: Any) -> Any:
    """Return a summary as plain values of its own."""
    return values.copy(value)
