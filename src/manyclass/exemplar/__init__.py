"""One positive against a world of negatives: every image a class of its own."""
