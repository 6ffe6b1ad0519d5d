"""Speed and memory against named peers, as ratios measured in one run. `python -m benchmarks [NAME ...]`."""
