"""Shared structure with kernels: characteristics that classes with few examples have in common.

shared_structure  SharedStructureClassifier
multi_task        MultiTaskTraceNorm, several binary tasks
kernel_machines   what both are made of: a kernel, its factor, the machines on it
"""
