"""Small data that is generated, and readers of what users have on disk.

dataset           Dataset, rows with labels, names, classes and a split; read_features, one from a file or folder
sidecars          what lies in or beside files of features and says something of their rows
label_files       labels in files and columns, and how much of what is found is believed
splits            splits drawn by chance, by rows of every class or by whole classes
image_folders     read_images, the images below a folder with the labels that folders or tables give them
metadata_tables   metadata.csv and the like, which say something of the images beside them
webdataset        images in tars, with the labels beside them there
parquet_pictures  images in parquet files, with classes that have names
low_rank          low_rank_classes, rows of many classes that are made when they are asked for
glyph_images      a folder: pictures of letters, drawn from the fonts of the machine, and features of them
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "Dataset": "dataset",
        "Glyphs": "glyph_images.glyphs",
        "ImageSet": "image_folders",
        "LowRankClasses": "low_rank",
        "draw_splits": "splits",
        "glyph_features": "glyph_images.hog",
        "glyphs": "glyph_images.glyphs",
        "low_rank_classes": "low_rank",
        "read_features": "dataset",
        "read_images": "image_folders",
    },
    ("glyph_images",),
)
