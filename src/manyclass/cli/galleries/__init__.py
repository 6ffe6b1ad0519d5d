"""Commands of galleries.

encode  features into a gallery
search  what in a gallery is like a query
"""
