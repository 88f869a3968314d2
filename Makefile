# Every target sets up what it needs in .venv from python3, pip and a C++ compiler. Nothing else is touched.

# The first Python 3.10 or newer that runs; choose another with `make test PYTHON=python3.13`.
ifndef PYTHON
PYTHON := $(shell for p in python3 python python3.14 python3.13 python3.12 python3.11 python3.10; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && echo $$p && break; done)
endif
NEEDS_PYTHON = @test -n "$(PYTHON)" || { echo "make: no Python 3.10 or newer; say PYTHON=path/to/python" >&2; exit 1; }

BIN := .venv/bin
INSTALLED := .venv/installed
NATIVE := CMakeLists.txt $(shell find native -type f)
# Generated tables are left as they are written.
FORMATTED := $(filter-out native/text/unicode_tables.h,$(filter %.cpp %.h,$(NATIVE)))
BENCH := build/bench
FUZZ := build/fuzz
# address (and undefined behaviour), thread, or 0 for none
FUZZ_SANITIZE := address
ifeq ($(FUZZ_SANITIZE),0)
override FUZZ_SANITIZE := none
endif
FUZZ_SECONDS := 300
FUZZ_SEED := 0

.PHONY: demo test test-all coverage lint docs bench same fuzz clean

demo: $(INSTALLED)
	@$(BIN)/corate demo

test: lint
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow"

# Also the slow tests, most of which need Java and PySpark.
test-all: lint
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test,docs,spark]"
	$(BIN)/python -m pytest -n auto --dist worksteal

# Which lines of Python the tests run, without the slow tests: build/coverage/index.html.
coverage: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "pytest-cov>=5"
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow" --cov \
	  --cov-report=term --cov-report=html:build/coverage --cov-report=xml:build/coverage/coverage.xml

lint: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/clang-format --dry-run -Werror $(FORMATTED)
	$(BIN)/mypy

bench: $(BENCH)/installed
	$(BENCH)/bin/python -m benchmarks

# The documentation site, in build/site. Warnings are errors, such as a link that leads nowhere.
docs: $(INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "build/site/index.html; with search: $(BIN)/python -m http.server --directory build/site"

docs/commands.md: docs/make_commands.py $(shell find src/corate/cli -name '*.py') src/corate/training/options.py $(INSTALLED)
	$(BIN)/python docs/make_commands.py > $@

docs/options.md: docs/make_options.py src/corate/training/options.py $(INSTALLED)
	$(BIN)/python docs/make_options.py > $@

# Before and after moving code: `make same BASE=main`, with more options in ARGS="--methods polish --repeats 3".
same: $(INSTALLED)
	@test -n "$(BASE)" || { echo "make same: say which commit to compare with: make same BASE=main" >&2; exit 1; }
	$(BIN)/python -m benchmarks.compare_commits $(BASE) $(HEAD) $(ARGS)

fuzz: $(FUZZ)/installed-$(FUZZ_SANITIZE)
	PYTHONPATH=tests $(FUZZ)/bin/python -m fuzz --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED) --sanitizer $(FUZZ_SANITIZE)

clean:
	rm -rf .venv build dist .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -exec rm -rf {} +

# An editable install: changes under src/ are seen at once, changes to the native code install again.
$(INSTALLED): pyproject.toml $(NATIVE)
	$(NEEDS_PYTHON)
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test,docs]"
	@touch $@

# What users get, apart from what we edit: benchmarks measure an ordinary install.
$(BENCH)/installed: pyproject.toml $(NATIVE) $(shell find src -type f ! -name '*.pyc')
	$(NEEDS_PYTHON)
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check ".[bench]"
	@touch $@

# An editable install of its own, with a native module that watches its memory.
$(FUZZ)/installed-$(FUZZ_SANITIZE): pyproject.toml $(NATIVE)
	$(NEEDS_PYTHON)
	$(PYTHON) -m venv $(FUZZ)
	PYTHONPATH=tests $(FUZZ)/bin/python -m fuzz.sanitizers $(FUZZ_SANITIZE)
	$(FUZZ)/bin/python -m pip install --quiet --disable-pip-version-check \
	  --config-settings=cmake.define.CORATE_SANITIZE=$(FUZZ_SANITIZE) --editable ".[plots,zstd]"
	@rm -f $(FUZZ)/installed-*
	@touch $@
