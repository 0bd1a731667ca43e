# Surefoot. `make demo` and `make test` need only make and Python 3.11 or newer: they set up everything else in .venv.

SHELL := /bin/sh
BIN := .venv/bin
.DEFAULT_GOAL := help
.PHONY: help demo test peers docs lint bench nightly clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

demo: ## explore two real worlds, find the shortest ways, send an agent twice, catch a forged record (under 90 s)
	@scripts/setup
	@$(BIN)/surefoot demo

test: ## everything that must hold: format, lint, types, layers, tests, the code of the docs
	@scripts/setup dev
	@scripts/check

peers: ## the models and environments beside stormvogel and Storm, in a Python 3.12 or 3.13 of its own (.venv-peers)
	@scripts/peers

docs: ## build the documentation with both tools into site/; a public name without an example fails it
	@scripts/setup dev
	@scripts/setup docs
	@scripts/docs

lint: ## mend the format and what the linter can mend, then say what is left
	@scripts/setup dev
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: ## measure, side by side with the peers; results go to benchmarks/results/
	@scripts/setup bench
	@for file in benchmarks/bench_*.py; do echo "==> $$file"; $(BIN)/python "$$file" || exit 1; done

nightly: ## the tests that take minutes, with many more random histories (installs gigabytes: torch)
	@scripts/setup dev
	@scripts/setup nightly
	@$(BIN)/python -m pytest -m "nightly or not nightly" --hypothesis-profile=nightly --timeout=3600

clean: ## remove what was made, but not .venv and .venv-peers
	@rm -rf site dist demo .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache .cache
	@find src tests benchmarks scripts -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
