"""Joining: parts of one piece of work (`--shard i/n`, `--classes i/n`) become what one process would have made.

join_parts         join, which looks at what the parts are
parts              Part, what a folder says of itself; whether parts are all of one whole, and which are missing
join_stores        the rows of stores, one part after the other, with labels, names and the pictures that were skipped
join_runs          the machines of runs that have a part of the classes each
join_galleries     the images of galleries, and their neighbors among all
spread_features    spread_features, parts that workers of a cluster make, and that are joined here
spread_embeddings  embeddings of the rows of a gallery, in parts that workers make
worker_parts       where parts of workers lie until all is whole, and that each has one writer
"""
