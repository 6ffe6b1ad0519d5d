"""Pixels to vectors: images, local descriptors, aggregation, networks; and streams of them into a store."""
