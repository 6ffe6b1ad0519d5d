"""Finding: what the page shows first, what is left of it by filters, and what is like the pictures that are marked.

picture_filter     PictureFilter: which pictures have a class, a label, a folder, or a text in their name
picture_order      PictureOrder: typical pictures first, the order of the gallery, or any other
worlds             World: what pictures are compared with, and machines that are fitted against it
marked_search      MarkedSearch: one picture or several marked ones as one query, judged and told in words
query_pictures     QueryPictures: uploads and cuttings of pictures that ask, in memory alone
    search_shapes      what is asked and answered over HTTP about all of these
"""
