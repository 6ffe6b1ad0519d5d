"""Pixels to vectors: local descriptors, what is learned of them, and how an image's are brought together."""
