# The commands of graphmill's developers. Paths are relative, so that a checkout may lie anywhere.
.PHONY: demo setup test test-slow test-gliner faults check format lock clean help
.DEFAULT_GOAL := help

PY := .venv/bin/python
STAMP := .venv/.graphmill-ready
QUESTION := Who founded Larkspur Optics?

help: ## Show what there is
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

demo: $(STAMP) ## Ingest examples/ into an embedded graph and ask it a question
	@$(PY) -m workers.cli ingest examples --graph demo || [ $$? -eq 1 ]
	@$(PY) -m workers.cli ask "$(QUESTION)" --graph demo

setup: $(STAMP) ## Make .venv with locked, hashed dependencies

$(STAMP): requirements/dev.txt pyproject.toml ops/setup/find_python.sh
	@python=$$(sh ops/setup/find_python.sh) && \
	    { [ -x $(PY) ] && $(PY) -c 'import pip' 2>/dev/null || "$$python" -m venv --clear .venv; }
	@echo "Installing locked dependencies into .venv (two minutes the first time) ..."
	@$(PY) -m pip install -qq --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@$(PY) -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(STAMP)

test: $(STAMP) ## Run the default tests (under 10 minutes), a module at a time in each of two processes
	$(PY) -m pytest --numprocesses 2 --dist loadfile

test-slow: $(STAMP) ## Run the long tests, and the engine's on its newer version
	sh ops/setup/test_slow.sh

test-gliner: $(STAMP) ## Run GLiNER's tests in an environment of their own (6 GB)
	sh ops/setup/test_gliner.sh

faults: $(STAMP) ## One pass of the fault suite: whatever breaks, the graph is the same
	$(PY) -m pytest tests/system/test_faults.py -m "slow or not slow" -k seed01

check: $(STAMP) ## What CI runs: format, lint, types, import contracts, tests
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	.venv/bin/lint-imports
	$(MAKE) test

format: $(STAMP) ## Format the code and mend what the linter can
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

lock: ## Lock the dependencies again (needs uv)
	uv pip compile pyproject.toml --universal --python-version 3.12 --generate-hashes --no-emit-index-url \
	    --no-header --no-annotate --quiet -o requirements/runtime.txt
	uv pip compile pyproject.toml --group dev --universal --python-version 3.12 --generate-hashes --no-emit-index-url \
	    --no-header --no-annotate --quiet -c requirements/runtime.txt -o requirements/dev.txt

clean: ## Remove the environment and the embedded stack's data
	rm -rf .venv .graphmill
