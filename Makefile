# Two commands: `make demo` shows the product at work, `make test` checks it. Both set up everything they need.
.PHONY: help environment demo test unit faults lock clean

BIN := .venv/bin
STORE := ducklake:sqlite:demo-store/catalog.sqlite

help:
	@echo "make demo   judge the bundled sample log on this machine and print error rates by country"
	@echo "make test   ruff, mypy --strict and all tests but those of make faults, with real vLLM, Ray, Kafka, DuckLake and PostgreSQL"
	@echo "make unit   the tests of the metric alone: no engine, no store, no other process"
	@echo "make faults kill the stream's driver at every step, its judge and its brokers, and count: some 20 minutes"
	@echo "make lock   compile requirements.lock anew from pyproject.toml"

environment:
	@.ci/environment

demo: environment
	@$(BIN)/excam sample demo-store/sample.parquet
	@$(BIN)/excam score demo-store/sample.parquet --store $(STORE) --base qwen2.5-coder-0.5b
	@$(BIN)/excam trends --store $(STORE) --by country --bucket month
	@$(BIN)/excam show --store $(STORE) "$$($(BIN)/excam worst --store $(STORE) --limit 1 --json | $(BIN)/python -c \
		'import json, sys; print(json.load(sys.stdin)["pairs"][0]["pair_id"])')"

test:
	@.ci/environment test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	# Tests of the system wait much for engines and brokers to start; the metric's own run beside them meanwhile.
	@nice -n 19 $(BIN)/pytest -m "not engine and not system" > .cache/metric-tests.log 2>&1 & metric=$$!; \
	$(BIN)/pytest -m "(engine or system) and not faults" --durations=20; system=$$?; \
	wait $$metric; metric=$$?; cat .cache/metric-tests.log; exit $$((system + metric))

unit: environment
	$(BIN)/pytest -q -n 2 tests/excam -m "not engine and not postgres and not store and not processes"

faults:
	@.ci/environment test
	$(BIN)/pytest -m faults

lock: environment
	.cache/bootstrap/bin/uv pip compile --quiet pyproject.toml --extra cpu --extra train --extra dev --universal \
		--no-header --no-emit-index-url --no-emit-find-links --python-version 3.11 --output-file requirements.lock

clean:
	rm -rf demo-store .cache .venv
