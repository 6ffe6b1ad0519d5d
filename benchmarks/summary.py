"""One page over all benchmarks: what each measured, against whom, at what size, and on which machine."""

from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.written import WrittenPage, WrittenTable, number, read_pages, written_row

# What is compared, its size, our time, the peer, its time, and how many times as long as ours that is.
Line = tuple[str, str, str, str, str, str]

_ABOUT = """# Benchmarks

What the pages of this folder measured, in one table. The ratio is the peer's time divided by ours: above 1, ours is
faster. Lines without a peer tell what a large size takes. Every page says how it was measured, how busy the machine
was, and more; `make bench` measures everything anew, `python -m benchmarks NAME` one of them, and
`python -m benchmarks index` writes this page from the others.
"""
_PEER = "LogisticRegression"
COLUMNS = ["what", "size", "ours", "peer", "ratio"]


def products(page: WrittenPage) -> Iterator[Line]:
    table = page.table("Against NumPy")
    size, middle = _size(table), [row for row in table.rows if row[1] == "128"] or table.rows
    for position, what in ((2, "X W on codes"), (6, "X' R on codes")):
        least = min(table.rows, key=lambda row: number(row[position + 2]))
        for row, which in ((middle[0], ""), (least, ", the least ratio of all")):
            ours, theirs, ratio = row[position : position + 3]
            yield f"{what}, block {row[0]}, k {row[1]}{which}", size, ours, "NumPy, decoded", theirs, ratio


def encoding(page: WrittenPage) -> Iterator[Line]:
    table = page.table("Against faiss")
    for block, n_threads, ours, theirs, ratio, *_ in table.rows:
        if n_threads == "1":
            yield f"rows to codes, block {block}", f"{_size(table)}, one thread", ours, "faiss", theirs, ratio
    large = page.table("Encoding a memory map")
    size, (row,) = large.caption.removeprefix("Encoding a memory map of "), large.rows
    yield f"a large file to codes, peak {row[3]}", size, row[4], "", "", ""


def classification(page: WrittenPage) -> Iterator[Line]:
    for table in page.tables:
        if "seconds" in table.columns:
            yield from _classifiers(table)
        elif "mean seconds" in table.columns:
            yield from _whole_fits(table)


def _whole_fits(table: WrittenTable) -> Iterator[Line]:
    what, size = table.caption.split(": ", 1)
    ours, *others = (row for row in table.rows if row[3])
    for row in others:
        times = [f"{one[1]} s, {one[3]} right" for one in (ours, row)]
        yield f"{what}, {ours[0]}, mean", size, times[0], row[0], times[1], row[5]


def _classifiers(table: WrittenTable) -> Iterator[Line]:
    what, size = table.caption.split(": ", 1)
    ours = [row for row in table.rows if row[0].startswith("manyclass")]
    for row in table.rows:
        if row[table.columns.index("times as long as ours")]:
            equals = [mine for mine in ours if number(mine[3]) >= number(row[3])]
            mine = min(equals, key=lambda mine: number(mine[2]))
            yield _pair(what, size, mine, row, row[4])
        elif row[2].startswith(">"):
            yield f"{what}, given up", size, "", row[0], row[2], ""
    softmax, logistic = table.row("manyclass softmax"), table.row("LogisticRegression")
    yield _pair(what, size, softmax, logistic, f"{number(logistic[2]) / number(softmax[2]):.2g}")


def _pair(what: str, size: str, mine: list[str], theirs: list[str], ratio: str) -> Line:
    times = [f"{row[2]} s, {row[3]} right" if row[3] else f"{row[2]} s" for row in (mine, theirs)]
    return f"{what}, {mine[0].removeprefix('manyclass ')}", size, times[0], theirs[0], times[1], ratio


def closed_form(page: WrittenPage) -> Iterator[Line]:
    for table in page.tables:
        if "classifier" in table.columns:
            what, size = table.caption.split(": ", 1)
            mine = f"{table.rows[0][1]} s, {table.rows[0][2]} right"
            for peer, seconds, accuracy, ratio, _ in table.rows[1:]:
                taken = f"{seconds} s, {accuracy} right" if ratio else seconds
                yield f"{what}, closed form with its strengths", size, mine, peer, taken, ratio


def multilabel(page: WrittenPage) -> Iterator[Line]:
    for table in page.tables:
        what, size = table.caption.split(": ", 1)
        mine = f"{table.rows[0][1]} s, {table.rows[0][2]}, {table.rows[0][3]}"
        for peer, seconds, micro, macro, _, ratio in table.rows:
            if ratio:
                told = f"{seconds} s, {micro}, {macro}"
                yield f"{what}, micro and macro F1, closed form with thresholds", size, mine, peer, told, ratio


def wide(page: WrittenPage) -> Iterator[Line]:
    for table in page.tables:
        what, size = table.caption.split(": ", 1)
        peer, *ours = table.rows
        yield from (_pair(what, size, mine, peer, mine[4]) for mine in ours)


def imagenet_shape(page: WrittenPage) -> Iterator[Line]:
    table = page.tables[0]
    fit, peak = (table.cell([], column) for column in ("fit", "peak of the process"))
    yield f"one-vs-rest until validation no longer gains, peak {peak}", table.caption, fit, "", "", ""


def ten_thousand(page: WrittenPage) -> Iterator[Line]:
    fit = page.table("A fit")
    yield f"one-vs-rest of ten thousand classes, peak {fit.rows[0][3]}", _size(fit), fit.rows[0][0], "", "", ""
    table = page.table("The five best classes")
    for rows, ours, theirs, ratio, *_ in table.rows:
        yield f"the five best of ten thousand classes, {rows}", _size(table), ours, "NumPy", theirs, ratio


def heads(page: WrittenPage) -> Iterator[Line]:
    for table in page.tables:
        if not table.caption.startswith("The five best of"):
            continue
        size = table.caption.removeprefix("The five best of ")
        ours = [row for row in table.rows if row[0].startswith("manyclass")]
        # The smallest whose five best are those of the weights themselves in 99 of 100.
        mine = next((row for row in ours if number(row[4]) >= 99), ours[-1])
        for row in table.rows:
            if row not in ours:
                ratio = f"{number(row[2]) / number(mine[2]):.1f}"
                what = f"the five best of a row alone, {mine[0].split(', ')[1]}, {mine[1]}, {mine[4]} the same"
                yield what, size, mine[2], f"{row[0]}, {row[1]}, {row[4]} the same", row[2], ratio


def trace_norm(page: WrittenPage) -> Iterator[Line]:
    for table in page.tables:
        ours = table.rows[0]
        for peer, time, ratio in table.rows[1:]:
            yield "softmax with a trace norm", table.caption, ours[1], peer, time, ratio


def softmax(page: WrittenPage) -> Iterator[Line]:
    for table in page.tables:
        for row in table.rows:
            ridge, ours, theirs, ratio = (row[table.columns.index(name)] for name in ("ridge", "ours", _PEER, "ratio"))
            yield f"softmax with a ridge of {ridge}", table.caption, ours, _PEER, theirs, ratio


def path(page: WrittenPage) -> Iterator[Line]:
    table = page.tables[0]
    ours, cold = table.cell("path", "time"), table.cell("cold fits", "time")
    yield "a path of trace norms", table.caption, ours, "as many cold fits", cold, f"{number(cold) / number(ours):.1f}"


def exemplar(page: WrittenPage) -> Iterator[Line]:
    (table,) = page.tables
    for strength, _, ours, theirs, ratio, *_ in table.rows:
        yield f"exemplar machines, lambda {strength}, an image", table.caption, ours, "LinearSVC", theirs, ratio


def kernel_exemplar(page: WrittenPage) -> Iterator[Line]:
    (table,) = page.tables
    row = dict(zip(table.columns, table.rows[0], strict=True))
    what = f"kernel exemplar machines, {row['factorization'].replace('_', ' ')} of rank {row['rank']}, an image encoded"
    yield what, f"{row['negatives']} negatives; {table.caption}", row["encoding an image"], "", "", ""


def search(page: WrittenPage) -> Iterator[Line]:
    table = page.tables[0]
    for row in table.rows:
        peer = "faiss IndexFlatIP"
        yield f"exact search, queries at once: {row[0]}", table.caption, row[1], peer, row[2], row[5]


def ten_million(page: WrittenPage) -> Iterator[Line]:
    table = page.table("The ten nearest of")
    size, ours = table.caption.removeprefix("The ten nearest of "), [row for row in table.rows if "manyclass" in row[0]]
    flat = table.row("faiss Flat")
    for row in ours:
        what = f"the ten nearest, {row[0].removeprefix('manyclass, ')}, a query alone, {row[1]} of them found"
        ratio = f"{number(flat[2]) / number(row[2]):.2g}"
        yield what, size, row[2], "faiss Flat", flat[2], ratio


def features(page: WrittenPage) -> Iterator[Line]:
    (table,) = page.tables
    for row in table.rows:
        yield f"a picture to a Fisher vector, step {row[0]}", table.caption, row[4], "VLFeat", row[5], row[6]


def feature_folder(page: WrittenPage) -> Iterator[Line]:
    size = page.tables[0].caption.split(": ", 1)[1]
    for kind, _, _, _, one, two, _, times in page.tables[0].rows:
        yield f"a folder of pictures to features, {kind}, two cores", size, two, "one core", one, times


def large_files(page: WrittenPage) -> Iterator[Line]:
    for table in page.tables:
        if "same bytes" in table.columns:
            for row in table.rows:
                cell = dict(zip(table.columns, row, strict=True))
                what = f"{cell['command'].strip('`').split()[0]} of {cell['of']}, peak {cell['peak']}"
                yield what, table.caption, cell["time"], "", "", ""


def scaling(page: WrittenPage) -> Iterator[Line]:
    for what, size, one, two, ratio, *_, same in page.table("Against one actor").rows:
        if same:
            yield f"{what}, two actors of one core on Ray", size, two, "one actor", one, ratio


def audit(page: WrittenPage) -> Iterator[Line]:
    for table in page.tables:
        if "times as long" in table.columns:
            what, size = table.caption.split(": ", 1)
            for row in table.rows:
                cell = dict(zip(table.columns, row, strict=True))
                mine = f"{cell['seconds']} s, {cell['ours']} right"
                found = f"{cell['seconds of cleanlab']} s, {cell['cleanlab, its best of 6']} right"
                yield f"{what}, wrong labels, {cell['flips']}", size, mine, "cleanlab", found, cell["times as long"]
        elif table.caption.startswith("Memory"):
            ours, theirs = table.rows
            what = f"memory to find wrong labels, a {theirs[5]}th"
            yield what, ours[1], ours[2], "cleanlab, from a hundredth", theirs[4], ""
        else:
            (row,) = table.rows
            yield f"near-duplicates, {row[1]} of {row[0]} planted pairs", table.caption, f"{row[3]} s", "", "", ""


def page_speed(page: WrittenPage) -> Iterator[Line]:
    for table in page.tables:
        if "level" in table.columns:
            size = table.caption.partition(", ready")[0]
            for what, _, median, *_ in table.rows:
                yield f"the page, {what}, median", size, median, "", "", ""


def startup(page: WrittenPage) -> Iterator[Line]:
    (table,) = page.tables
    for what, _, processor in table.rows:
        yield f"{what}, processor time", table.caption, processor, "", "", ""


_OF_PAGES = (products, encoding, classification, closed_form, multilabel, wide, imagenet_shape, ten_thousand, heads)
_OF_PAGES += (trace_norm, softmax, path, exemplar, kernel_exemplar, search, ten_million, features, feature_folder)
_OF_PAGES += (large_files, scaling, audit, page_speed, startup)
LINES: dict[str, Callable[[WrittenPage], Iterator[Line]]] = {lines.__name__: lines for lines in _OF_PAGES}


def write_summary(folder: Path) -> Path:
    """Write `index.md` from the pages of the folder; nothing is measured."""
    written = folder / "index.md"
    written.write_text(summary(read_pages(folder, list(LINES))), encoding="utf-8")
    return written


def summary(pages: list[WrittenPage]) -> str:
    """The text of the page."""
    rows = [_cells(page, line) for page in pages for line in LINES[page.name](page)]
    table = [written_row(COLUMNS), written_row(["---"] * len(COLUMNS)), *map(written_row, rows)]
    return "\n".join([_ABOUT, *table, "", "## Machine and versions", "", *_machines(pages), ""])


def _cells(page: WrittenPage, line: Line) -> list[str]:
    what, size, ours, peer, theirs, ratio = line
    return [f"[{what}]({page.name}.md)", size, ours, f"{peer}: {theirs}" if peer else "", ratio]


def _machines(pages: list[WrittenPage]) -> Iterator[str]:
    """What each page says of the machine, and which pages say the same."""
    said: dict[str, list[str]] = {}
    for page in pages:
        for match in page.found("Measured with .*"):
            said.setdefault(match[0], []).append(page.name)
    for machine, names in said.items():
        yield f"- {', '.join(names)}: {machine[0].lower()}{machine[1:]}"


def _size(table: WrittenTable) -> str:
    return table.caption.split(", ", 1)[1]
