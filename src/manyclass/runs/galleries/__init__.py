"""Galleries as whole pieces of work: encoders fitted, compared, and features made into what can be searched.

gallery_builder     build_gallery, features into a gallery that can be searched
gallery_updates     update_gallery, images added to and removed from a gallery
encoder_comparison  compare_encoders, by mean average precision with intervals
search_by_marks     search_marked, images that are wanted and not wanted as one query
exemplar_methods    the encoders by name, fitted and tuned
negatives           unrelated images on which encoders are fitted, and the rows left to judge by
"""
