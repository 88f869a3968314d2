# Every target sets up what it needs in .venv from python3, pip and a C++ compiler. Nothing else is touched.

# The first Python 3.10 or newer that runs; choose another with `make test PYTHON=python3.13`.
PYTHON ?= $(shell for p in python3 python python3.14 python3.13 python3.12 python3.11 python3.10; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && echo $$p && break; done)

BIN := .venv/bin
INSTALLED := .venv/installed
NATIVE := CMakeLists.txt $(wildcard native/*)

.PHONY: demo test lint bench clean

demo: $(INSTALLED)
	@$(BIN)/corate demo

test: lint
	$(BIN)/python -m pytest

lint: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -exec rm -rf {} +

# An editable install: changes under src/ are seen at once, changes to the native code install again.
$(INSTALLED): pyproject.toml $(NATIVE)
	@test -n "$(PYTHON)" || { echo "make: no Python 3.10 or newer found; say PYTHON=/path/to/python3" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	@touch $@
