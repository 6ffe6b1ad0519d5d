"""Files that folders of pictures really hold: bad ones, odd ones, and files that somebody made to do harm."""

import io
import os
import struct
import zlib
from pathlib import Path

import numpy as np
from PIL import Image

GOOD = None  # in the place of a reason


def picture(height: int = 40, width: int = 60, seed: int = 0) -> np.ndarray:
    """Smooth colors, so that a lossy format keeps them."""
    rng = np.random.default_rng(seed)
    coarse = Image.fromarray(rng.integers(0, 256, (4, 6, 3), np.uint8))
    return np.asarray(coarse.resize((width, height), Image.Resampling.BICUBIC))


def saved(image, kind: str, **options) -> bytes:
    file = io.BytesIO()
    (image if isinstance(image, Image.Image) else Image.fromarray(image)).save(file, kind, **options)
    return file.getvalue()


def png_chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width: int, height: int, depth: int, color: int, rows: bytes, *more: bytes) -> bytes:
    """A PNG that declares what it likes."""
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    data = png_chunk(b"IDAT", zlib.compress(rows, 1))
    return b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) + b"".join(more) + data + png_chunk(b"IEND", b"")


def zeros_png(width: int, height: int, depth: int, color: int, channels: int) -> bytes:
    """A whole picture of zeros, made without ever holding it."""
    press, size, piece = zlib.compressobj(1), height * (1 + width * channels * depth // 8), bytes(1 << 20)
    data = [press.compress(piece[: size - start]) for start in range(0, size, len(piece))]
    header = png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0))
    return (
        b"\x89PNG\r\n\x1a\n" + header + png_chunk(b"IDAT", b"".join([*data, press.flush()])) + png_chunk(b"IEND", b"")
    )


def jpeg_of_size(width: int, height: int) -> bytes:
    """A small JPEG whose header declares another size."""
    data = bytearray(saved(picture(8, 8), "JPEG"))
    frame = data.index(b"\xff\xc0")
    data[frame + 5 : frame + 9] = struct.pack(">HH", height, width)
    return bytes(data)


def with_exif(orientation: object, kind: str = "JPEG") -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return saved(picture(), kind, exif=exif, quality=95)


def webp_of_size(width: int, height: int) -> bytes:
    """A WebP whose canvas is larger than its one frame."""
    canvas = struct.pack("<I", 0) + struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]
    frame = saved(picture(8, 8), "WEBP", lossless=True)[12:]
    body = b"WEBP" + b"VP8X" + struct.pack("<I", 10) + canvas + frame
    return b"RIFF" + struct.pack("<I", len(body)) + body


def tiff(*entries: tuple[int, int, int, int]) -> bytes:
    """A TIFF of nothing but these entries (tag, type, count, value)."""
    fields = b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return b"II*\0" + struct.pack("<I", 8) + struct.pack("<H", len(entries)) + fields + bytes(4 + 64)


def files() -> dict[str, tuple[bytes, str | None]]:
    """Name: bytes, and a part of the reason that must be given, or GOOD."""
    return {**_whole(), **_modes(), **_oriented(), **_cut(), **_lying(), **_other_things()}


def _whole() -> dict[str, tuple[bytes, str | None]]:
    image = picture()
    profile = {"icc_profile": bytes(range(256)) * 4}
    return {
        "plain.jpg": (saved(image, "JPEG", quality=95), GOOD),
        "progressive.jpg": (saved(image, "JPEG", quality=95, progressive=True), GOOD),
        "tail of garbage.jpg": (saved(image, "JPEG", quality=95) + b"\0garbage" * 99, GOOD),
        "multi.mpo": (saved(image, "MPO", **frames()), GOOD),
        "with a profile of nonsense.jpg": (saved(image, "JPEG", **profile), GOOD),
        "plain.png": (saved(image, "PNG"), GOOD),
        "plain.bmp": (saved(image, "BMP"), GOOD),
        "plain.gif": (saved(image, "GIF"), GOOD),
        "animated.gif": (saved(image, "GIF", **frames()), GOOD),
        "lossless.webp": (saved(image, "WEBP", lossless=True), GOOD),
        "animated.webp": (saved(image, "WEBP", lossless=True, **frames()), GOOD),
        "plain.tif": (saved(image, "TIFF"), GOOD),
        "packed.tif": (saved(image, "TIFF", compression="tiff_lzw"), GOOD),
        "pages.tif": (saved(image, "TIFF", **frames()), GOOD),
        "jpeg called.png": (saved(image, "JPEG"), GOOD),
        "png without an extension": (saved(image, "PNG"), GOOD),
        "UPPER.JPEG": (saved(image, "JPEG"), GOOD),
        "one pixel.png": (saved(picture(1, 1), "PNG"), GOOD),
        "one by 5000.png": (saved(picture(1, 5000), "PNG"), GOOD),
        "5000 by one.png": (saved(picture(5000, 1), "PNG"), GOOD),
        "fourteen.jpg": (saved(picture(14, 14), "JPEG"), GOOD),
        "long.jpg": (saved(picture(20, 9000), "JPEG"), GOOD),
    }


def frames() -> dict[str, object]:
    return {"save_all": True, "append_images": [Image.fromarray(picture(seed=1))]}


def _modes() -> dict[str, tuple[bytes, str | None]]:
    image = Image.fromarray(picture())
    gray = np.asarray(image.convert("L"))
    alpha = image.convert("RGBA")
    alpha.putalpha(Image.fromarray(gray))
    palette = image.convert("P")
    deep = gray.astype(np.uint16) * 257
    fractions = gray.astype(np.float32) / 255
    return {
        "gray.jpg": (saved(gray, "JPEG"), GOOD),
        "ink.jpg": (saved(image.convert("CMYK"), "JPEG"), GOOD),
        "ink.tif": (saved(image.convert("CMYK"), "TIFF"), GOOD),
        "one bit.png": (saved(image.convert("1"), "PNG"), GOOD),
        "one bit.tif": (saved(image.convert("1"), "TIFF", compression="group4"), GOOD),
        "palette.png": (saved(palette, "PNG"), GOOD),
        "palette with a hole.png": (saved(palette, "PNG", transparency=3), GOOD),
        "palette with many holes.png": (saved(palette, "PNG", transparency=bytes(range(256))), GOOD),
        "hole.gif": (saved(palette, "GIF", transparency=3), GOOD),
        "gray with a hole.png": (saved(gray, "PNG", transparency=100), GOOD),
        "alpha.png": (saved(alpha, "PNG"), GOOD),
        "gray alpha.png": (saved(alpha.convert("LA"), "PNG"), GOOD),
        "alpha.webp": (saved(alpha, "WEBP", lossless=True), GOOD),
        "alpha.tif": (saved(alpha, "TIFF"), GOOD),
        "deep.png": (saved(deep, "PNG"), GOOD),
        "deep.tif": (saved(deep, "TIFF"), GOOD),
        "deep and backwards.tif": (_big_endian_tiff(deep), GOOD),
        "deep colors.png": (_deep_colors(picture()), GOOD),
        "fractions.tif": (saved(fractions, "TIFF"), GOOD),
        "temperatures.tif": (saved(fractions * 40 - 3, "TIFF"), "outside [0, 1]"),
        "not numbers.tif": (saved(fractions * np.nan, "TIFF"), "outside [0, 1]"),
        "counts.tif": (saved(gray.astype(np.int32) * 70000, "TIFF"), "32-bit integer pixels"),
    }


def _big_endian_tiff(values: np.ndarray) -> bytes:
    h, w = values.shape
    entries = [(256, 3, 1, w), (257, 3, 1, h), (258, 3, 1, 16), (262, 3, 1, 1), (273, 4, 1, 200), (278, 3, 1, h)]
    entries.append((279, 4, 1, 2 * w * h))
    fields = b"".join(
        struct.pack(">HHI", tag, kind, n) + (struct.pack(">HH", value, 0) if kind == 3 else struct.pack(">I", value))
        for tag, kind, n, value in entries
    )
    head = b"MM\0*" + struct.pack(">IH", 8, len(entries)) + fields + bytes(4)
    return head + bytes(200 - len(head)) + values.astype(">u2").tobytes()


def _deep_colors(image: np.ndarray) -> bytes:
    rows = (image.astype(np.uint16) * 257).astype(">u2")
    return png(image.shape[1], image.shape[0], 16, 2, b"".join(b"\0" + row.tobytes() for row in rows))


def _oriented() -> dict[str, tuple[bytes, str | None]]:
    broken = b"Exif\0\0II*\0\xff\xff\xff\x7f" + b"\xff" * 30
    looped = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x69\x87\x04\0\x01\0\0\0\x08\0\0\0\x08\0\0\0"  # its directory is itself
    turned = {f"turned {i}.jpg": (with_exif(i), GOOD) for i in range(1, 9)}
    return {
        **turned,
        "turned.png": (with_exif(6, "PNG"), GOOD),
        "turned.webp": (with_exif(6, "WEBP"), GOOD),
        "turned.tif": (saved(picture(), "TIFF", tiffinfo={274: 6}), GOOD),
        "turned 77.jpg": (with_exif(77), GOOD),
        "broken exif.jpg": (saved(picture(), "JPEG", exif=broken), GOOD),
        "looped exif.jpg": (saved(picture(), "JPEG", exif=looped), GOOD),
        "no exif.jpg": (saved(picture(), "JPEG", exif=b"Exif\0\0"), GOOD),
    }


def _cut() -> dict[str, tuple[bytes, str | None]]:
    noise = np.random.default_rng(0).integers(0, 256, (40, 60, 3), np.uint8)  # which no format makes small
    cut: dict[str, tuple[bytes, str | None]] = {}
    for kind in ("JPEG", "PNG", "GIF", "BMP", "TIFF", "WEBP"):
        data = saved(noise, kind)
        for share in (10, 50, 90):
            cut[f"cut to {share} %.{kind.lower()}"] = (data[: len(data) * share // 100], "")
    whole = saved(noise, "PNG")
    flipped = bytearray(whole)
    flipped[whole.index(b"IDAT") + 40] ^= 0x10
    return {
        **cut,
        "first byte.jpg": (b"\xff", "supported format"),
        "first line.png": (whole[:8], "supported format"),
        "flipped.png": (bytes(flipped), "cannot be decoded"),
        "no end of header.jpg": (saved(noise, "JPEG")[:20], ""),
    }


def _lying() -> dict[str, tuple[bytes, str | None]]:
    bomb = b"\0" * 1000
    text = png_chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(1 << 24)))
    bitmap = struct.pack("<IHHIIiiHHIIiiII", 54, 0, 0, 54, 40, 50000, 50000, 1, 24, 0, 0, 0, 0, 0, 0)
    screen = struct.pack("<HHBBB", 65535, 65535, 0, 0, 0)
    frame = struct.pack("<HHHHB", 0, 0, 65535, 65535, 0)
    return {
        "huge.jpg": (jpeg_of_size(60000, 60000), "pixels"),
        "large.jpg": (jpeg_of_size(9000, 9000), "pixels"),
        "no height.jpg": (jpeg_of_size(8, 0), "supported format"),
        "huge.png": (png(60000, 60000, 8, 2, bomb), "pixels"),
        "large.png": (png(10000, 9000, 8, 2, bomb), "pixels"),
        "two billion.png": (png(2**31 - 1, 2**31 - 1, 8, 2, bomb), "pixels"),
        "no pixels.png": (png(0, 0, 8, 2, b""), ""),
        "fewer rows than told, which are black.png": (png(100, 100, 8, 2, b"\0" * 301 * 20), GOOD),
        "strange color.png": (png(10, 10, 8, 5, bomb), ""),
        "huge.webp": (webp_of_size(16383, 16383), "pixels"),
        "large.webp": (webp_of_size(6000, 5000), ""),
        "huge.bmp": (b"BM" + bitmap, "pixels"),
        "huge.gif": (b"GIF89a" + screen + b"," + frame + b"\x08\x01\x00\x00;", "pixels"),
        "huge.tif": (tiff((256, 4, 1, 100000), (257, 4, 1, 100000), (258, 3, 1, 8), (262, 3, 1, 1)), ""),
        "many tags.tif": (b"II*\0\x08\0\0\0\xff\xff" + bytes(range(256)) * 40, ""),
        "endless.tif": (b"II*\0\x08\0\0\0\x00\x00\x08\0\0\0", ""),
        "text bomb.png": (png(8, 8, 8, 2, b"\0" * 25 * 8, text), "too large"),
    }


def _other_things() -> dict[str, tuple[bytes, str | None]]:
    unknown = "supported format"
    return {
        "empty.jpg": (b"", "is empty"),
        "text.jpg": (b"this is not a picture\n" * 50, unknown),
        "page.png": (b"<!DOCTYPE html><title>404</title>", unknown),
        "drawing.svg": (b'<svg xmlns="http://www.w3.org/2000/svg"/>', unknown),
        "document.pdf": (b"%PDF-1.4\n%%EOF", unknown),
        "script.jpg": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EOF", unknown),
        "layers.psd": (b"8BPS\0\1" + bytes(20), unknown),
        "film.mp4": (b"\0\0\0\x18ftypmp42" + bytes(99), unknown),
        "photos.zip": (b"PK\3\4" + bytes(99), unknown),
        "zeros.jpg": (bytes(5000), unknown),
        "ones.jpg": (b"\xff" * 5000, ""),
        "bytes.jpg": (np.random.default_rng(0).bytes(5000), unknown),
        "Thumbs.db": (b"\xd0\xcf\x11\xe0" + bytes(99), unknown),
        "portable.ppm": (b"P6 2 2 255\n" + bytes(12), unknown),
        "two\nlines.jpg": (saved(picture(), "JPEG"), GOOD),
        "bad\nlines.jpg": (b"x", unknown),
        "naïve 照片 \u202e.jpg": (saved(picture(), "JPEG"), GOOD),
        "-rf.jpg": (saved(picture(), "JPEG"), GOOD),
        "n" * 246 + ".jpg": (saved(picture(), "JPEG"), GOOD),
        "[bold]markup.jpg": (b"x", unknown),
    }


def write(folder: Path) -> dict[str, str | None]:
    """Write them all, and what is no plain file besides; gives the reason, or a part of it, for every name."""
    folder.mkdir(parents=True, exist_ok=True)
    expected: dict[str, str | None] = {}
    for name, (data, reason) in files().items():
        (folder / name).write_bytes(data)
        expected[name] = reason
    return expected | _special(folder)


def _special(folder: Path) -> dict[str, str | None]:
    raw = os.fsencode(folder) + b"/caf\xe9 \xff.jpg"
    with open(raw, "wb") as file:
        file.write(saved(picture(), "JPEG"))
    os.mkfifo(folder / "pipe.jpg")
    (folder / "folder.jpg").mkdir()
    (folder / "link.jpg").symlink_to("plain.jpg")
    (folder / "loop.jpg").symlink_to("loop.jpg")
    (folder / "nowhere.jpg").symlink_to("nothing there")
    (folder / "device.jpg").symlink_to("/dev/zero")
    (folder / "around").symlink_to(".")
    (folder / "closed.jpg").write_bytes(saved(picture(), "JPEG"))
    (folder / "closed.jpg").chmod(0)
    return {
        "caf\udce9 \udcff.jpg": GOOD,
        "pipe.jpg": "must be a regular file",
        "folder.jpg": "is a folder",
        "link.jpg": GOOD,
        "loop.jpg": "cannot be read",
        "nowhere.jpg": "cannot be read: no such file",
        "device.jpg": "must be a regular file",
        "around": "is a folder",
        "closed.jpg": "cannot be read: permission denied" if os.geteuid() else GOOD,
    }
