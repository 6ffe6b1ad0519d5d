"""The files of a release: made, looked into, tried in clean environments, and what installing them costs.

build.py       a source distribution, and wheels made from it that other Linux systems take too
contents.py    what must be in them and what must not; that the version is the same everywhere
interpreters.py  the Pythons of this machine, and which wheel is for which
trial.py       a wheel in a fresh virtual environment, where no compiler can be found
cost.py        the size of an installation and its time, beside scikit-learn's

`make release` does all of it; `python -m release --help` says how to do parts. Needs Python alone: tools are installed
into build/release.
"""
