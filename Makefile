# Two commands: `make demo` shows the product at work, `make test` checks it. Both set up everything they need.
.PHONY: help environment demo test types hostile-lane judge-lane engine-lane other-lane unit unit-figures unit-texts faults s3 chaos audit test-k8s lock clean

BIN := .venv/bin
# Every test run and every Ray worker imports the same files: let Python keep them compiled.
unexport PYTHONDONTWRITEBYTECODE
STORE := ducklake:sqlite:demo-store/catalog.sqlite

help:
	@echo "make demo   judge the bundled sample log on this machine and print error rates by country"
	@echo "make test   ruff, mypy --strict and the tests, with real vLLM, Ray, Kafka, DuckLake, PostgreSQL and Chromium"
	@echo "make unit   the tests of the metric alone: no engine, no store, no other process"
	@echo "make faults kill the judge, a broker of three and a whole node under a run, and count: minutes"
	@echo "make chaos  hurt a stream at random moments for MINUTES=30 with KILLS=100 from SEED=7, and count"
	@echo "make audit  known vulnerabilities and licences of everything in requirements.lock"
	@echo "make test-k8s  apply the overlays of k8s/ to the cluster in KUBECONFIG, upgrade, run a night, evict a stream, delete: 5 to 20 minutes"
	@echo "make s3     logs, store and backups in a bucket of a real S3 server, which Go builds the first time"
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
	@$(MAKE) --no-print-directory --jobs=5 --keep-going --output-sync=target types hostile-lane judge-lane engine-lane other-lane

# Tests of the system wait much for engines and brokers to start, so they run in two lanes: those that share one judge, and
# those that start engines of their own, with the dashboard's. Types and all other tests take what these leave of the machine.
# A head of a cluster has half a minute to come up or is begun anew, so it waits for the end, when fewer others start.
SYSTEM := (engine or system) and not faults
JUDGE := tests/pipelines tests/k8s/test_nightly.py tests/serve/test_api.py tests/k8s/test_serve.py
STARTING := tests/pipelines tests/serve tests/train tests/chaos

judge-lane:
	@$(BIN)/pytest -m "$(SYSTEM)" $(JUDGE) --durations=20

engine-lane:
	@$(BIN)/pytest -m "$(SYSTEM)" $(JUDGE:%=--ignore=%) --durations=20

types:
	@nice -n 10 $(BIN)/mypy

# In one process: the tests of an API's operations are many of one name, of which two processes would run the first alone.
hostile-lane:
	@nice -n 10 $(BIN)/pytest -m "not engine and not system" tests/hostile

other-lane:
	@nice -n 10 $(BIN)/pytest -n 2 --dist loadgroup -m "not engine and not system" --ignore=tests/hostile \
		$(STARTING:%=--ignore=%) --durations=20

# Two processes that each load what their half needs: scipy and scikit-learn as references here, names of countries there.
UNIT := $(BIN)/pytest -q -p no:schemathesis -p no:anyio -p no:unraisableexception -m "not engine and not postgres and not store and not processes" \
	--ignore=tests/excam/store
FIGURES := $(addprefix tests/excam/,evaluation relevance models cli/test_evaluate.py test_stats.py test_calibration.py)

unit: environment
	@$(MAKE) --no-print-directory --jobs=2 --keep-going --output-sync=target unit-figures unit-texts

unit-figures:
	@$(UNIT) $(FIGURES)

unit-texts:
	@$(UNIT) tests/excam $(FIGURES:%=--ignore=%)

faults:
	@.ci/environment test
	$(BIN)/pytest -m faults

s3:
	@.ci/environment test
	$(BIN)/pytest tests/excam/store/object_storage.py

MINUTES := 30
KILLS := 100
SEED := 7

chaos:
	@.ci/environment test
	$(BIN)/python -m tests.chaos --minutes $(MINUTES) --kills $(KILLS) --seed $(SEED)

audit: environment
	$(BIN)/python -m bench.licences --check
	# Strict: a package that no advisory could be asked about is a failure and not a pass.
	.cache/bootstrap/bin/uv tool run --quiet pip-audit --strict --disable-pip --no-deps --requirement requirements.lock

test-k8s:
	@.ci/environment test
	$(BIN)/pytest -m cluster tests/k8s/cluster --durations=10

UV_COMPILE := .cache/bootstrap/bin/uv pip compile --quiet pyproject.toml --no-header --no-emit-index-url --no-emit-find-links --python-version 3.11

lock: environment
	$(UV_COMPILE) --extra cpu --extra train --extra dev --universal --output-file requirements.lock
	# The image with CUDA holds to the same versions; the two builds of vLLM differ in one pin of their own.
	grep -v '^apache-tvm-ffi==' requirements.lock > .cache/constraints.txt
	$(UV_COMPILE) --extra gpu --extra train --constraint .cache/constraints.txt --no-annotate \
		--python-platform x86_64-manylinux_2_28 --output-file k8s/images/gpu.lock
	@.ci/environment
	$(BIN)/python -m bench.licences

clean:
	rm -rf demo-store .cache .venv
