"""Mutators: changes to files, drawn from a seed, of bytes, of JSON, of archives; seals are put right again afterwards.

What a checksum stops never reaches a parser, so files that have one are changed inside and sealed anew.
"""

import contextlib
import io
import json
import struct
import zipfile
import zlib

from manyclass._core.digest import sha256_digest
from manyclass._core.sealed import START, seal

BIG = (
    0,
    1,
    -1,
    2,
    255,
    2**15,
    2**16 - 1,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32,
    2**53,
    2**62,
    2**63 - 1,
    2**63,
    2**64,
    -(2**31),
)

WORDS = (
    "",
    "<U1000000",
    "<U0",
    "|O",
    "|V1000000000",
    ">f8",
    "<M8[s]",
    "../x",
    "/dev/zero",
    "\x00",
    "nan",
    "a" * 5000,
    "é\udc80",
)


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def some_value(random):
    """Something that nobody expects."""
    kind = random.randrange(8)
    if kind < 3:
        return random.choice(BIG)
    if kind == 3:
        return random.choice(WORDS)
    if kind == 4:
        return random.choice([None, True, False, 0.5, -1.5, 1e308, 1e-320])
    if kind == 5:
        return random.choice([[], {}, [[]], [None], {"": 0}, {"float": "inf"}, {"tuple": []}, {"dict": [[[], 1]]}])
    return nested(random.choice([1, 5, 90, 98, 150])) if kind == 6 else [random.choice(BIG)] * random.randrange(9)


def change_bytes(data, random):
    """One to three changes of any bytes."""
    data = bytearray(data)
    for _ in range(random.randint(1, 3)):
        at, n = random.randrange(len(data) + 1), random.choice([1, 1, 2, 4, 8, 40])
        kind = random.randrange(9)
        if kind == 0 and data:
            data[at % len(data)] ^= 1 << random.randrange(8)
        elif kind == 1:
            data[at : at + n] = random.randbytes(n)
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            del data[at : at + n]
        elif kind == 4:
            data[at:at] = random.randbytes(n)
        elif kind == 5:
            data[at:at] = data[at : at + random.randrange(200)] * random.choice([1, 2, 50])
        elif kind == 6:  # a number as headers of files have it
            form = random.choice(["<H", ">H", "<I", ">I", "<Q", ">Q"])
            number = struct.pack(form, random.choice(BIG) % (1 << 8 * struct.calcsize(form)))
            data[at : at + len(number)] = number
        elif kind == 7:  # a number as text has it
            digits = [i for i, byte in enumerate(data[:20000]) if 48 <= byte < 58]
            at = random.choice(digits or [0])
            data[at : at + random.randrange(1, 4)] = str(random.choice(BIG)).encode()
        else:
            data[at : at + n] = bytes(n) if random.random() < 0.5 else b"\xff" * n
    return bytes(data)


def change_json(value, random):
    """The value with one to three entries changed, taken out, doubled or put somewhere else."""
    value = json.loads(json.dumps(value))
    for _ in range(random.choice([1, 1, 2, 3])):
        places = list(_places(value))
        if not places:
            return some_value(random)
        parent, key = random.choice(places)
        kind = random.randrange(6)
        if kind == 0:
            del parent[key]
        elif kind == 1 and isinstance(parent, list):
            parent.insert(key, parent[key])
        elif kind == 2:
            other, at = random.choice(places)
            parent[key] = json.loads(json.dumps(other[at])) if _has(other, at) else None
        elif kind == 3 and isinstance(parent, dict):
            parent[random.choice(["x", "", "W", "__class__"])] = some_value(random)
        elif kind == 4 and isinstance(parent[key], int):
            parent[key] += random.choice([-1, 1, 7])
        else:
            parent[key] = some_value(random)
    return value


def _has(parent, key):
    return key in parent if isinstance(parent, dict) else key < len(parent)


def _places(value):
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def as_json(value):
    return json.dumps(value).encode("utf-8", "surrogatepass")


def plain_json(data, random):
    """JSON, or bytes that were."""
    if random.random() < 0.3:
        return change_bytes(data, random)
    if random.random() < 0.05:
        return b"[" * 20_000 + b"]" * 20_000
    return as_json(change_json(json.loads(data), random))


def sealed_json(data, random):
    """A manifest under a seal of its own."""
    if random.random() < 0.2:
        return change_bytes(data, random)
    changed = change_json(json.loads(data)["content"], random)
    try:
        return seal(changed)
    except (ValueError, RecursionError):  # infinity, or too deep to be sealed
        return data[: random.randrange(len(data))]


def journal(data, random):
    """Lines of a journal, each with its checksum."""
    lines = data.splitlines()
    if random.random() < 0.2:
        return change_bytes(data, random)
    at = random.randrange(len(lines))
    text = as_json(change_json(json.loads(lines[at][9:]), random)) if random.random() < 0.9 else b"[" * 20_000
    lines[at] = f"{zlib.crc32(text):08x} ".encode() + text
    if random.random() < 0.2:
        lines.append(random.choice(lines))
    return b"".join(line + b"\n" for line in lines)


def safetensors(data, random):
    """A sealed file of arrays: its header, its content or its numbers changed, and sealed anew."""
    if random.random() < 0.1:
        return change_bytes(data, random)
    length = int.from_bytes(data[:8], "little")
    header, numbers = json.loads(data[8 : 8 + length]), data[8 + length :]
    about = header["__metadata__"]
    kind = random.randrange(6)
    if kind < 3:
        about["content"] = as_json(change_json(json.loads(about["content"]), random)).decode("utf-8", "surrogatepass")
    elif kind == 3:
        changed = change_json({k: v for k, v in header.items() if k != "__metadata__"}, random)
        header = {"__metadata__": about, **(changed if isinstance(changed, dict) else {"x": changed})}
    elif kind == 4:
        numbers = change_bytes(numbers, random)
    else:
        about["version"] = str(random.choice([*BIG, "x", "9" * 5000]))
    text = json.dumps(header, separators=(",", ":")).encode()
    text = START + b"0" * 64 + text[len(START) + 64 :]
    text += b" " * (-len(text) % 8)
    whole = bytearray(len(text).to_bytes(8, "little") + text + numbers)
    at = 8 + len(START)
    whole[at : at + 64] = sha256_digest([whole]).encode()
    return bytes(whole)


def archive(data, random):
    """A zip: its records changed, or its members with their checksums put right."""
    if random.random() < 0.4:
        return change_bytes(data, random)
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        members = [(info.filename, old.read(info)) for info in old.infolist()]
    at = random.randrange(len(members))
    kind = random.randrange(4)
    if kind < 2:
        members[at] = members[at][0], change_bytes(members[at][1][:512], random) + members[at][1][512:]
    elif kind == 2:
        members[at] = random.choice(["X.npy", "../x.npy", "y.npy", "shape.npy", "format.npy", ""]), members[at][1]
    else:
        members.append(random.choice(members))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", 8) as new:
        for name, member in members:
            new.writestr(zipfile.ZipInfo(name or "x"), member, random.choice([0] + [8] * 20 + [12, 14]))
    made = bytearray(out.getvalue())
    if random.random() < 0.5:  # the version that is needed, flags, the method or a size of a member
        signature, fields = random.choice([(b"PK\x01\x02", (6, 8, 10, 20, 24, 42)), (b"PK\x03\x04", (4, 6, 8, 18, 22))])
        place = made.find(signature) + random.choice(fields)
        made[place : place + 2] = struct.pack("<H", random.choice(BIG) % 65536)
    return bytes(made)


def png(data, random):
    """Chunks of a PNG with their checksums put right."""
    if random.random() < 0.3 or data[:4] != b"\x89PNG":
        return change_bytes(data, random)
    out, at, chunks = data[:8], 8, []
    while at < len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        chunks.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + length]))
        at += 12 + length
    i = random.randrange(len(chunks))
    chunks[i] = chunks[i][0], change_bytes(chunks[i][1], random)
    if random.random() < 0.2:
        chunks.insert(i, random.choice(chunks))
    for kind, body in chunks:
        out += struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return out


def network(data, random):
    """An ONNX file: bytes of it, or fields of the message, wherever they are."""
    import onnx

    if random.random() < 0.2:
        return change_bytes(data, random)
    proto = onnx.load_model_from_string(data)
    for _ in range(random.choice([1, 1, 2, 3])):
        _change_field(*random.choice(list(_fields(proto))), random)
    return proto.SerializeToString()


def _fields(message):
    for field, value in message.ListFields():
        yield message, field
        if field.message_type is not None:
            for part in [value] if hasattr(value, "ListFields") else value:
                yield from _fields(part)


def _change_field(message, field, random):
    value = getattr(message, field.name)
    repeated = not isinstance(value, int | float | str | bytes) and not hasattr(value, "ListFields")
    if repeated and field.message_type is not None:
        at = random.randrange(len(value))
        if random.random() < 0.5:
            del value[at]
        else:
            value.append(value[at])
    elif repeated:
        value[random.randrange(len(value))] = _other(value[0], random)
    elif field.message_type is not None or random.random() < 0.2:
        message.ClearField(field.name)
    else:
        with contextlib.suppress(ValueError):  # an enumeration has few values
            setattr(message, field.name, _other(value, random))


def _other(value, random):
    if isinstance(value, float):
        return random.choice([0.0, -1.0, 1e38, float("nan")])
    if isinstance(value, int):
        return random.choice([n for n in BIG if -(2**31) <= n < 2**31])
    if isinstance(value, bytes):
        return change_bytes(value, random) if value else b"x"
    names = (
        "image",
        "kernel",
        "c",
        "maps",
        "Loop",
        "ConstantOfShape",
        "Expand",
        "/dev/zero",
        "../y.onnx",
        "99999999999",
        "é",
    )
    return random.choice(names)


def sealed_record(data, random):
    """A record with changed bytes, or with changed entries under a seal that fits."""
    from manyclass.runs.records import _seal

    value = json.loads(data)
    value.pop("sha256")
    changed = change_json(value, random)
    if random.random() < 0.3 or not isinstance(changed, dict):
        return plain_json(data, random)
    try:
        return _seal(changed)
    except ValueError:  # NaN, which no record holds
        return plain_json(data, random)


def toml(data, random):
    """A configuration, or tables and lists within one another."""
    if random.random() < 0.1:
        depth = random.choice([10, 99, 300, 20_000])
        return random.choice(
            [b"x=" + b"[" * depth + b"]" * depth, b".".join([b"a"] * depth) + b"=1", b"x=" + b"{a=" * depth]
        )
    return change_bytes(data, random)
