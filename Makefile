# Entry points for people and for CI. `make` alone lists them.
#
# serve and bench share the release profile, test and check the dev profile with its assertions. Every cargo command names
# the whole workspace: otherwise features differ from one command to the next and dependencies are compiled again.

SHELL := bash
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help serve web test check bench bench-locomo bench-page laws peers openapi screenshots test-transformer setup setup-build fmt clippy deny vectors build-tests tests page browser

# Outside the working copy, so that a fresh clone compiles only our own crates.
export CARGO_TARGET_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/skein/target

# rustup looks for its toolchains below HOME. With another HOME they are still beside the cargo on PATH.
ifneq ($(shell cargo --version >/dev/null 2>&1; echo $$?),0)
  CARGO_PREFIX := $(abspath $(dir $(shell command -v cargo 2>/dev/null))..)
  ifneq ($(wildcard $(CARGO_PREFIX)/../.rustup/toolchains),)
    export CARGO_HOME ?= $(CARGO_PREFIX)
    export RUSTUP_HOME ?= $(abspath $(CARGO_PREFIX)/../.rustup)
  endif
endif

# Not empty where nextest is installed.
NEXTEST := $(shell cargo nextest --version 2>/dev/null | head -1)

# $(call step,heading,command): runs one step, says how long it took, and stops loudly when it fails.
define step
@printf '\n==> %s\n' '$(1)'; start=$$SECONDS; \
if $(2); then printf '    done in %s s\n' $$((SECONDS - start)); \
else printf '\nFAILED: %s (after %s s)\n' '$(1)' $$((SECONDS - start)) >&2; exit 1; fi
endef

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 16

serve: setup-build web ## build once and run the server: make serve ARGS="--listen 127.0.0.1:8080"
	$(call step,building an optimised skein (the first build takes minutes),cargo build --release --workspace --bin skein)
	@exec "$$CARGO_TARGET_DIR/release/skein" serve $(ARGS)

web: ## build the page into web/dist, where Node is and something changed; without Node a notice takes its place
	$(call step,the page,scripts/web.sh build)

test: setup web vectors fmt build-tests ## everything CI runs: formatting, lints, all tests on both databases, the page in a browser
	@scripts/side_by_side.sh '$(MAKE) tests browser' '$(MAKE) page clippy'
	@printf '\nAll steps passed.\n'

test-transformer: setup-build ## tests of the feature `transformer`, whose first build takes minutes
	$(call step,models in directories,cargo test -p skein-recall --features transformer --test transformer)
	$(call step,models that serve,cargo test -p skein-engine --features transformer --test embedding local::)

# Laws are tried by cases drawn at random. Here they are the same each time, so that a change is judged by what it does; `make laws`
# draws others.
export PROPTEST_RNG_SEED ?= 20261116
ROUNDS ?= 5
LAWS := binary(laws) | test(/laws|oracle|tree_life|alike|random|template::tests|tree::compare|bundle::line|json_parts|reader::tests|scrub|offline::tests/)
laws: setup ## properties by cases that were not tried before: make laws ROUNDS=20
	$(call step,building,cargo build --workspace --bin with_postgres --bin append_client && cargo nextest run --workspace --no-run)
	$(call step,laws,(for round in $$(seq $(ROUNDS)); do seed=$$RANDOM$$RANDOM; echo "    PROPTEST_RNG_SEED=$$seed"; \
	PROPTEST_RNG_SEED=$$seed "$$CARGO_TARGET_DIR/debug/with_postgres" cargo nextest run --workspace -E "$(LAWS)" || exit 1; done))

check: setup-build fmt clippy deny ## formatting, lints, licences: no tests, no PostgreSQL

bench: setup peers ## release build and benchmarks: make bench ARGS="..."
	$(call step,release build,cargo build --release --workspace --bin skein --bin skein-bench --bin with_postgres)
	$(call step,benchmarks,SKEIN_TEST_POSTGRES_DURABLE=1 "$$CARGO_TARGET_DIR/release/with_postgres" "$$CARGO_TARGET_DIR/release/skein-bench" $(ARGS))

# Other engines, measured beside ours where their scripts are at hand.
SKEIN_BENCH_PEERS ?= ../shared/bench
SKEIN_BENCH_PEERS_PYTHON ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/skein/peers/bin/python
# For the benchmarks alone: a server would say that it knows no such setting.
bench peers: export SKEIN_BENCH_PEERS := $(SKEIN_BENCH_PEERS)
bench peers: export SKEIN_BENCH_PEERS_PYTHON := $(SKEIN_BENCH_PEERS_PYTHON)
peers:
ifneq ($(wildcard $(SKEIN_BENCH_PEERS)/dbos.py),)
	$(call step,other engines,scripts/peers.sh)
else
	@printf '\n==> other engines\n    left out: no scripts in %s (SKEIN_BENCH_PEERS)\n' '$(SKEIN_BENCH_PEERS)'
endif

DATA ?= ../shared/data/locomo-dev.json
OUT ?= rankings.json
bench-locomo: setup-build ## how much of LoCoMo's evidence recall finds: make bench-locomo DATA=FILE OUT=rankings.json
	$(call step,release build,cargo build --release --workspace --bin skein-bench)
	$(call step,LoCoMo,if [ -f "$(DATA)" ]; then "$$CARGO_TARGET_DIR/release/skein-bench" locomo "$(DATA)" "$(OUT)"; else echo "    left out: there is no $(DATA)"; fi)
	@if [ -f "$(SKEIN_BENCH_PEERS)/locomo_score.py" ] && [ -f "$(OUT)" ]; then python3 "$(SKEIN_BENCH_PEERS)/locomo_score.py" "$(DATA)" "$(OUT)"; fi

bench-page: setup web ## how quick the page is in a browser, as a table
	$(call step,release build,cargo build --release --workspace --bin skein)
	$(call step,the page,SKEIN_BIN="$$CARGO_TARGET_DIR/release/skein" scripts/web.sh speed)

openapi: setup-build ## write openapi/skein.json anew, after an endpoint changed
	$(call step,API document,cargo build -q --workspace --example openapi && mkdir -p openapi && "$$CARGO_TARGET_DIR/debug/examples/openapi" >openapi/skein.json.new && mv openapi/skein.json.new openapi/skein.json)

setup: ## install what the tests need (PostgreSQL and Python servers)
	$(call step,set-up,scripts/setup.sh)

setup-build:
	$(call step,set-up,scripts/setup.sh --build-only)

page:
	$(call step,the page: types and formatting and unit tests,scripts/web.sh check)

browser: setup web
	$(call step,building the server the browser talks to,cargo build --workspace --bin skein)
	$(call step,the page in a browser,scripts/web.sh browser)

screenshots: setup web ## every screen, light and dark, filled and empty, into web/screenshots
	$(call step,building the server the browser talks to,cargo build --workspace --bin skein)
	$(call step,screenshots,scripts/web.sh screenshots)

vectors:
	$(call step,golden vectors against an independent implementation,python3 scripts/golden_vectors.py --check)

fmt:
	$(call step,formatting,cargo fmt --all --check)

clippy:
	$(call step,lints,cargo clippy --workspace --all-targets -- -D warnings)

deny:
ifeq ($(shell cargo deny --version >/dev/null 2>&1; echo $$?),0)
	$(call step,licences and bans,cargo deny check licenses bans sources)
else
	@printf '\n==> licences and bans\n    left out: no cargo-deny here (cargo install --locked cargo-deny)\n'
endif

build-tests: setup-build web
	$(call step,building the programs tests start,cargo build --workspace --bin with_postgres --bin append_client --bin skein)
ifneq ($(NEXTEST),)
	$(call step,building the tests,cargo nextest run --workspace --no-run)
endif

# One PostgreSQL for the run: with_postgres starts it and stops it whatever happens. Tests kill databases, and one that
# repairs itself syncs a thousand files: behind gigabytes of a fresh build each of them would wait. One test more than there
# are processors: some of them wait for another process.
tests: build-tests
	$(call step,what the build wrote reaches the disk,sync)
ifneq ($(NEXTEST),)
	$(call step,tests (nextest),scripts/in_memory.sh "$$CARGO_TARGET_DIR/debug/with_postgres" cargo nextest run --workspace --test-threads $$(($$(nproc) + 1)))
else
	$(call step,tests (cargo test),scripts/in_memory.sh "$$CARGO_TARGET_DIR/debug/with_postgres" cargo test --workspace --all-targets)
endif
