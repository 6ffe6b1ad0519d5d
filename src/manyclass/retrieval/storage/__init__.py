"""Galleries in folders: saved and opened at one instant, verified as a whole. docs/formats.md has the format.

segments.py         the files: segments of images, sealed sections, the manifest; and the state of a gallery
saved_index.py      the file of an approximate index
save.py             writes what has changed, and then the manifest
open.py             maps the embeddings and checks everything
verify_gallery.py   everything that is wrong with a saved gallery
"""
