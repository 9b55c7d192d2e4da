# Two commands on a fresh machine with Python 3.11+: `make` and `make test`.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := quick

PYTHON ?= python3
CORES ?= all
BIN := .venv/bin
SNAKEMAKE := "$(BIN)/snakemake" --quiet host reason --cores $(CORES) --rerun-incomplete
QUICK := --configfile config/quick.yaml
# Snakemake 9 looks at all waiting jobs again once a timespan for every job that has ended; with the
# default of a second that took 13% of a core after 78 jobs (docs/scale.md).
LONG := --max-jobs-per-timespan 1000/10s

export PATH := $(CURDIR)/.venv/bin:$(PATH)

.PHONY: quick paper report test lint data bench bench-quick slurm-test docs clean help

help: ## list the commands
	@grep -hE '^[a-z.-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

.venv: .venv/.ready ## set up the environment only

.venv/.ready: requirements.lock pyproject.toml
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "marginlab needs Python 3.11 or newer; name one with: make PYTHON=python3.12"; exit 1; }
	"$(PYTHON)" -m venv .venv
	"$(BIN)/python" -m pip install --quiet --disable-pip-version-check -r requirements.lock
	"$(BIN)/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch .venv/.ready

quick: .venv ## the quick reproduction: minutes, no web but the Python package index (default)
	$(SNAKEMAKE) $(QUICK)
	@$(SNAKEMAKE) $(QUICK) --report results/quick/report.html >/dev/null 2>&1 || { echo "the report could not be built; see: make report"; exit 1; }
	@"$(BIN)/python" -m marginlab.cli compare --run quick --brief
	@echo "report: $(CURDIR)/results/quick/report.html"

paper: .venv ## regenerate the papers in full
	$(SNAKEMAKE) $(LONG)
	@"$(BIN)/python" -m marginlab.cli compare --run paper --brief

report: .venv ## build the full run's report (with the times against peers once make bench has run)
	$(SNAKEMAKE) --report results/paper/report.html -- all $(if $(wildcard results/paper/tables/bench/time_peers.html),bench)
	@echo "report: $(CURDIR)/results/paper/report.html"

data: .venv ## fetch and verify the full run's data; says what cannot be had
	$(SNAKEMAKE) data

test: .venv ## run the tests
	"$(BIN)/python" -m pytest -n 2

lint: .venv ## ruff, mypy, snakefmt, snakemake --lint
	"$(BIN)/ruff" check .
	"$(BIN)/ruff" format --check .
	"$(BIN)/mypy"
	"$(BIN)/snakefmt" --check Snakefile rules
	"$(BIN)/snakemake" --lint

docs: .venv ## fill the documentation's tables, figures and references from the full run
	"$(BIN)/python" docs/make_docs.py

bench: .venv ## time every part against its peers, one job at a time
	$(SNAKEMAKE) --cores 1 bench
	@echo "table: $(CURDIR)/results/paper/tables/bench/time_peers.md"

bench-quick: .venv ## the same with small sizes, under two minutes
	$(SNAKEMAKE) $(QUICK) --cores 1 bench
	@echo "table: $(CURDIR)/results/quick/tables/bench/time_peers.md"

slurm-test: .venv ## a tiny run through a Slurm of one node (root; Debian: slurm-wlm munge)
	"$(BIN)/python" -m pip install --quiet --disable-pip-version-check "snakemake-executor-plugin-slurm>=1.0"
	MARGINLAB_SLURM_TEST=1 "$(BIN)/python" -m pytest -s tests/workflow/test_slurm.py

clean: ## remove results, figures and Snakemake's records (asks nothing; the data cache stays)
	rm -rf results figures .snakemake
