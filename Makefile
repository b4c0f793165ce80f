# Every target calls one script or one cargo command; the scripts in .ci/ say what they check.
.DEFAULT_GOAL := help
VECTORS ?= tests/vectors
CHECKS := repo arrows lint rust docs readme loom no_std cli

.PHONY: help demo test conformance bench fmt $(CHECKS)

help: ## this list
	@awk -F ':.*## ' '/^[a-z_]+:.*## / { printf "%-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo "single checks: $(CHECKS)"

demo: ## a scripted outage over real sockets, without and with the breaker
	cargo run --release --locked -p tripcoil-demo

test: ## everything: all checks below, conformance, all tests
	@.ci/test

conformance: ## the vectors in VECTORS (default tests/vectors) on every runner
	@.ci/conformance "$(VECTORS)"

bench: ## the criterion benches
	cargo bench --locked --workspace --benches

fmt: ## formats all Rust code
	cargo fmt --all

$(CHECKS):
	@.ci/$@
