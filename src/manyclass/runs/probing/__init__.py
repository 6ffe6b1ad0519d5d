"""How good embeddings are: classifiers of several kinds on the same rows, with intervals, one file beside another.

embedding_probe      probe: reads, learns, judges, and writes the record
probe_data           the rows of one or several files, which must be the same; what is learned from and judged by
probe_methods        the methods by name, what they chose, and about how long each takes
nearest_neighbors    votes of the nearest rows, by the exact search loop
linear_probe         softmax with a ridge whose strength is chosen on validation
probe_results        accuracies with intervals, differences on the same rows, and the verdict
few_shot             accuracy by the number of examples of a class
"""
