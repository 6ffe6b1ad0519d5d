"""How busy the machine is: a page says so, as times depend on it."""

import os


def load() -> str:
    """One sentence, for the head of a page."""
    busy = os.getloadavg()[0]
    quiet = "the machine was quiet" if busy < 1.2 else "others used the machine at the same time"
    return f"The load was {busy:.1f} when this began: {quiet}."
