"""manyclass demo: the whole library in three minutes.

command           the command, its folder and its table
glyph_data        characters that are drawn, and dealt out to learning, searching and negatives
demo_compression  what compression saves and costs, whether damage is found, how fast products are
demo_runs         the classifiers and the search, each as one of the other commands
findings          what was found, in words that are made from what was measured
"""
