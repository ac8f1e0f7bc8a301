# make demo   trains the quick start without a browser      make lab    opens the tutorials in JupyterLab
# make test   runs the tests and every notebook             make bench  measures, and runs the sweeps in full
# make lint   looks at the code without running it          make bundles  builds the JavaScript that is committed
# make docs   builds the site in build/site/docs/index.html, without network
# make release VERSION=0.2.0 collects the notes, tests the wheel in a fresh environment and makes a local tag
# make newest runs the unit tests on Python 3.13 with the newest JAX, where there is a Python 3.13
# All of them need Python 3.11, 3.12 or 3.13 and nothing else: the first one makes .venv and installs into it. Node comes
# with pip too; what prettier, eslint and the bundlers are made of comes from npm, by the lock file.

SHELL := /bin/bash
# The first Python on the path that is new enough; `make PYTHON=/some/python3.12 demo` takes another.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
LAB := $(VENV)/.installed-lab
TEST := $(VENV)/.installed-test
DEV := $(VENV)/.installed-dev
DOCS := $(VENV)/.installed-docs
VIEWS := node_modules/.installed-views
ALL_NODE := node_modules/.installed-all
BUNDLES := msnb/notebook/*/widget.js extensions/*/labextension
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# One more than there are processors: tests wait for browsers, processes and pauses of their own. Each takes 2 GB.
WORKERS ?= 3
# These read sources and declarations and compute nothing: `make lint` has them, and no second time is needed.
READ := tests/test_architecture.py tests/test_replacing.py tests/test_declared_imports.py tests/test_generated_pages.py
READ += tests/arguments/test_every_argument.py tests/own_lines
# Tests start a hundred processes; each would compile msnb anew where Python is told to keep no bytecode.
unexport PYTHONDONTWRITEBYTECODE
# npm's programs look for node on the path, and find that of the virtual environment.
NPM := PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/npm

.PHONY: demo lab test newest unit bench docs lint lint-python lint-javascript lint-workflows bundles release docker-test
.PHONY: clean
.DEFAULT_GOAL := demo

demo: $(LAB)
	@$(BIN)/python -m msnb demo

lab: $(LAB)
	@$(BIN)/python -m msnb lab

# The notebooks run meanwhile, in a process of their own: the tests leave an eighth of two processors idle, where they
# wait. What failed is run once more, alone: a test that passes then was starved by the machine, or is to be mended.
test: $(TEST)
	@log=$$(mktemp); MSNB_PROGRESS=0 $(BIN)/python -m pytest -p tests.no_grammar -p tests.cheap_xla -p tests.forked_kernels \
		-p nbval --nbval --nbval-current-env --nbval-cell-timeout=600 -p no:cacheprovider notebooks >"$$log" 2>&1 & notebooks=$$!; \
	trap 'kill $$notebooks 2>/dev/null; rm -f "$$log"' EXIT; \
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow" $(READ:%=--ignore=%) tests; failed=$$?; \
	wait $$notebooks; shown=$$?; echo "The notebooks:"; cat "$$log"; \
	if [ $$failed != 0 ]; then echo "!!! UNSTABLE, if it passes now:"; \
		$(BIN)/python -m pytest -v --last-failed --last-failed-no-failures none tests; failed=$$?; fi; \
	exit $$((failed || shown))

# The same rules with another Python in another environment, for which pip finds the newest of everything.
NEWEST ?= $(shell for p in python3.13 "$$(pyenv root 2>/dev/null)"/versions/3.13*/bin/python3.13; do \
	"$$p" -c 'import sys' 2>/dev/null && echo "$$p" && break; done)
newest:
	@if [ -n "$(NEWEST)" ]; then $(MAKE) VENV=.venv-newest PYTHON="$(NEWEST)" unit; \
	else echo "!!! No Python 3.13 on the path or in pyenv: the newest JAX was NOT tested." >&2; fi

# Without XLA_FLAGS of their own the tests choose a compiler that is quick; here they get that of users.
unit: $(TEST)
	@$(BIN)/python -c 'import sys, jax, numpy, cv2; print("Python", sys.version.split()[0], "JAX", jax.__version__, \
		"numpy", numpy.__version__, "OpenCV", cv2.__version__)'
	@export XLA_FLAGS=; $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow" --ignore=tests/notebook \
		$(READ:%=--ignore=%) tests || { echo "!!! UNSTABLE, if it passes now:"; \
		$(BIN)/python -m pytest -v --last-failed --last-failed-no-failures none tests; }

bench: $(TEST) $(DOCS)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m slow tests
	MSNB_PROGRAMS=500 MSNB_DRAWN=12 $(BIN)/python -m pytest -n $(WORKERS) tests/script/test_properties.py tests/np_face
	@for file in $(filter-out benchmarks/compare.py benchmarks/engine_process.py benchmarks/networks%.py benchmarks/peers.py,$(wildcard benchmarks/*.py)); do echo "== $$file"; $(BIN)/python $$file || exit 1; done

docs: $(DOCS)
	@JAX_PLATFORMS=cpu $(BIN)/python -m sphinx -c docs -d build/doctrees -j 2 -q -W --keep-going . build/site
	@echo "build/site/docs/index.html"

# As root on Debian, with buildah, crun and mmdebstrap; docs/docker.md has the figures.
docker-test:
	docker/test.sh

# Nothing is pushed.
release: $(DEV)
	$(BIN)/python .ci/release.py $(VERSION)

lint: lint-python lint-javascript lint-workflows

lint-python: $(DEV)
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m pyright --pythonpath $(BIN)/python
	$(BIN)/python tests/typing/share.py
	$(BIN)/python -m pytest -p no:cacheprovider $(READ)

lint-javascript: $(DEV) $(VIEWS)
	$(NPM) run --silent lint

# Workflows, the other files of .github and CITATION.cff. Both programs bring their rules and ask no network.
lint-workflows: $(DEV)
	$(BIN)/zizmor --offline --quiet .github
	$(BIN)/check-jsonschema --builtin-schema github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --builtin-schema github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(BIN)/check-jsonschema --builtin-schema github-issue-forms .github/ISSUE_TEMPLATE/{bug,feature}.yml
	$(BIN)/check-jsonschema --builtin-schema citation-file-format CITATION.cff

# A committed bundle has to be what its sources make. CI says so and fails; on your machine there is then one to commit.
bundles: $(DEV) $(ALL_NODE)
	$(NPM) run --silent build
	@changed="$$(git status --porcelain -- $(BUNDLES))"; if [ -n "$$changed" ]; then \
		printf 'These bundles are not the committed ones:\n%s\n' "$$changed" >&2; test -z "$$CI"; fi

# The stamps are older than pyproject.toml when dependencies changed; then, and only then, pip runs again. What pip does
# for a package it installs is done for msnb, too, so that a dozen processes of the tests do not all do it at once.
$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "msnb needs Python 3.11, 3.12 or 3.13, and none is on the path." >&2; exit 1; }
	@echo "Making a virtual environment in $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

$(LAB): pyproject.toml | $(BIN)/python
	@echo "Installing msnb and JupyterLab into $(VENV); this happens once and takes a minute or two"
	@$(PIP) -e ".[lab]"
	@touch $@

$(TEST): pyproject.toml | $(BIN)/python
	@echo "Installing msnb and what its tests need into $(VENV); this happens once and takes a minute or two"
	@$(PIP) -e ".[test]"
	@$(BIN)/python -m compileall -q msnb
	@touch $@ $(LAB)

$(DEV): pyproject.toml | $(BIN)/python
	@echo "Installing msnb and what its contributors use into $(VENV); this happens once and takes a minute or two"
	@$(PIP) -e ".[dev]"
	@$(BIN)/python -m compileall -q msnb
	@touch $@ $(TEST) $(LAB)

$(DOCS): pyproject.toml | $(BIN)/python
	@echo "Installing msnb and what its site needs into $(VENV); this happens once and takes a minute or two"
	@$(PIP) -e ".[docs]"
	@touch $@

$(VIEWS): package-lock.json | $(DEV)
	@$(NPM) ci --silent --ignore-scripts --workspaces=false
	@touch $@

# what the JupyterLab extension is built with is six times as much
$(ALL_NODE): package-lock.json | $(DEV)
	@$(NPM) ci --silent --ignore-scripts
	@touch $@ $(VIEWS)

clean:
	rm -rf $(VENV) .venv-newest node_modules build dist msnb-demo .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
