"""What all folders share, and what knows none of them.

algebra/             linear algebra that several folders need
checks.py            checks of arguments, and the sentences in which they complain
digest.py            SHA-256 of bytes, arrays, files and JSON
errors.py            the exceptions of the library, and Damage: what can be wrong with files of ours
files.py             writing files whole or not at all; room on the disk; the lock of a folder
label_lists.py       rows with several labels, as users have them and as positions of classes
lazy.py              fronts of folders, and the one table of where the public names live
models.py            save_model and load: one sealed file per model; methods that leave one as it was when they fail
parallel.py          numbers of threads, thread_map and for_each, BLAS in one thread
plain_values.py      values as JSON and arrays, and back
progress_display.py  how far long work is: a bar on a terminal, lines elsewhere
reading.py           the gate for all that is read: regular files, of limited size, JSON of limited depth, .npy files
remote_files.py      s3://, gs://, hf:// and the like, fetched once into a folder
safe_pickle.py       pickles of plain data, read without running anything
sealed.py            JSON and safetensors files that notice every wrong bit
shards.py            Shard, one of n parts of a piece of work, and what a part on disk says of the whole
text.py              amounts, numbers and names as people write them
typing.py            types of arrays
worker_groups.py     who computes: objects that live elsewhere and answer calls, in this process or others
"""
