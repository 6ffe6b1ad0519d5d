"""Heads of very many classes: small, quick, and with a taxonomy above them.

quantized_head    QuantizedHead, a linear classifier that keeps a few bits of each weight
packed_weights    what it is made of: rough codes of all weights, and a byte or two of each
label_table       labels as bytes, of which only those that are asked for become text
taxonomy          Taxonomy, by which probabilities are summed up a tree
taxonomy_files    trees of CSV files and of label paths
"""
