# Every target calls one script or one cargo command; the scripts in .ci/ say what they check.
.DEFAULT_GOAL := help
VECTORS ?= tests/vectors
PREFIX ?= /usr/local
WHEELS ?= $(or $(CARGO_TARGET_DIR),target)/wheels
CHECKS := repo arrows lint rust docs api readme differential cli c counts fuzz mutants tsan python node soak faults no_std loom minimal supply

.PHONY: help demo test conformance bench install wheels fmt $(CHECKS)

help: ## this list
	@awk -F ':.*## ' '/^[a-z_]+:.*## / { printf "%-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo "single checks: $(CHECKS)"

demo: ## a scripted outage over real sockets, without and with the breaker, from each language
	cargo run --release --locked -p tripcoil-demo

test: ## everything: all checks below, conformance, all tests
	@.ci/test

conformance: ## the vectors in VECTORS (default tests/vectors) on every runner
	@.ci/conformance "$(VECTORS)"

bench: ## every language beside its peers and floors: a table, benches/RESULTS.md and a picture
	@benches/run

install: ## the C library, its headers, pkg-config and CMake files, below PREFIX (default /usr/local)
	@bindings/c/install.sh "$(PREFIX)"

wheels: ## the Python package's wheel and sdist, checked, in WHEELS (default target/wheels)
	@python/wheels.sh "$(WHEELS)"

fmt: ## formats all Rust code
	cargo fmt --all

$(CHECKS):
	@.ci/$@
