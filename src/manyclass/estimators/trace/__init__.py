"""Softmax and other losses with a trace norm, which lets classes share directions.

trace_norm   TraceNormClassifier, with weights in factors
trace_path   TraceNormPath, a grid of them
path_grid    the grid of strengths, and the way along it
_path_plots  drawings of a path
"""
