"""Readers: files of rows as a Matrix, mapped or read a block at a time; nothing is unpickled.

as_matrix.py   what as_matrix takes, which layout a path has, and the usual names of features, labels, ...
npy.py         .npy files, and folders of them
npz.py         .npz archives
parquet_stream.py   a column of a parquet file, read forward some rows at a time
parquet.py     columns of embeddings, labels and names in parquet files
"""
