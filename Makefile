# Everything here sets itself up: a virtual environment in .venv, the build, the extras.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(wildcard native/*.* native/python/*.*)

.PHONY: demo test slow clone lint format docs bench results clean

demo: $(VENV)/.installed
	$(BIN)/manyclass demo

test: $(VENV)/.installed
	$(BIN)/python -m pytest

slow: $(VENV)/.installed
	$(BIN)/python -m pytest -m slow

# `make demo` in a clean clone of what is committed, and its page in a browser.
clone: $(VENV)/.installed
	$(BIN)/python -m pytest -m browser

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(NATIVE)
	$(BIN)/mypy

format: $(VENV)/.installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(NATIVE)

# Pages, a reference and a gallery, in build/docs; a warning is an error.
docs: $(VENV)/.docs
	rm -rf docs/api docs/gallery
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet -b html -d build/doctrees docs build/docs

bench: $(VENV)/.installed
	$(BIN)/python -m benchmarks

# Data that users have is looked for in the folder MANYCLASS_DATA.
results: $(VENV)/.installed
	$(BIN)/python -m experiments

$(VENV)/.installed: pyproject.toml CMakeLists.txt $(NATIVE)
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

$(VENV)/.docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch $@

clean:
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis docs/api docs/gallery
