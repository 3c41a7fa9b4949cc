# Fairlead: every command a developer needs. `make help` lists them.

SHELL       := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

GO          ?= go
BIN         := bin/fairlead
VERSION     := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS     := -s -w -X main.version=$(VERSION)

# The version is stamped by -ldflags, so the build does not depend on how the
# checkout was made (archives, shallow clones, clones of another owner).
export GOFLAGS := -buildvcs=false $(GOFLAGS)

# How long one fuzz target runs.
FUZZTIME    ?= 10s

.PHONY: help
help: ## List the commands
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the static binary bin/fairlead
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/fairlead

.PHONY: run
run: build ## Build, then serve on 127.0.0.1:7420; the first start plays the demo into the home
	bash scripts/run.sh

.PHONY: demo
demo: build ## The main job end to end, headless: fix a failing test through a workflow
	./$(BIN) demo --answer auto

.PHONY: test
test: ## Everything: vet, lint, tests with -race on SQLite and Postgres, coverage gate, scenarios
	bash scripts/test.sh

.PHONY: lint
lint: ## golangci-lint with the repository's rules (installed at its pinned version when missing)
	LINT=1 bash scripts/lint.sh

.PHONY: bench
bench: ## The benchmark program over the real binary (figures for docs/BENCHMARKS.md)
	bash scripts/with-postgres.sh $(GO) run ./bench

.PHONY: cover
cover: ## Coverage of the pure layer, with its gate of 95 %
	bash scripts/cover.sh

.PHONY: scenarios
scenarios: ## Which numbered scenarios no test names
	bash scripts/scenarios.sh

.PHONY: fuzz-short
fuzz-short: ## Every fuzz target for a short time (FUZZTIME=1m for longer)
	FUZZTIME=$(FUZZTIME) bash scripts/fuzz-short.sh

.PHONY: chaos
chaos: build ## Two nodes on Postgres, killed, stopped and restarted for 60 s; then a check (RUNS=10000 SECONDS_OF_CHAOS=60)
	FAIRLEAD_TEST_BINARY=$(CURDIR)/$(BIN) bash scripts/chaos.sh

.PHONY: clean
clean: ## Remove what builds and tests made
	rm -rf bin coverage
