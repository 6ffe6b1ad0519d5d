"""Two hundred ways to name a file that is none of the server's business."""

from urllib.parse import quote

_TARGETS = ["etc/passwd", "secret.png", "etc/hostname", "proc/self/environ", "home/pictures/../secret.png"]

_CLIMBS = ["../", "../../", "../../../../../../", "..\\", "..\\..\\", "....//", "..;/", "./../", "a/../../", "%2e%2e/"]

_ROOTS = ["/", "//", "file:///", "\\\\localhost\\", "C:\\", "~/", "/./", "///", "http://127.0.0.1/", "\x00/"]

_SLASHES = ["\u2215", "\u2044", "\uff0f", "%c0%af", "%e0%80%af", "%252f", "%2f", "\\", "%5c", "%u2215"]


def _strings():
    for target in _TARGETS:
        for start in (*_CLIMBS, *_ROOTS):
            yield start + target
        for slash in _SLASHES:
            yield f"..{slash}..{slash}" + target.replace("/", slash)
            yield quote(f"..{slash}{target}", safe="")


STRINGS = [
    *_strings(),
    "..",
    ".",
    "/",
    "%00",
    "secret.png\x00.png",
    "a" * 5000,
    "..%00/secret.png",
    "sub/../../../secret.png",
    " ",
    "\n",
]
