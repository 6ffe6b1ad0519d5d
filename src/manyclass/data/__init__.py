"""X, known by its products: matrices, quantizers, and the store on disk."""
