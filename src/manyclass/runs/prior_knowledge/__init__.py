"""What users know beside the rows: how frequent classes will be, and weights from elsewhere.

class_priors    priors of classes as users name them, and the sizes of classes
center_files    weights known before training, of an array or an older run
"""
