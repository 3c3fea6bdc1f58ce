# `make run` and `make test` do all the set-up; see README.md.
PYTHON ?= $(firstword $(foreach name,python3.11 python3.12 python3.13 python3.10 python3,$(shell command -v $(name))))
VENV := .venv
BIN := $(VENV)/bin
NATIVE := CMakeLists.txt $(wildcard cpp/* cpp/*/*)

.PHONY: run test bench build lint format wheel clean

run: $(VENV)/.built
	$(BIN)/python -m examples gemm_relu

test: $(VENV)/.built
	$(BIN)/python -m pytest -n 2

build: $(VENV)/.built

bench: $(VENV)/.built
	$(BIN)/python -m benchmarks

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(BIN)/clang-format --dry-run --Werror $(shell git ls-files '*.cc' '*.h')
	@$(BIN)/cpplint --quiet $(shell git ls-files '*.cc' '*.h')

format: $(VENV)/.installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	@$(BIN)/clang-format -i $(shell git ls-files '*.cc' '*.h')

wheel: $(VENV)/.installed
	$(BIN)/pip wheel --no-deps --no-build-isolation -w dist .

$(VENV)/.installed: requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --disable-pip-version-check -q -r requirements.txt
	touch $@

$(VENV)/.built: $(VENV)/.installed pyproject.toml $(NATIVE)
	$(BIN)/pip install --disable-pip-version-check -q --no-deps --no-build-isolation -e .
	touch $@

clean:
	rm -rf $(VENV) build dist
