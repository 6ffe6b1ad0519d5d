"""Classifiers judged: how often they are right, and how much they may be believed.

evaluation             evaluate, a classifier against labels
multilabel_evaluation  the same of rows with several labels
confidence             what an evaluation says of probabilities and of sets of classes
temperature            calibrate, probabilities of a classifier that fit rows it has not seen
priors                 priors of classes as users name them, and the sizes of classes
"""
