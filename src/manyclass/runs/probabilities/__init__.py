"""Probabilities of a run: how they are set right, and whether they are.

temperature    calibrate, probabilities of a classifier that fit rows it has not seen
priors         priors of classes as users name them, and the sizes of classes
confidence     what an evaluation says of probabilities and of sets of classes
"""
