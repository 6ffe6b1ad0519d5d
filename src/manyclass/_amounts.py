"""Amounts as people say them: bytes and seconds."""


def size(n_bytes: float) -> str:
    """Bytes as people say it.

    >>> size(512), size(25_600_000), size(3.2e12)
    ('512 bytes', '25.6 MB', '3.2 TB')
    """
    if n_bytes < 1000:
        return f"{n_bytes:.0f} bytes"
    for unit in ("kB", "MB", "GB"):
        n_bytes /= 1000
        if n_bytes < 999.95:
            return f"{n_bytes:.1f} {unit}"
    return f"{n_bytes / 1000:.1f} TB"


def seconds(value: float) -> str:
    """A time as people say it.

    >>> seconds(0.0123), seconds(3.21), seconds(75)
    ('12.3 ms', '3.2 s', '1 min 15 s')
    """
    if value < 1:
        return f"{1000 * value:.1f} ms"
    if value < 60:
        return f"{value:.1f} s"
    return f"{int(value) // 60} min {int(value) % 60} s"
