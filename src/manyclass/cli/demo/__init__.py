"""manyclass demo."""
