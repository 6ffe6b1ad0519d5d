# Everything here sets itself up: a virtual environment in .venv, the build, the extras.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(wildcard native/*.* native/python/*.* native/portable/*.*)
COMMA := ,

.PHONY: demo test slow fuzz clone sanitize races audit lint format docs bench results wheel release clean

demo: $(VENV)/.installed
	$(BIN)/manyclass demo

test: $(VENV)/.installed
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

slow: $(VENV)/.installed
	$(BIN)/python -m pytest -m slow

# Ten thousand requests drawn from the description of the server, and everything hostile, against a real one.
fuzz: $(VENV)/.installed
	$(BIN)/python -m pytest tests/server/test_fuzzed_requests.py tests/server/test_hostile_requests.py -m "slow or not slow" -s

# `make demo` in a clean clone of what is committed, and its page in a browser.
clone: $(VENV)/.installed
	$(BIN)/python -m pytest -m browser

# The native code under sanitizers of GCC: a build and an environment of their own, in build/sanitize and build/races,
# which borrow what is installed in .venv.
define sanitized
	$(BIN)/python -m venv --clear --without-pip build/$@/venv
	$(BIN)/python -c 'import sys; print(*(p for p in sys.path if "site-packages" in p), sep="\n")' \
	  > $$(echo build/$@/venv/lib/python*/site-packages)/borrowed.pth
	$(BIN)/python -m pip --python build/$@/venv/bin/python install --quiet --no-deps \
	  --config-settings=build-dir=build/$@/cmake --config-settings=cmake.build-type=RelWithDebInfo \
	  --config-settings=cmake.define.MANYCLASS_SANITIZE=$(1) --config-settings=cmake.define.MANYCLASS_WERROR=ON .
endef
PRELOAD = $(foreach library,$(1) libstdc++.so,$(shell $(CXX) -print-file-name=$(library)))
CHECKED := -m pytest -q --capture=sys -p no:cacheprovider

# Addresses and undefined behavior: overflows, shifts, loads that are not aligned. Leaks are not looked for: Python keeps
# much until the end. Left out are the tests that kill processes by the hundred, of which a sanitizer sees nothing, and
# one of memory, which it takes more of.
sanitize: $(VENV)/.installed
	$(call sanitized,address$(COMMA)undefined)
	LD_PRELOAD="$(call PRELOAD,libasan.so)" ASAN_OPTIONS=detect_leaks=0 build/$@/venv/bin/python $(CHECKED) \
	  tests/data tests/losses tests/solvers tests/retrieval tests/features/test_native_loops.py tests/estimators/heads \
	  --ignore-glob='*_crash.py' -k 'not killed and not holds_little_more'

# Races between threads. Python and NumPy are not built for it and so not watched; what is, is every native loop.
races: $(VENV)/.installed
	$(call sanitized,thread)
	LD_PRELOAD="$(call PRELOAD,libtsan.so)" TSAN_OPTIONS=halt_on_error=1 OPENBLAS_NUM_THREADS=1 \
	  build/$@/venv/bin/python $(CHECKED) tests/data/test_dense.py tests/data/test_quantized.py \
	  tests/losses/test_multiclass_softmax.py tests/solvers/sgd tests/retrieval/test_search.py \
	  tests/features/test_native_loops.py tests/features/aggregation/test_vocabulary_gmm.py \
	  tests/features/aggregation/test_vocabulary_kmeans.py

# Known weaknesses of what is installed, where they can be looked up.
audit: $(VENV)/.installed
	$(BIN)/python .ci/audit.py

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

# The files of a release, in dist: built, looked into, tried where there is no compiler, and weighed. Needs a Python 3.11
# and a later one on the path or of pyenv, and no .venv.
release:
	$(PYTHON) -m release

# A source distribution and a wheel for this Python alone, in build/wheel, the same way.
wheel:
	$(PYTHON) -m release build check try --python $(PYTHON) --dist build/wheel

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
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis docs/api docs/gallery src/manyclass/_native.pyi
