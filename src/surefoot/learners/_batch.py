"""How very many calls are answered at once.

The answers are those of the single call. Most rows of a batch need no look of their own: the labels of a row become one
integer, which finds the case (a table, or a search in order); rows without a case are answered from the counts of their
labels, and one row stands for all that have the same labels that were never accepted. What depends on more than that
(numbers outside what was accepted, relations, pairs that were not all seen yet) is asked row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.errors import BadArgument
from surefoot.learners._caseindex import EXACT, Column, Index, Joined, Looked, beyond_floats, checked, listed
from surefoot.learners.batches import ACCEPT, REFUSE, UNKNOWN, VERDICTS, Coded, Predictions
from surefoot.learners.evidence import ActionEvidence
from surefoot.protocols import Prediction

if TYPE_CHECKING:
    from surefoot.learners._batching import Batched

__all__: list[str] = []  # the parts of an action model; nothing here is public


def _column(name: str, given: Any, quantity: bool) -> Column:
    """Return a column from what was given for a condition; `quantity`: whether its integers are quantities."""
    if isinstance(given, Coded):
        codes = np.asarray(given.codes)
        if codes.ndim != 1 or codes.dtype.kind not in "iu":
            raise BadArgument(f"the codes of {name!r} must be one row of integers, got {given.codes!r}")
        codes = codes.astype(np.int64, copy=False)
        if len(codes) and codes.view(np.uint64).max() >= len(given.values):  # a negative one is very large
            raise BadArgument(f"the codes of {name!r} must be in 0..{len(given.values) - 1}, got {codes!r}")
        return Column([checked(name, value) for value in given.values], codes)
    if isinstance(given, np.ndarray):
        if given.ndim != 1:
            raise BadArgument(f"column {name!r} must have one dimension, got {given.ndim}")
        if given.dtype.kind == "f" and np.isfinite(given).all():
            return Column([], None, given.astype(np.float64), float)
        if given.dtype.kind == "b":
            return Column([False, True], given.astype(np.int64))
        if given.dtype.kind in "iu" and len(given):
            low, high = int(given.min()), int(given.max())
            if quantity and -EXACT < low <= high < EXACT:
                return Column([], None, given.astype(np.float64), int)
            if high - low <= 2 * len(given):
                return Column(list(range(low, high + 1)), (given - low).astype(np.int64))
        given = given.tolist()
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise BadArgument(f"column {name!r} must be a list, an array or Coded(values, codes), got {given!r}")
    return listed(name, given, quantity)


class _Batch:
    """One batch on its way: rows are answered class by class, and what is left is asked one by one."""

    def __init__(
        self, model: Batched, action: str, evidence: ActionEvidence, columns: list[Column], count: int
    ) -> None:
        self.model = model
        self.action = action
        self.evidence = evidence
        self.columns = columns
        self.count = count
        severity = model.severity
        self.severity = severity if not isinstance(severity, dict) else severity.get(action, 1.0)
        self.hard = {at for at, name in enumerate(evidence.names) if name in model.vocabulary.hard}
        self.features: Callable[[int], tuple[Any, ...]] = lambda row: tuple([column.value(row) for column in columns])
        self.call: Call | None = None
        self.answers: Callable[[int], Prediction] = self.ask
        self.found = Predictions(count, lambda row: self.answers(row))

    def ask(self, row: int) -> Prediction:
        """Work out the prediction of a row, without what the call changes."""
        return _judge_features(self.model, self.action, self.features(row))

    def whole_answer(self, row: int) -> Prediction:
        """Work out the whole prediction of a row."""
        answer, foresight = self.ask(row), self.model._foresight
        if self.call is None or not foresight.known or answer.verdict != "accept":
            return answer
        state, args = self.call(row)
        features = self.features(row)
        key = self.evidence.key_of(features)
        return foresight.foresee(answer, self.evidence, key, features, state, args, self.model.caution)

    def one_by_one(self, rows: Any) -> None:
        """Ask for each of these rows."""
        for row in rows.tolist():
            _take(self.found, row, self.ask(row))

    def answer(self, known: Any = None) -> Predictions:
        """Answer all rows; `known`: the place of each row's case, -1 where there is none; found here when not given."""
        evidence = self.evidence
        if type(self.severity) is int and self.severity * (evidence.accepted + evidence.refused + 2) >= EXACT:
            self.one_by_one(np.arange(self.count))
            return self.found
        index = self.index()
        looked = [index.look_up(at, column) for at, column in enumerate(self.columns)]
        whole = self.whole()
        if not index.fits:
            self.one_by_one(np.flatnonzero(whole))
            return self.found
        joined = index.join(looked)
        if known is None:
            known = index.find(index.words(joined, self.columns, self.count))
        self.seen(index, np.flatnonzero(whole & (known >= 0)), known)
        self.unseen(index, np.flatnonzero(whole & (known < 0)), looked, joined)
        return self.found

    def index(self) -> Index:
        """Return the cases as arrays, as they are now."""
        index: Index | None = self.evidence.index
        if index is None or self.evidence.touched is None:
            index = self.evidence.index = Index(self.evidence)
        index.refresh()
        return index

    def whole(self) -> Any:
        """Refuse where a hard condition does not hold what it must; return which rows are left."""
        whole = np.ones(self.count, np.bool_)
        for name, value in self.model.vocabulary.required.items():
            if name in self.evidence.names:
                column = self.columns[self.evidence.names.index(name)]
                if column.codes is None:
                    alike = column.kind is type(value)
                    wrong = column.numbers != value if alike else np.ones(self.count, np.bool_)
                else:
                    per_value = [type(held) is not type(value) or held != value for held in column.values]
                    wrong = np.array(per_value, np.bool_)[column.codes]
                _put(self.found, wrong, REFUSE, self.severity, 0, True)
                whole &= ~wrong
        return whole

    def seen(self, index: Index, rows: Any, place: Any) -> None:
        """Answer the rows whose case was observed."""
        if not len(rows):
            return
        at = place if len(rows) == self.count else place[rows]
        version = index.since((self.model.observations, self.severity, self.model.caution))
        stale = index.answered.take(at) != version
        if stale.any():
            self.settle(index, np.unique(at[stale]))
        whole = slice(None) if len(rows) == self.count else rows
        answers = (index.verdict, index.risk, index.support, index.hard)
        _put(self.found, whole, *(answer.take(at) for answer in answers))

    def settle(self, index: Index, places: Any) -> None:
        """Work out the answers of cases, to be looked up until the model observes more."""
        evidence = self.evidence
        accepted, refused = index.accepted[places], index.refused[places]
        always, never = refused == 0, accepted == 0
        plain = never & ~self.may_be_noise(index, places, refused)
        if self.hard:
            plain &= False
        risk = self.severity * (evidence.flaked + 1) / (evidence.accepted + evidence.flaked + 2)
        refusal = self.severity * (refused + 1) / (refused + 2)
        index.keep(
            places,
            np.where(always, ACCEPT, REFUSE),
            np.where(always, risk, refusal),
            np.where(always, accepted, refused),
            False,
        )
        left = places[~always & ~plain]
        if len(left):
            self.judge(index, left)

    def judge(self, index: Index, places: Any) -> None:
        """Work out the single call's answer for cases; one stands for all that it does not tell apart."""
        accepted, refused = index.accepted[places], index.refused[places]
        alike = np.where(accepted > 0, (accepted << 31) + refused, -1 - places)  # seen both ways as often, or one case
        for _, first, same in _distinct(alike):
            case = index.cases[int(places[first])]
            answer = self.model._judge(self.action, self.evidence, case.features, case)
            index.keep(places[same], VERDICTS.index(answer.verdict), answer.risk, answer.support, answer.hard)

    def may_be_noise(self, index: Index, at: Any, refused: Any) -> Any:
        """Return for which cases the single call may take refusals for flakes."""
        if self.model.caution != "balanced" or not self.evidence.flaked:
            return np.zeros(len(at), np.bool_)
        return ~index.explained[at]

    def unseen(self, index: Index, rows: Any, looked: list[Looked], joined: list[Joined]) -> None:
        """Answer the rows whose case was not observed."""
        if not len(rows):
            return
        evidence, seed = self.evidence, self.model.caution == "seed"
        if seed and evidence.oddly:
            _put(self.found, rows, UNKNOWN, 0.5 * self.severity, 0, False)
            return
        if evidence.standing:
            self.one_by_one(rows)
            return
        whole = rows if len(rows) < self.count else None
        support = np.full(len(rows), evidence.accepted)
        for _, codes, _, counts in joined:
            at = codes if codes is None or whole is None else codes[whole]
            np.minimum(support, counts if at is None else counts.take(at, mode="clip"), out=support)
        outside = self.outside(rows)
        inside = support > 0
        new = ~inside
        if outside is not None:
            self.beyond(rows[outside & inside])
            self.one_by_one(rows[outside & new])
            inside &= ~outside
            new &= ~outside
        self.known(rows[inside], support[inside])
        self.strange(index, rows[new], looked)

    def known(self, rows: Any, support: Any) -> None:
        """Answer rows whose conditions were all accepted, one by one."""
        evidence = self.evidence
        if not len(rows):
            return
        seed = self.model.caution == "seed"
        if not seed and evidence.quantities and (evidence.unexplained() or evidence.flaked):
            self.one_by_one(rows)
            return
        if not seed and evidence.open_codes:
            alone = self.paired(rows) < 2
            self.one_by_one(rows[~alone])
            rows, support = rows[alone], support[alone]
            if not len(rows):
                return
        answer = self.ask(int(rows[0]))  # the same for all of them but for the support
        if answer.verdict != "accept":
            _take(self.found, rows, answer)
            return
        flake = (evidence.flaked + 1) / (evidence.accepted + evidence.flaked + 2)
        risk = self.severity * np.maximum(flake, 1 / (support + 2))
        _put(self.found, rows, ACCEPT, risk, support, False)

    def paired(self, rows: Any) -> Any:
        """Return how many labels of each row were not yet seen with each label of every other condition."""
        evidence = self.evidence
        count = np.zeros(len(rows), np.int64)
        for at, column in enumerate(self.columns):
            if column.codes is not None:
                codes = [evidence.code_of(at, value) for value in column.values]
                open_ = np.array([code in evidence.open_codes for code in codes], np.int64)
                count += open_[column.codes[rows]]
        return count

    def outside(self, rows: Any) -> Any:
        """Return which rows hold a number outside the accepted range, None when there are no numbers."""
        found = None
        for at, column in enumerate(self.columns):
            if column.numbers is None:
                continue
            held, accepted = column.numbers[rows], self.evidence.numbers[at]
            if not accepted:
                out = np.ones(len(rows), np.bool_)
            elif beyond_floats([accepted.low, accepted.high]):
                out = np.ones(len(rows), np.bool_)
            else:
                out = (held < accepted.low) | (held > accepted.high)
            if column.numeric is not None:
                out &= column.numeric[rows]
            found = out if found is None else found | out
        return found

    def beyond(self, rows: Any) -> None:
        """Answer rows of accepted labels with numbers outside the range: alike on the same side of one condition."""
        for at, column in enumerate(self.columns):
            accepted = self.evidence.numbers[at]
            if (
                column.codes is not None
                or not accepted
                or self.several(at)
                or beyond_floats([accepted.low, accepted.high])
            ):
                continue
            held = column.numbers[rows]
            for side, out in (("above", held > accepted.high), ("below", held < accepted.low)):
                if out.any():
                    self.side((at, "number", side), rows[out], held[out])
            rows = rows[(held >= accepted.low) & (held <= accepted.high)]
        self.one_by_one(rows)

    def several(self, at: int) -> bool:
        """Say whether another condition than `at` has numbers."""
        return any(column.numbers is not None for other, column in enumerate(self.columns) if other != at)

    def side(self, item: tuple[Any, ...], rows: Any, held: Any) -> None:
        """Answer rows that hold a number on one side of the range, and have nothing else that is new."""
        hard = item[0] in self.hard
        signature = frozenset([item])
        times = self.evidence.signatures.get(signature, 0)
        among = np.zeros(len(rows), np.bool_)
        if times:
            low, high = self.evidence.extremes(signature, item)
            among = (held >= low) & (held <= high)
        _put(self.found, rows[among], REFUSE, self.severity * (times + 1) / (times + 2), times, hard)
        _put(self.found, rows[~among], UNKNOWN, 0.5 * self.severity, 0, hard)

    def strange(self, index: Index, rows: Any, looked: list[Looked]) -> None:
        """Answer rows with labels that were never accepted: alike where these are the same."""
        if not len(rows):
            return
        for _, first, inverse in _distinct(*index.patterns(looked, rows)):
            _take(self.found, rows[inverse], self.ask(int(rows[first])))


def _put(found: Predictions, rows: Any, verdict: Any, risk: Any, support: Any, hard: Any) -> None:
    """Write down the answers of rows."""
    found.verdict[rows], found.risk[rows], found.support[rows], found.hard[rows] = verdict, risk, support, hard


def _take(found: Predictions, rows: Any, answer: Prediction) -> None:
    """Write down one answer for rows."""
    _put(found, rows, VERDICTS.index(answer.verdict), answer.risk, answer.support, answer.hard)


def _distinct(*words: Any) -> Any:
    """Yield (value, first row, all its rows) for each different row of words."""
    if len(words) == 1:
        order = np.argsort(words[0], kind="stable")
    else:
        order = np.lexsort(words)
    change = np.zeros(max(0, len(order) - 1), np.bool_)
    for word in words:
        held = word[order]
        change |= held[1:] != held[:-1]
    starts = np.concatenate([[0], np.flatnonzero(change) + 1, [len(order)]]) if len(order) else np.zeros(1, np.int64)
    bounds = starts.tolist()
    for start, end in zip(bounds[:-1], bounds[1:], strict=True):
        rows = order[start:end]
        yield int(words[0][rows[0]]), int(rows[0]), rows


Call = Callable[[int], tuple[Any, Mapping[str, Any]]]
"""Return the state and the arguments of a row."""


def answer_columns(model: Batched, columns: Mapping[str, Any], action: str, states: Any, args: Any) -> Predictions:
    """Answer for columns, one for each condition, and where they are given for the states that they were read from."""
    counts = {
        name: len(given.codes if isinstance(given, Coded) else given)
        for name, given in columns.items()
        if hasattr(given, "__len__") or isinstance(given, Coded)
    }
    if len(set(counts.values())) > 1:
        raise BadArgument(f"columns must have the same length, got {counts}")
    count = next(iter(counts.values()), 0)
    return _answered(model, columns, action, count, None if states is None else calls(states, args, count))


def calls(states: Sequence[Any], args: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None, count: int) -> Call:
    """Return the calls of rows.

    Raises:
        BadArgument: there are not as many states, or arguments, as rows.
    """
    if len(states) != count:
        raise BadArgument(f"there must be a state for each of {count} rows, got {len(states)}")
    if args is None or isinstance(args, Mapping):
        same = args or {}
        return lambda row: (states[row], same)
    given = args
    if len(given) != count:
        raise BadArgument(f"there must be arguments for each of {count} states, got {len(given)}")
    return lambda row: (states[row], given[row])


def gathered(answers: Sequence[Prediction]) -> Predictions:
    """Return whole predictions as a batch."""
    found = Predictions(len(answers), answers.__getitem__)
    for row, answer in enumerate(answers):
        found.verdict[row] = VERDICTS.index(answer.verdict)
        found.risk[row], found.support[row], found.hard[row] = answer.risk, answer.support, answer.hard
    return found


def answer_rows(model: Batched, rows: list[tuple[tuple[Any, ...], bool]], action: str, call: Call) -> Predictions:
    """Answer for vectors: the cases are looked up one by one, the rest is put into columns."""
    names = model.vocabulary.of(action)
    evidence = model._actions.get(action)
    cases = [None] * len(rows) if evidence is None else [evidence.find(*row) for row in rows]
    left = [n for n, case in enumerate(cases) if case is None]
    columns: Sequence[Sequence[Any]] = list(zip(*(rows[n][0] for n in left), strict=True)) or [()] * len(names)
    new = _answered(model, dict(zip(names, columns, strict=True)), action, len(left), call)  # its own, if that is all
    if len(left) == len(rows):
        return new
    assert evidence is not None  # there are cases
    batch = _Batch(model, action, evidence, [], len(rows))
    index = batch.index()
    place = np.fromiter((-1 if case is None else case.place for case in cases), np.int64, len(rows))
    batch.features, batch.call = lambda row: rows[row][0], call
    if model.vocabulary.required:
        batch.one_by_one(np.flatnonzero(place >= 0))
    else:
        batch.seen(index, np.flatnonzero(place >= 0), place)
    found = batch.found
    _put(found, left, new.verdict, new.risk, new.support, new.hard)
    return _until_changed(model, batch)


def _answered(model: Batched, given: Mapping[str, Any], action: str, count: int, call: Call | None) -> Predictions:
    """Answer for columns that fit together."""
    names = model.vocabulary.of(action)
    with model._lock:
        evidence = model._actions.get(action)
        known = evidence or ActionEvidence(names)
        columns = [_column(name, given[name], at in known.quantities) for at, name in enumerate(names)]
        batch = _Batch(model, action, known, columns, count)
        batch.call = call
        if evidence is None:
            _put(batch.found, slice(None), UNKNOWN, 0.5 * batch.severity, 0, False)
            batch.whole()
        else:
            batch.answer()
        return _until_changed(model, batch)


def _until_changed(model: Batched, batch: _Batch) -> Predictions:
    """Return a batch's answers, which can be asked for more until the model has observed more."""
    when = model.observations

    def ask(row: int) -> Prediction:
        with model._lock:
            if model.observations != when:
                raise BadArgument(
                    f"the model has observed {model.observations - when} more since this batch was predicted: read "
                    "whole predictions before, or predict again"
                )
            return batch.whole_answer(row)

    batch.answers = ask
    return batch.found


def _judge_features(model: Batched, action: str, features: tuple[Any, ...]) -> Prediction:
    """Return the single call's answer for a vector."""
    evidence = model._actions.get(action)
    case = None if evidence is None else evidence.cases.get(evidence.key_of(features))
    return model._judge(action, evidence, features, case)
