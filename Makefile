# Targets are listed by plain `make`. Every target builds the environment first when it is missing or the lock changed.
.DEFAULT_GOAL := help
SHELL := /bin/sh
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.built
LOGS ?=
OUT ?=
ARGS ?=
JOBS ?= 2

.PHONY: help setup report test check docs bench calibrate reference clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  e.g. make report LOGS=path/to/logs OUT=reports/mine"

setup: $(STAMP) ## build .venv from requirements.lock (Python 3.12 or newer)

$(STAMP): requirements.lock pyproject.toml
	@python=""; for candidate in $(PYTHON) python3 python3.14 python3.13 python3.12; do \
	  if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then python="$$candidate"; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "evenhand needs Python 3.12 or newer and found none (python3 is $$(python3 -V 2>&1 | head -n 1)); install one, or name it: make setup PYTHON=/path/to/python3.13" >&2; exit 1; \
	fi; \
	echo "setting up $(VENV) with $$("$$python" -V)"; \
	rm -rf $(VENV) && "$$python" -m venv $(VENV)
	@$(PY) -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock
	@$(PY) -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(PY) -m analysis.bayes.warm || echo "the models could not be compiled now; the first report will" >&2
	@touch $(STAMP)

report: $(STAMP) ## read LOGS (default: logs/) and write tables, figures and a page to OUT
	@$(PY) -m analysis report $(if $(LOGS),"$(LOGS)") $(if $(OUT),--out "$(OUT)") $(ARGS)

test: $(STAMP) ## run the tests
	@$(PY) -m pytest -n $(JOBS) $(ARGS)

check: $(STAMP) ## lint, formatting, types and layers
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy
	@$(PY) -m pytest -q tests/test_layers.py

docs: $(STAMP) ## build the documentation site, build/docs/index.html; a warning is an error
	@$(PY) -m sphinx -b html -W --keep-going -q -d build/doctrees docs build/docs
	@echo "docs: build/docs/index.html"

bench: $(STAMP) ## time the full-size run and compare with peers
	@$(PY) benchmarks/bench_full_size.py $(ARGS)
	@$(PY) benchmarks/bench_import.py
	@$(PY) benchmarks/bench_fit.py
	@$(PY) benchmarks/bench_readers.py

calibrate: $(STAMP) ## re-run the coverage and type I evidence (slow)
	@$(PY) benchmarks/calibrate_floor.py $(ARGS)
	@$(PY) benchmarks/calibrate_floor.py --deviates $(ARGS)
	@$(PY) benchmarks/calibrate_persistent.py
	@$(PY) benchmarks/calibrate_bias.py --sbc --coverage
	@$(PY) benchmarks/calibrate_trajectories.py
	@$(PY) benchmarks/calibrate_tests.py
	@$(PY) benchmarks/calibrate_planning.py
	@$(PY) benchmarks/calibrate_tokens.py
	@$(PY) benchmarks/calibrate_null_reports.py
	@$(PY) benchmarks/belief_bias_coverage.py
	@$(PY) benchmarks/calibrate_belief.py
	@$(PY) benchmarks/calibrate_accuracy.py
	@$(PY) benchmarks/calibrate_incoherence.py sbc
	@$(PY) benchmarks/calibrate_incoherence.py regimes
	@$(PY) benchmarks/calibrate_incoherence_hierarchy.py sbc
	@$(PY) benchmarks/calibrate_incoherence_hierarchy.py regimes
	@$(PY) benchmarks/calibrate_measurement.py sbc
	@$(PY) benchmarks/calibrate_measurement.py responders

reference: $(STAMP) ## recompute the numbers of R that tests compare with (needs R, see tests/reference/README.md)
	@$(PY) tests/reference/make_inputs.py
	@Rscript tests/reference/make_reference.R

clean: ## remove the environment, caches and reports
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build ./*.egg-info
	@find reports -mindepth 1 -maxdepth 1 ! -name README.md -exec rm -rf {} +
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
