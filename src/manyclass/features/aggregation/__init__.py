"""Aggregation: the local descriptors of an image become one vector.

    image_encoder    ImageEncoder, what all encoders share: fit, transform, encode, save
    pca              their projection to fewer numbers
    vocabulary       VisualVocabulary, the words of k-means, and DiagonalGmm, a mixture by expectation-maximization
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
        "DiagonalGmm": "vocabulary",
        "ImageEncoder": "image_encoder",
        "Pyramid": "pyramid",
        "VisualVocabulary": "vocabulary",
        "fit_gmm": "vocabulary",
        "fit_vocabulary": "vocabulary",
    },
)
