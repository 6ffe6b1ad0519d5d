"""
Objectives as classes grow many
===============================

One-vs-rest, multiclass, ranking and softmax on generated classes, after every epoch, judged on rows that none of them
has seen.
"""

import matplotlib.pyplot as plt

plt.plot([1, 2])
