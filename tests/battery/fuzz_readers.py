"""The fuzzer: feeds changed files of the corpus to readers, and tells what came of them.

    python -m tests.battery.fuzz_readers NAME,NAME,... FOLDER FIRST COUNT

reads so many changed files with each and prints what came of them as JSON. A reader may succeed, or refuse by a
sentence that names what it was given; it may take 10 seconds and a gigabyte.
"""

import faulthandler
import json
import os
import resource
import shutil
import sys
import warnings
from pathlib import Path
from random import Random

import manyclass as mc
from tests.battery.targets import READERS

SECONDS, ADDRESSES, MEMORY = 10, 2 << 30, 1 << 30


def outcome_of(reader, path, folder):
    """ "read", "refused", or what went wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader.read(path)
    except (ValueError, OSError) as error:
        words = str(error)
        named = isinstance(error, mc.ImageError) or str(folder) in words
        # A UnicodeError or such is a ValueError too, and no sentence of ours.
        good = named and len(words) > 5 and "\n" not in words
        return "refused" if good else f"{type(error).__name__}: {words[:300]}"
    except Exception as error:
        where = error.__traceback__
        while where.tb_next:
            where = where.tb_next
        place = f"{Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}"
        return f"{type(error).__name__} at {place}: {str(error)[:300]}"
    return "read"


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def run(name, folder, first, count):
    """Read changed files and tell {"read": n, "refused": n, "wrong": [[number, what], ...]}."""
    reader = READERS[name]
    template, work = folder / "template", folder / f"work_{os.getpid()}"
    template.mkdir(parents=True, exist_ok=True)
    honest = reader.make(template)
    place, data = honest.relative_to(template), honest.read_bytes()
    shutil.copytree(template, work)
    reader.read(work / place)  # what is honest is read; and what is imported now is not counted
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES + _addresses(), resource.RLIM_INFINITY))
    told = {"read": 0, "refused": 0, "wrong": []}
    for number in range(first, first + count):
        shutil.rmtree(work)
        shutil.copytree(template, work)
        (work / place).write_bytes(reader.change(data, Random(f"{name} {number}")))
        reader.after(work / place)
        before = peak()
        print(name, number, flush=True)
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        outcome = outcome_of(reader, work / place, work)
        faulthandler.cancel_dump_traceback_later()
        if peak() - before > MEMORY:
            outcome = f"took {(peak() - before) >> 20} MB"
        if outcome in told:
            told[outcome] += 1
        else:
            told["wrong"].append([number, outcome])
    shutil.rmtree(work)
    return told


def _addresses():
    """Bytes of addresses that this process has: libraries map much more than they use."""
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else 0
    return pages * resource.getpagesize()


if __name__ == "__main__":
    faulthandler.enable()
    names, home, start, many = sys.argv[1:]
    print(json.dumps({name: run(name, Path(home, name), int(start), int(many)) for name in names.split(",")}))
