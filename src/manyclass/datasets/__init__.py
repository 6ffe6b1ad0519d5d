"""Small data that is generated, and readers of what users have on disk."""
