"""Statements are drawn and run, refusals name constraints of the catalogue, and a model is compared with these."""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from surefoot import ConservativeActionModel, Vocabulary

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("bench_induction_sql")


@pytest.mark.parametrize("number", range(4))
def test_every_refusal_names_a_constraint_of_the_catalogue(bench: Any, number: int) -> None:
    schema = bench.SCHEMAS[number]
    recorded = bench.statements_of(schema, None, 250, 10)
    assert bench.statements_of(schema, None, 250, 10) == recorded, "the same seed draws the same statements"
    names = {*bench.names_of(recorded.constraints), "no row"}
    said = [bench.blamed(s, recorded.constraints, recorded.tables) for s in recorded.train if not s.accepted]
    assert set(said) <= names
    assert len(set(said)) > 0.6 * len(names)
    assert 0.3 < len(said) / len(recorded.train) < 0.7


def test_postgres_says_the_same_of_the_same_statements(bench: Any, postgres: str) -> None:
    schema = bench.SCHEMAS[1]
    here = bench.statements_of(schema, None, 60, 1)
    there = bench.statements_of(schema, postgres, 60, 1)
    for one, other in zip(here.train, there.train, strict=True):
        no_default = one.action.startswith("insert") and "id" not in one.args
        if no_default or one.args.get("id", 0) is None:  # where SQLite takes the next number
            break
        assert (one.action, dict(one.args), one.accepted) == (other.action, dict(other.args), other.accepted)
    names = {*bench.names_of(there.constraints), "no row"}
    said = [bench.blamed(s, there.constraints, there.tables) for s in there.train if not s.accepted]
    assert set(said) <= names


def test_a_model_that_knows_one_constraint_has_learned_that_one(bench: Any) -> None:
    recorded = bench.statements_of(bench.SCHEMAS[0], None, 400, 400)
    words = {"the price is positive": lambda state, args: args["price"] is not None and args["price"] > 0}
    model = ConservativeActionModel(Vocabulary(words))
    for said in recorded.train:
        if said.action == "update products" and said.args.get("price") is not None and said.reason != "no row":
            if "name" not in said.args:
                model.observe(said.state, said.action, said.args, said.accepted)
    found = bench.compare(model, recorded)
    assert found.verdicts.total() == 400
    assert found.false_refusals == 0
    price = "products (price): check price > 0"
    assert found.by_constraint[price]["refuse"] > 0
    assert found.named[0] == found.named[1] > 0
    assert found.met([price, "nothing"]) == [price]


def test_a_quick_run_learns_some_constraints_and_writes_it_down(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = replace(bench.SCHEMAS[3], columns={"departments": bench.SCHEMAS[3].columns["departments"]})
    monkeypatch.setattr(bench, "SCHEMAS", (one,))
    monkeypatch.setattr(bench, "QUICK", 120)
    monkeypatch.setattr(sys, "argv", ["bench_induction_sql.py", "--quick", "--out", str(tmp_path / "sql.json")])
    bench.main()
    found = json.loads((tmp_path / "sql.json").read_text(encoding="utf-8"))
    value = {row["what"].partition(": ")[2]: row["value"] for row in found["rows"]}
    assert value["constraints learned"] >= 2
    assert value["false accepts"] + value["false refusals"] <= 3
