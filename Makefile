.DEFAULT_GOAL := help
.PHONY: help demo test check format live lowest constraints clean

# The first of these that runs and is new enough; `make PYTHON=/path/to/python test` overrides.
PYTHON ?= $(shell for python in python3.11 python3 python; do \
	"$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$python" && break; done)
BIN := .venv/bin
INSTALL := -m pip install --quiet --disable-pip-version-check
TEST ?= tests

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/package ## See a real agent run recorded, checked and explained (no key, no network)
	@$(BIN)/llm-judge demo

test: .venv/dev ## Run the tests; TEST=tests/trace runs some of them
	@$(BIN)/python -m pytest $(TEST)

check: .venv/dev ## Lint, formatting, types and the rules of the house
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python -m pytest tests/test_house.py

format: .venv/dev ## Put the sources into their form
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

live: .venv/dev ## Run the tests that call real judge models (needs keys)
	@$(BIN)/python -m pytest -m live -rs $(TEST)

lowest: .venv/pip ## Run the tests against the lowest versions that pyproject claims
	@.ci/lowest $(PYTHON)

constraints: ## Write constraints.txt anew from what installs today
	@rm -rf .venv/constraints
	@$(PYTHON) -m venv .venv/constraints
	@.venv/constraints/bin/python $(INSTALL) --upgrade 'pip>=25.1'
	@.venv/constraints/bin/python $(INSTALL) --group dev --editable .
	@.venv/constraints/bin/python -m pip freeze --exclude-editable > constraints.txt
	@rm -rf .venv/constraints

clean: ## Remove the environments and caches
	@rm -rf .venv .mypy_cache .pytest_cache .ruff_cache

.venv/package: pyproject.toml constraints.txt | .venv/pip
	@echo "Installing langchain-llm-judge into .venv, which takes about a minute."
	@$(BIN)/python $(INSTALL) --constraint constraints.txt --editable .
	@touch $@

.venv/dev: pyproject.toml constraints.txt | .venv/pip
	@echo "Installing langchain-llm-judge and what its tests need into .venv, which takes about a minute."
	@$(BIN)/python $(INSTALL) --constraint constraints.txt --group dev --editable .
	@touch .venv/package $@

# Installing dependency groups needs pip 25.1.
.venv/pip:
	@test -n "$(PYTHON)" || { echo "make: needs Python 3.11 or newer with its venv module (Debian: python3-venv), as python3 or PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -m venv .venv
	@$(BIN)/python $(INSTALL) --upgrade 'pip>=25.1'
	@touch $@
