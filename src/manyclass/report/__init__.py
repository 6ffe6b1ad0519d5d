"""Records of runs, and one self-contained page that shows them."""
