# Every verb makes the environment it needs in $(VENV); CI runs the same verbs.
# What is tested is the built wheel, never the source tree.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml README.md LICENSE $(shell find src -name '*.py')
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: help demo test test-slow lint types bench bench-sparse new-points growing papers \
	papers-quick docs wheel clean

help: ## list the verbs
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --upgrade 'pip>=25.1'

$(VENV)/wheel: $(SOURCES) | $(BIN)/python
	rm -rf dist && $(BIN)/pip wheel -q --no-deps -w dist .
	$(BIN)/pip install -q --force-reinstall --no-deps dist/*.whl
	$(BIN)/pip install -q "$$(echo dist/*.whl)[all]"
	@touch $@

$(VENV)/group-%: pyproject.toml | $(BIN)/python
	$(BIN)/pip install -q --group $*
	@touch $@

wheel: $(VENV)/wheel ## build the wheel and install it

demo: $(VENV)/wheel ## six methods on digits: one table, and pictures in eigenmaps-demo/
	OPENBLAS_NUM_THREADS= $(BIN)/eigenmaps demo

test: $(VENV)/wheel $(VENV)/group-test ## the tests, docstrings and documents
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "not slow" --doctest-modules --pyargs eigenmaps tests

test-slow: $(VENV)/wheel $(VENV)/group-test ## laws at larger sizes, more random examples
	$(BIN)/python -m pytest -q -m slow tests

papers: $(VENV)/wheel ## the papers' figures and tables anew, into docs/papers/; data: EIGENMAPS_DATA
	OPENBLAS_NUM_THREADS= $(BIN)/eigenmaps reproduce all --output docs/papers

papers-quick: $(VENV)/wheel ## the same at small sizes, into eigenmaps-papers/
	OPENBLAS_NUM_THREADS= $(BIN)/eigenmaps reproduce all --quick

lint: $(VENV)/group-lint ## style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/wheel $(VENV)/group-lint ## static types
	$(BIN)/mypy

bench: $(VENV)/wheel ## side by side with scikit-learn
	OPENBLAS_NUM_THREADS= $(BIN)/python benchmarks/compare.py

bench-sparse: $(VENV)/wheel ## sparse coding beside linprog, and warm-started HiGHS if installed
	OPENBLAS_NUM_THREADS= $(BIN)/python benchmarks/sparse.py

new-points: $(VENV)/wheel ## every way to new points against true refits; writes docs/new_points.md
	OPENBLAS_NUM_THREADS= $(BIN)/python benchmarks/new_points.py

growing: $(VENV)/wheel ## partial_fit against fitting anew
	OPENBLAS_NUM_THREADS= $(BIN)/python benchmarks/growing.py

docs: $(VENV)/wheel $(VENV)/group-docs ## build the documentation in docs/_build
	$(BIN)/sphinx-build -q -W -b html docs docs/_build

clean: ## remove what was built
	rm -rf dist docs/_build docs/generated eigenmaps-demo eigenmaps-papers .pytest_cache .mypy_cache .ruff_cache .hypothesis
