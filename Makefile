# Every target works from nothing and again without harm. `make PYTHON=python3.13 VENV=.venv-3.13 test` picks another Python.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo test check lint types format bench escapes soak fuzz clean

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

$(INSTALLED): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "codemode needs Python 3.11 or newer; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	touch $@

demo: $(INSTALLED) ## start the example services and run six programs against them
	$(BIN)/codemode demo

test: lint types ## lint, types and the whole suite
	$(BIN)/python -m pytest

check: lint types ## the quick one: lint, types and the fast tests
	$(BIN)/python -m pytest -m 'not slow' -x -q

lint: $(INSTALLED) ## style and import direction
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

types: $(INSTALLED) ## mypy, strict
	$(BIN)/mypy

format: $(INSTALLED) ## rewrite the code in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: ## measurements beside the peers, in an environment of their own, printed with versions and date
	$(PYTHON) -m venv $(VENV)-bench
	$(VENV)-bench/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(VENV)-bench/bin/python -m pip install --quiet --disable-pip-version-check --editable . --group bench
	$(VENV)-bench/bin/python -m benchmarks

escapes: $(INSTALLED) ## every escape attempt against each layer alone, as a table
	$(BIN)/python tests/escapes/run.py
	$(BIN)/python tests/escapes/run.py tests/escapes/own.yaml

soak: $(INSTALLED) ## 100,000 programs, a tenth of them hostile or killed: nothing may be left behind
	$(BIN)/python tests/soak/soak.py

fuzz: $(INSTALLED) ## three minutes: hostile bytes, hostile arguments, generated programs beside CPython
	$(BIN)/python tests/fuzz/frames.py --seconds 60
	$(BIN)/python tests/fuzz/calls.py --seconds 60
	$(BIN)/python tests/fuzz/programs.py --seconds 60

clean: ## remove what the targets made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache build dist
