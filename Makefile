# Fencepost's tasks. `make` or `make help` lists them; .ci/run calls the same ones.
.DEFAULT_GOAL := help
SHELL := /bin/bash

PYTHON ?= $(shell for version in 3.11 3.12 3.13 3.14 3; do .ci/find-python $$version && break; done)
# COMPILED=3.11 runs a task on a compiled build for this Python: `make kill COMPILED=3.11`.
export FENCEPOST_TEST_COMPILED ?= $(if $(COMPILED),1)
VENV := .venv$(if $(COMPILED),-compiled-$(COMPILED))
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# In a call of their own: the one broker of each serves all clients at the same time.
CLIENTS := tests/conformance/test_clients.py tests/conformance/test_transforming_clients.py
# Which tests needed a second try in the last runs: CI gives a folder that it keeps.
SECOND_TRIES ?= .second-tries

# Tests start very many processes of Python, which else would compile every module again: importing
# the broker takes 0.25 s of CPU time, not 0.95. (Images of containers like to set it.)
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## list the tasks
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 18

.PHONY: setup
setup: $(STAMP) ## make .venv with everything that development and the tests need

.venv/.installed: pyproject.toml
	@if [ -z "$(PYTHON)" ]; then \
		echo 'Python 3.11 or newer with its venv module is missing' \
			'(Debian: apt-get install python3 python3-venv)' >&2; exit 1; fi
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev,bench,spark]'
	@touch $(STAMP)

.PHONY: up
up: $(STAMP) ## run a broker at 127.0.0.1:9092; more options by UP='--port 0 --topic t:3'
	@$(BIN)/fencepost up $(UP)

.PHONY: codegen
codegen: $(STAMP) ## write the generated modules from the schemas
	$(BIN)/python -m fencepost_protocol.codegen
	$(BIN)/python -m fencepost_client.clients.blocking.codegen

.PHONY: codegen-check
codegen-check: $(STAMP) ## fail when the generated modules are not what the schemas say
	$(BIN)/python -m fencepost_protocol.codegen --check
	$(BIN)/python -m fencepost_client.clients.blocking.codegen --check
	$(BIN)/python -m fencepost_protocol.codegen.docs --check
	$(BIN)/python -m fencepost_broker.apis.support_page --check
	$(BIN)/python -m fencepost_broker.config.settings_page --check
	$(BIN)/python -m fencepost_broker.cli.reference_page --check
	$(BIN)/python -m fencepost_broker.cli.faults_page --check
	$(BIN)/python -m fencepost_broker.server.control.page --check
	$(BIN)/python -m fencepost_broker.server.metrics.page --check
	$(BIN)/python -m fencepost_broker.server.scenarios.page --check
	$(BIN)/python -m fencepost_client.clients.settings_page --check
	$(BIN)/python -m fencepost_client.histories.reference_page --check

.PHONY: fmt
fmt: $(STAMP) ## format the hand-written code
	$(BIN)/ruff format
	$(BIN)/ruff check --fix-only --quiet

.PHONY: lint
lint: $(STAMP) ## style, bans and the direction of imports
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/lint-imports

.PHONY: types
types: $(STAMP) ## mypy, strict, generated code included
	$(BIN)/mypy

.PHONY: check
check: codegen-check lint types ## all that needs no test to run

.PHONY: advisories
advisories: $(STAMP) ## licences and known weaknesses of the packages that users get; ADVISORIES=--strict for a release
	$(BIN)/python .ci/licences.py --installed
	$(BIN)/python -m pip install --quiet 'pip-audit>=2.9'
	$(BIN)/python .ci/advisories.py $(ADVISORIES)

PYTEST_ALL := $(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder --max-worker-restart 2
.PHONY: test
test: $(STAMP) ## every test that needs nothing but Python
	$(PYTEST_ALL) --second-try=$(SECOND_TRIES)/test.json -m 'not conformance'
	@echo 'Not run: tests that need a JVM, tshark, or clients in other languages. They are: make conformance'
	@.ci/missing-tools

VERSIONS ?= 3.11 3.12 3.13 3.14
.PHONY: test-fast
test-fast: $(STAMP) ## the fast tests without a browser, on each of VERSIONS (3.11 to 3.14) that is installed; FAST=tests/unit for some
	@for version in $(VERSIONS); do \
		if ! .ci/find-python $$version >/dev/null; then \
			echo "Python $$version is not installed: not tested"; continue; fi; \
		$(MAKE) --no-print-directory .venv-$(BUILD)$$version/.installed || exit 1; \
		echo "Python $$version"; \
		.venv-$(BUILD)$$version/bin/pytest -q -n auto -m 'not slow and not conformance' --ignore=tests/console $(FAST) || exit 1; \
	done

.venv-%/.installed: pyproject.toml
	$$(.ci/find-python $*) -m venv .venv-$*
	.venv-$*/bin/python -m pip install --quiet --upgrade pip
	.venv-$*/bin/python -m pip install --quiet --editable '.[dev,bench,spark]'
	@touch $@

.PHONY: compiled
compiled: ## the same on a compiled build, made anew when a source has changed
	@FENCEPOST_TEST_COMPILED=1 $(MAKE) --no-print-directory test-fast BUILD=compiled-

QUICK := tests/release/test_compiled.py tests/unit/records tests/unit/network tests/unit/test_framing.py \
	tests/machine/coordinator/transaction tests/machine/coordinator/runtime tests/control/test_sampling.py \
	tests/wire/test_transactions.py tests/wire/test_steps.py tests/wire/test_simulation_invariants.py
.PHONY: compiled-quick
compiled-quick: ## the tests that tell most about a compiled build, on each of VERSIONS
	@$(MAKE) --no-print-directory compiled FAST='$(QUICK)'

.venv-compiled-%/.installed: pyproject.toml $(shell git ls-files broker client pipeline protocol schemas)
	$$(.ci/find-python $*) -m venv .venv-compiled-$*
	.venv-compiled-$*/bin/python -m pip install --quiet --upgrade pip
	FENCEPOST_COMPILE=1 .venv-compiled-$*/bin/python -m pip install --quiet '.[dev,bench,spark]'
	@touch $@

# Not in CI: it is a whole run of the fast tests. `make setup` installs the newest versions that the ranges allow.
LOWEST ?= -n auto
.PHONY: lowest
lowest: .venv-lowest/.installed ## the fast tests with the lowest versions of dependencies; LOWEST='tests/unit -n 2' for some
	.venv-lowest/bin/pytest -q -m 'not slow and not conformance' --ignore=tests/console $(LOWEST)

.venv-lowest/.installed: pyproject.toml | $(STAMP)
	$(BIN)/python -m pip install --quiet --editable '.[release]'
	mkdir -p build
	$(BIN)/uv pip compile --quiet --resolution lowest-direct --extra arrow --extra audit --extra otlp --extra schemas --extra spark \
		--python $(PYTHON) --output-file build/lowest.txt pyproject.toml
	$(BIN)/uv venv --quiet --clear --python $(PYTHON) .venv-lowest
	$(BIN)/uv pip install --quiet --python .venv-lowest/bin/python --constraint build/lowest.txt --editable '.[dev,bench,spark]'
	@touch $@

.PHONY: conformance
conformance: $(STAMP) ## every test that needs a JVM (Apache Kafka, Spark), tshark, or clients in other languages
	@.ci/missing-tools
	$(PYTEST_ALL) --second-try=$(SECOND_TRIES)/conformance.json -m conformance $(addprefix --ignore=,$(CLIENTS))
	$(BIN)/pytest --second-try=$(SECOND_TRIES)/clients.json $(CLIENTS)

# Not in CI, which compares with 3.9 only: five clients on four releases take minutes.
.PHONY: personas
personas: $(STAMP) ## ask Apache Kafka 2.8 to 4.3 for the table of `up --as`, then compare, with clients of their times
	@.ci/missing-tools
	$(BIN)/python -m tests.conformance.releases.record
	$(BIN)/python -m fencepost_broker.apis.support_page
	FENCEPOST_TEST_PERSONAS=1 $(BIN)/pytest tests/conformance/test_personas.py

GOLDEN_ROUNDS ?= 20000
.PHONY: golden
golden: $(STAMP) ## golden bytes with GOLDEN_ROUNDS random messages per API and version
	FENCEPOST_TEST_GOLDEN_ROUNDS=$(GOLDEN_ROUNDS) $(BIN)/pytest -s -m conformance tests/conformance/test_golden_bytes.py

.PHONY: clients
clients: $(STAMP) ## only unmodified clients of seven kinds against our broker
	@.ci/missing-tools
	$(BIN)/pytest $(CLIENTS)

.PHONY: clients-page
clients-page: clients ## run them, and write docs/reference/clients.md
	$(BIN)/python -m tests.conformance.clients.page

TRANSFORM_ROUNDS ?= 10
.PHONY: transform
transform: $(STAMP) ## TRANSFORM_ROUNDS times consume, transform, produce by six clients while members die
	@.ci/missing-tools
	FENCEPOST_TEST_TRANSFORM_ROUNDS=$(TRANSFORM_ROUNDS) $(BIN)/pytest tests/conformance/test_transforming_clients.py

TRANSFORM_CLUSTER_ROUNDS ?= 16
.PHONY: transform-cluster
transform-cluster: $(STAMP) ## the same and our SDK on three brokers while these die; writes docs/proofs/clients-cluster.md
	@.ci/missing-tools
	$(BIN)/python -m tests.conformance.clients.cluster_rounds --rounds $(TRANSFORM_CLUSTER_ROUNDS) \
		--out docs/proofs/clients-cluster.md

# Not in CI: whole suites take minutes each.
.PHONY: suites
suites: $(STAMP) ## test suites of other projects; SUITES='--suite kgo --place kafka' runs some; writes docs/proofs/suites.md
	@.ci/missing-tools
	$(BIN)/python -m tests.conformance.suites $(SUITES)

.PHONY: clients-cluster
clients-cluster: $(STAMP) ## unmodified clients of seven kinds against three brokers and a controller
	@.ci/missing-tools
	FENCEPOST_TEST_BROKER=fencepost-cluster $(BIN)/pytest tests/conformance/test_clients.py

# Not in CI: five clients with five scripts each take minutes beside other tests.
.PHONY: clients-proxy
clients-proxy: $(STAMP) ## unmodified clients of five kinds through `fencepost proxy`, with Apache Kafka behind it
	@.ci/missing-tools
	FENCEPOST_TEST_CLIENTS_PROXY=1 $(BIN)/pytest tests/conformance/test_clients_through_a_proxy.py

STREAMS_ROUNDS ?= 30
.PHONY: streams
streams: $(STAMP) ## Kafka Streams killed STREAMS_ROUNDS times and upgraded; writes docs/proofs/streams.md
	@.ci/missing-tools
	$(BIN)/python -m tests.conformance.streams.report --rounds $(STREAMS_ROUNDS)

.PHONY: streams-cluster
streams-cluster: $(STAMP) ## Kafka Streams on three brokers while these die (5 to 10 minutes); writes docs/proofs/streams-cluster.md
	@.ci/missing-tools
	$(BIN)/python -m tests.conformance.streams.on_a_cluster

.PHONY: sdk
sdk: $(STAMP) ## the client SDK's tests whole on our broker and on Apache Kafka; writes docs/proofs/sdk.md
	@.ci/missing-tools
	$(BIN)/python -m tests.sdk.report

FUZZ_SECONDS ?= 600
.PHONY: fuzz
fuzz: $(STAMP) ## fuzz every target for FUZZ_SECONDS (600)
	$(BIN)/python -m pip install --quiet 'atheris>=2.3'
	$(BIN)/python -m tests.fuzz.run --seconds $(FUZZ_SECONDS)

CAMPAIGN_ROUNDS ?= 1000
.PHONY: pictures
pictures: $(STAMP) ## the picture of README, of what the commands print
	$(BIN)/python docs/pictures/make.py

.PHONY: structure
structure: $(STAMP) ## entries of each room, arrows between them, circles, proxies, looks into privates
	$(BIN)/python -m tests.structure

.PHONY: campaign
campaign: $(STAMP) ## CAMPAIGN_ROUNDS absurd requests of every API and version against a running broker
	$(BIN)/python -m tests.hostile.campaign --rounds $(CAMPAIGN_ROUNDS)

FAILING_ROUNDS ?= 50
.PHONY: failing-disks
failing-disks: $(STAMP) ## writes fail at any byte of every log, with kill -9, FAILING_ROUNDS times three lives
	$(BIN)/python -m tests.hostile.failing_disks --rounds $(FAILING_ROUNDS)

.PHONY: damaged-directory
damaged-directory: $(STAMP) ## each file of a data directory, damaged in each way, after a clean stop and after a kill
	$(BIN)/python -m tests.hostile.damaged_directory

KILL_ROUNDS ?= 100
.PHONY: kill
kill: $(STAMP) ## kill -9 under load, KILL_ROUNDS times three lives; nothing acknowledged may be lost
	$(BIN)/python -m tests.kill.rounds --rounds $(KILL_ROUNDS)

.PHONY: kill-transactions
kill-transactions: $(STAMP) ## kill -9 in every state of a transaction under load, KILL_ROUNDS times four lives
	$(BIN)/python -m tests.kill.transaction_rounds --rounds $(KILL_ROUNDS)

.PHONY: kill-cluster
kill-cluster: $(STAMP) ## a cluster's processes killed, paused, restarted under load, KILL_ROUNDS times two failures
	$(BIN)/python -m tests.kill.cluster_rounds --rounds $(KILL_ROUNDS)

SEEDS ?= 10000
JOBS ?= 2
.PHONY: simulate
simulate: $(STAMP) ## SEEDS (10,000) runs of simulated clusters in JOBS (2) processes; writes docs/proofs/simulation.md
	$(BIN)/python -m tests.kill.simulated_rounds --seeds $(SEEDS) --jobs $(JOBS) --out docs/proofs/simulation.md

MUTATION_SEEDS ?= 100
.PHONY: mutations
mutations: $(STAMP) ## guards taken out of copies of the broker; MUTATION_SEEDS seeds find each; docs/proofs/mutations.md
	$(BIN)/python -m tests.mutations.campaign --seeds $(MUTATION_SEEDS) --page docs/proofs/mutations.md

.PHONY: cuts
cuts: $(STAMP) ## wires between a cluster's processes cut in each way under load (some two minutes)
	FENCEPOST_TEST_CUTS=1 $(BIN)/pytest -v tests/wire/test_cuts_between_processes.py

.PHONY: matrix
matrix: $(STAMP) ## Kafka's transactions system test, 16 forms, our SDK and Java; writes docs/proofs/transactions-matrix.md
	@.ci/missing-tools
	rm -f build/transactions-matrix.json
	$(BIN)/python -m tests.kill.matrix.report $(MATRIX)

.PHONY: kill-pipeline
kill-pipeline: $(STAMP) ## kill -9 for Spark, its tasks and the broker (BROKER=kafka), KILL_ROUNDS times; writes docs/proofs/pipeline.md
	@.ci/missing-tools
	$(BIN)/python -m tests.pipeline.kill.rounds --rounds $(KILL_ROUNDS) $(if $(SEED),--seed $(SEED)) \
		$(if $(BROKER),--broker $(BROKER)) --out docs/proofs/pipeline$(if $(filter kafka,$(BROKER)),-kafka).md

.PHONY: kill-executors
kill-executors: $(STAMP) ## kill -9 for an executor of Spark's in the middle of a read and of a write
	@.ci/missing-tools
	$(BIN)/python -m tests.pipeline.kill.executors

# Not in CI: ten JVMs take minutes.
GB ?= 1
.PHONY: spark-cluster
spark-cluster: $(STAMP) ## pipelines on Spark's standalone cluster, with GB (1) of logs and kills; writes docs/bench/spark-cluster.md
	$(BIN)/python -m tests.bench.pipeline.spark_cluster --gb $(GB) --out docs/bench/spark-cluster.md

# Not in CI: two lives of Spark with two queries each take minutes beside other tests.
.PHONY: worked-pipeline
worked-pipeline: $(STAMP) ## examples/pipeline: the broker (FENCEPOST_TEST_BROKER=kafka) and Spark are killed, totals and audit agree
	@.ci/missing-tools
	FENCEPOST_TEST_WORKED_PIPELINE=1 $(BIN)/pytest -s tests/pipeline/test_worked_pipeline.py

.PHONY: bench-protocol
bench-protocol: $(STAMP) ## codec speed beside its peers; writes docs/bench/protocol.md
	$(BIN)/python -m tests.bench.protocol

.PHONY: bench-broker
bench-broker: $(STAMP) ## the broker's speed beside its peers; writes docs/bench/broker.md
	$(BIN)/python -m tests.bench.broker $(BENCH)

.PHONY: bench-client
bench-client: $(STAMP) ## the client beside its peers (some 15 minutes); writes docs/bench/client.md
	$(BIN)/python -m tests.bench.client $(BENCH)

.PHONY: bench-cluster
bench-cluster: $(STAMP) ## a cluster beside Apache Kafka's (up to 45 minutes); docs/bench/cluster.md
	$(BIN)/python -m tests.bench.cluster $(BENCH)

.PHONY: bench-audit
bench-audit: $(STAMP) ## the audit at 0.1, 1 and 10 GB (5 to 25 minutes); writes docs/bench/audit.md
	$(BIN)/python -m tests.bench.pipeline.audit --out docs/bench/audit.md $(BENCH)

.PHONY: bench-report
bench-report: $(STAMP) ## the benchmarks that are kept as one HTML file: build/bench.html
	$(BIN)/python -m tests.bench.report

.PHONY: bench-pipeline
bench-pipeline: $(STAMP) ## log files as Arrow tables (5 to 10 minutes); writes docs/bench/pipeline.md
	$(BIN)/python -m tests.bench.pipeline.log_files --out docs/bench/pipeline.md $(BENCH)

.PHONY: bench-spark-source
bench-spark-source: $(STAMP) ## sources beside Spark's (10 to 20 minutes); docs/bench/spark-source.md
	$(BIN)/python -m tests.bench.pipeline.source --out docs/bench/spark-source.md $(BENCH)

.PHONY: bench-spark-sink
bench-spark-sink: $(STAMP) ## the sink beside Spark's (5 to 20 minutes); docs/bench/spark-sink.md
	$(BIN)/python -m tests.bench.pipeline.sink --out docs/bench/spark-sink.md $(BENCH)

.PHONY: bench-inside
bench-inside: $(STAMP) ## where a request's CPU time goes, by bytecodes; writes docs/bench/inside.md
	$(BIN)/python -m tests.bench.inside

.PHONY: bench-proxy
bench-proxy: $(STAMP) ## what `fencepost proxy` costs, beside a bare relay; writes docs/bench/proxy.md
	$(BIN)/python -m tests.bench.proxy $(BENCH)

.PHONY: bench-disk
bench-disk: $(STAMP) ## what a write of 1 MB costs, in parts (2 minutes, 4 GB); writes docs/bench/disk.md
	$(BIN)/python -m tests.bench.disk --out docs/bench/disk.md

.PHONY: bench-replication
bench-replication: $(STAMP) ## what a replicated record costs, in counts (seconds); writes docs/bench/replication.md
	$(BIN)/python -m tests.bench.replication --out docs/bench/replication.md

.PHONY: bench-scale
bench-scale: $(STAMP) ## clusters of up to 99 brokers in the simulator (10 to 20 minutes, 4 GB); writes docs/bench/scale.md
	$(BIN)/python -m tests.bench.scale --out docs/bench/scale.md

.PHONY: bench-simulation
bench-simulation: $(STAMP) ## CPU for a virtual second and for a seed of the simulator (a minute); writes docs/bench/simulation.md
	$(BIN)/python -m tests.bench.simulation --out docs/bench/simulation.md

.PHONY: bench-suites
bench-suites: $(STAMP) ## 100 tests in Python, Go and Java with each broker (15 minutes); prints docs/bench/suites.md's table
	$(BIN)/python -m tests.bench.suites $(BENCH)

.PHONY: bench-compiled
bench-compiled: .venv-compiled-3.13/.installed ## the same with a compiled build; writes docs/bench/compiled.md
	.venv-compiled-3.13/bin/python -m tests.bench.compiled

.PHONY: walks
walks: $(STAMP) ## calls of functions on three walks through the broker
	$(BIN)/python -m tests.bench.walks

.PHONY: bench-stalls
bench-stalls: $(STAMP) ## how long one large request keeps the loop; writes docs/bench/stalls.md
	$(BIN)/python -m tests.bench.stalls

.PHONY: bench
bench: bench-protocol bench-broker bench-client bench-inside ## every benchmark

# The console's built files are committed: a wheel needs no Node.
CONSOLE := broker/fencepost_broker/server/console
console/node_modules/.installed: console/package-lock.json
	cd console && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

.PHONY: console
console: console/node_modules/.installed ## build the page of the control port from console/ (needs Node 20 and npm)
	cd console && npm run --silent build

.PHONY: console-check
console-check: console/node_modules/.installed ## fail when the built page is not what console/ says
	cd console && npm run --silent build -- --outDir ../build/console
	diff -r build/console $(CONSOLE)

.PHONY: console-pictures
console-pictures: $(STAMP) console/node_modules/.installed ## pictures of the console for docs/, by its tests
	FENCEPOST_TEST_PICTURES=docs/pictures $(BIN)/pytest tests/console -k "bytes_have_names or names_the_open"

.PHONY: console-all
console-all: $(STAMP) console/node_modules/.installed ## every scenario in the browser beside the broker's steps, and 10,000 partitions
	FENCEPOST_TEST_CONSOLE_ALL=1 $(BIN)/pytest tests/console

.PHONY: docs
docs: $(STAMP) ## write the generated pages of docs/
	$(BIN)/python -m fencepost_protocol.codegen.docs
	$(BIN)/python -m fencepost_broker.apis.support_page
	$(BIN)/python -m fencepost_broker.config.settings_page
	$(BIN)/python -m fencepost_broker.cli.reference_page
	$(BIN)/python -m fencepost_broker.cli.faults_page
	$(BIN)/python -m fencepost_broker.server.control.page
	$(BIN)/python -m fencepost_broker.server.metrics.page
	$(BIN)/python -m fencepost_broker.server.scenarios.page
	$(BIN)/python -m fencepost_client.clients.settings_page
	$(BIN)/python -m fencepost_client.histories.reference_page

.PHONY: docs-site
docs-site: $(STAMP) ## build the documentation site in build/site
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	$(BIN)/python docs/make_site.py

.PHONY: dist
dist: $(STAMP) ## build wheels and sdists of fencepost and fencepost-client in dist/, and check them
	$(BIN)/python -m pip install --quiet --editable '.[release]'
	rm -f dist/*.whl dist/*.tar.gz
	$(BIN)/python -m build --quiet --outdir dist .
	$(BIN)/python -m build --quiet --outdir dist client
	$(BIN)/twine check --strict dist/*.whl dist/*.tar.gz

# Not in CI, since it downloads every dependency again.
.PHONY: dist-test
dist-test: dist ## install both distributions in fresh environments of VERSIONS, and use them
	FENCEPOST_TEST_DIST=1 FENCEPOST_TEST_VERSIONS='$(VERSIONS)' $(BIN)/pytest -v tests/release/test_fresh_environments.py

.PHONY: binary
binary: dist ## build dist/fencepost: one file with Python inside, for this system
	$(BIN)/python .ci/binary/build.py --python $(PYTHON)

# Not in CI: the build takes a minute, and all commands another one.
.PHONY: binary-test
binary-test: binary ## use every command of dist/fencepost without Python; writes docs/proofs/binary.md
	$(BIN)/python -m tests.release.binary

# Not in CI: it needs buildah and bubblewrap, and the binary.
.PHONY: image
image: binary ## build dist/fencepost-image.tar, a container image in place of apache/kafka, and use it
	$(BIN)/python .ci/image/build.py
	FENCEPOST_TEST_IMAGE=1 $(BIN)/pytest -v tests/release/test_image.py

# Not in CI: it builds everything twice, in some minutes.
.PHONY: release
release: $(STAMP) ## all that a release publishes, in dist/release; built twice and compared; nothing is published
	$(BIN)/python -m pip install --quiet --editable '.[release]'
	$(BIN)/python .ci/release.py --python $(PYTHON)

# Not in CI: it needs Go, and builds the linter.
.PHONY: workflows
workflows: ## lint .github/workflows, which run only on GitHub
	go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

.PHONY: public-names
public-names: $(STAMP) ## write the list of public names, which a test compares
	$(BIN)/python -m tests.release.public_names

.PHONY: keep-release
keep-release: $(STAMP) ## write what this version writes to disk, which later versions have to read
	$(BIN)/python -m tests.release.kept.keep

.PHONY: clean
clean: ## remove what can be made again
	rm -rf .venv .venv-3.* .venv-compiled-* build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -rf .import_linter_cache tests/conformance/java/target
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
