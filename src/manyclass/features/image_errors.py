"""What is wrong with a picture, in one sentence."""

import re


class ImageError(ValueError):
    """Error of an image that cannot be used; the message says why, without its name."""


def reason(error: BaseException) -> str:
    """What a decoder or the system said, in lower case and on one line.

    >>> reason(OSError("Truncated\\nfile")), reason(PermissionError(13, "Permission denied", "x.jpg"))
    ('truncated file', 'permission denied')
    """
    if isinstance(error, MemoryError):
        return "needs more memory than there is"
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    words = re.sub(r"\s+", " ", said.encode("ascii", "replace").decode()).strip() or type(error).__name__
    return words[:1].lower() + words[1:]
