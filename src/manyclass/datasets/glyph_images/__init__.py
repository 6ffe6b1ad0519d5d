"""glyph_images"""
