"""The command line: a file for each command, thin over the library; `terminal/` is what they share.

main             the entry point of `manyclass`
learn            from a folder of pictures to a page about their classifier
features         pictures into a store of features
probe            how good embeddings are, by several classifiers on the same rows
compress         features into a store of codes
train            a classifier in a run folder
evaluate         a classifier against labels
predict          classes of pictures or rows
audit            what is wrong with labeled data
calibrate        probabilities that fit data
export           a classifier as an ONNX file
galleries/       encode, features into a gallery, and search, what in a gallery is like a query
join             parts that --shard made, into one
report           one page about runs and galleries
info             what is in a file or folder
verify           a store or gallery against its checksums
demo             all of that on characters that are drawn

_app             the commands together, and the option --config
"""
