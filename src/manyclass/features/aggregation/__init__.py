"""Aggregation: the local descriptors of an image become one vector.

    image_encoder    ImageEncoder, what all encoders share: fit, transform, encode, save
    sample           a sample of the descriptors of many images, to learn from
    pca              their projection to fewer numbers
    kmeans           VisualVocabulary, the words of k-means
    gmm              DiagonalGmm, a Gaussian mixture by expectation-maximization
    pyramid          regions of an image, each with sums of its own
    fisher           FisherVectors, gradients of a mixture
    bag_of_words     BagOfWords, histograms of words
    vlad             Vlad, residuals of words

A new encoder derives from ImageEncoder, which needs an aggregation (fitted and restored) and its parameters.
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "BagOfWords": "bag_of_words",
        "DiagonalGmm": "gmm",
        "FisherVectors": "fisher",
        "ImageEncoder": "image_encoder",
        "Projection": "pca",
        "Pyramid": "pyramid",
        "VisualVocabulary": "kmeans",
        "Vlad": "vlad",
        "fit_gmm": "gmm",
        "fit_projection": "pca",
        "fit_vocabulary": "kmeans",
    },
)
