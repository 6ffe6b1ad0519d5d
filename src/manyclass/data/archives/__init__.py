"""Archives: files that lie within others, such as the pictures of a tar, read where they are and never unpacked.

packed_file      PackedFile, a file within a file: what all of them promise; finding one by its name
tar_archive      the members of a tar, known by their headers
parquet_cells    files that are cells of a parquet column, as Hugging Face keeps pictures
"""
