"""X, known by its products: what holds n rows of d numbers, in memory, mapped or compressed.

matrix.py              Matrix: products and rows, whatever the storage
dense.py               arrays and memory maps
sparse.py              compressed rows of SciPy
quantizer.py           Quantizer: rows to bytes, and back
product_quantizer.py   one byte per block of columns
quantized.py           products with those bytes as they are
scalar_quantizer.py    8 or 4 bits per number, and products with them
rotation.py            rotations before quantizing, which even out the blocks of columns
parquet_matrix.py      a column of parquet files that is too large for memory
views.py               ranges, selections and shards of rows; rows or columns of one scale; a column of ones
kernels.py             kernels and Gram matrices
row_space.py           the Gram matrix of rows; rows by coordinates in their span
moments.py             means and covariances of columns, block by block
inputs.py              X as estimators are given it
readers/               files to matrices: .npy, .npz, parquet, clip-retrieval, stores
archives/              files within files: the pictures of tars and of parquet columns
store/                 rows and what goes with them in one folder, checksummed and appendable
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__, {"Quantizer": "quantizer"}, ("archives", "readers", "store"))
