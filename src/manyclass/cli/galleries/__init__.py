"""Commands of galleries.

encode  features into a gallery
search  what in a gallery is like a query; result_sheet draws it
serve   a page in a browser on which pictures are found, labeled and audited
"""
