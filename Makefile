# Everything here sets itself up: a virtual environment in .venv, the build, the extras.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(wildcard native/*.* native/python/*.*)

.PHONY: demo test slow clone sanitize lint format docs bench results clean

demo: $(VENV)/.installed
	$(BIN)/manyclass demo

test: $(VENV)/.installed
	$(BIN)/python -m pytest

slow: $(VENV)/.installed
	$(BIN)/python -m pytest -m slow

# `make demo` in a clean clone of what is committed, and its page in a browser.
clone: $(VENV)/.installed
	$(BIN)/python -m pytest -m browser

# The native code under the address and undefined behavior sanitizers of GCC: a build and an environment of their own, in
# build/sanitize, which borrows what is installed in .venv. Leaks are not looked for: Python keeps much until the end.
# Left out are the tests that trace and kill processes by the hundred, of which a sanitizer sees nothing.
SANITIZED := build/sanitize
SITE := $(SANITIZED)/venv/lib/python*/site-packages
PRELOAD = $(shell $(CXX) -print-file-name=libasan.so) $(shell $(CXX) -print-file-name=libstdc++.so)

sanitize: $(VENV)/.installed
	$(BIN)/python -m venv --clear --without-pip $(SANITIZED)/venv
	$(BIN)/python -c 'import sys; print(*(p for p in sys.path if "site-packages" in p), sep="\n")' \
	  > $$(echo $(SITE))/borrowed.pth
	$(BIN)/python -m pip --python $(SANITIZED)/venv/bin/python install --quiet --no-deps \
	  --config-settings=build-dir=$(SANITIZED)/cmake --config-settings=cmake.build-type=RelWithDebInfo \
	  --config-settings=cmake.define.MANYCLASS_SANITIZE=ON --config-settings=cmake.define.MANYCLASS_WERROR=ON .
	LD_PRELOAD="$(PRELOAD)" ASAN_OPTIONS=detect_leaks=0 $(SANITIZED)/venv/bin/python -m pytest -q --capture=sys \
	  -p no:cacheprovider tests/data tests/losses tests/solvers tests/retrieval tests/features/test_native_loops.py \
	  --ignore-glob='*_crash.py' -k 'not killed'

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
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis docs/api docs/gallery src/manyclass/_native.pyi
