# Everything a checkout needs is done by these targets; `make help` lists them.
# Only git, make and Python >= 3.11 are assumed (PYTHON=/path/to/python3 chooses one).

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

BIN := .venv/bin
UV := .tools/bin/uv
NPM := scripts/npm.sh
READY := .venv/.ready
BENCH_READY := .venv-bench/.ready
INPUTS := pyproject.toml uv.lock scripts/bootstrap.sh

# Options for pytest or the benchmark, as in: make test ARGS="-k fence -n 0"
ARGS ?=

# The lock is made against the public index, whatever this machine is set to use.
PUBLIC_INDEX := env -u UV_INDEX -u UV_INDEX_URL -u UV_EXTRA_INDEX_URL -u UV_FIND_LINKS -u UV_CONFIG_FILE \
	UV_DEFAULT_INDEX=https://pypi.org/simple UV_NO_CONFIG=1 UV_PYTHON=$(BIN)/python

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z%-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(READY) ## Do all set-up; leaves .venv/bin/belayer
	@echo "Ready: $(BIN)/belayer"

$(READY): $(INPUTS)
	@scripts/bootstrap.sh .venv
	@touch $@

$(BENCH_READY): $(INPUTS)
	@scripts/bootstrap.sh .venv-bench --no-default-groups --group bench
	@touch $@

# The browser's part: built into the Python package, not committed.
PAGES := src/belayer/api/pages/index.html
NODE_READY := web/node_modules/.ready
WEB_SOURCES := $(shell find web/src web/public -type f 2>/dev/null) web/index.html web/vite.config.ts web/tsconfig.json

$(NODE_READY): web/package.json web/package-lock.json | $(READY)
	@$(NPM) ci --no-audit --no-fund --silent
	@touch $@

$(PAGES): $(NODE_READY) $(WEB_SOURCES)
	@$(NPM) run --silent build -- --logLevel warn
	@touch $@

.PHONY: web
web: $(PAGES) ## Build the browser's part

.PHONY: schema
schema: $(READY) $(NODE_READY) ## Write the browser's types again after a change of the API
	@$(BIN)/python scripts/schema.py web/openapi.json
	@$(NPM) run --silent schema

.PHONY: demo
demo: $(READY) ## Show a durable session that is killed, goes on and ends
	@$(BIN)/belayer demo

.PHONY: test
test: $(READY) $(PAGES) ## Run every test
	@scripts/browser.sh
	@scripts/sandbox.sh
	@$(BIN)/pytest -n 2 -q $(ARGS)
	@$(NPM) test --silent

.PHONY: coverage
coverage: $(READY) ## Run every test and show which lines none of them reaches
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest -q $(ARGS)
	@$(BIN)/coverage combine -q
	@$(BIN)/coverage report

.PHONY: check
check: lint types layers spelling dependencies lock-check web-check ## Check everything that needs no running code

.PHONY: lint types layers spelling dependencies lock-check web-check
lint: $(READY)
	@echo "ruff" && $(BIN)/ruff check --quiet . && $(BIN)/ruff format --check --quiet .
types: $(READY)
	@echo "basedpyright" && $(BIN)/basedpyright
layers: $(READY)
	@echo "import-linter" && $(BIN)/lint-imports --no-logo
spelling: $(READY)
	@echo "codespell" && $(BIN)/codespell
dependencies: $(READY)
	@echo "deptry" && $(BIN)/deptry --no-ansi src
lock-check: $(READY)
	@echo "uv.lock" && $(BIN)/python scripts/check_lock.py && $(PUBLIC_INDEX) $(UV) lock --check --offline --quiet

web-check: $(READY) $(NODE_READY)
	@echo "web: types, biome, schema" && $(NPM) run --silent check
	@$(BIN)/python scripts/schema.py --check web/openapi.json

.PHONY: format
format: $(READY) ## Format the code and make the corrections ruff is sure of
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .

.PHONY: lock
lock: ## Write uv.lock again after a change of dependencies (ARGS=--upgrade for newer versions)
	@test -x $(UV) || scripts/bootstrap.sh .venv
	@$(PUBLIC_INDEX) $(UV) lock $(ARGS)

.PHONY: bench
bench: $(BENCH_READY) ## Measure Belayer side by side with its peers
	@.venv-bench/bin/python -m bench $(ARGS)

bench-%: $(BENCH_READY) ## Measure one part alone: bench-codegraph, bench-sandbox, bench-codemode, bench-fanout
	@.venv-bench/bin/python -m bench.$* $(ARGS)

.PHONY: clean
clean: ## Remove everything that make built
	@rm -rf src/belayer/api/pages web/node_modules .tools .venv .venv-bench build dist htmlcov .coverage .coverage.* .hypothesis .import_linter_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +
