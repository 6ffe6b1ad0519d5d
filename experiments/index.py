"""One page over all experiments: the question of each, and its answer with numbers from its page."""

import re
from collections.abc import Callable
from pathlib import Path

from benchmarks.written import WrittenPage, WrittenTable, number, read_pages, written_row
from experiments.papers import PAPERS, Item
from experiments.verdicts import Verdict

_ABOUT = """# Results

Every experiment repeats a table or figure of the papers behind this library, on data that is at hand or generated, and
its page says what was found, also where that is not what the paper found. `make results` runs all of them,
`python -m experiments NAME` one, and `python -m experiments index` writes this page from the others.
"""


def objectives(page: WrittenPage) -> str:
    """Which objective has the highest mean at top-1, for each collection and signature, and which may be as good."""
    tables = [table for table in page.tables if table.caption.endswith("the best and the others")]
    rows = [(table.caption.split(",")[0], row) for table in tables for row in table.rows if row[0].endswith("top-1")]
    parts = [
        f"{data}, {row[0]}: {row[1]} ({_mean(page, data, row)} %), not told from it {row[2]}" for data, row in rows
    ]
    return "; ".join(parts) + "."


def _mean(page: WrittenPage, data: str, row: list[str]) -> str:
    return page.table(f"{data}, Tables 2 and 3").cell(row[0], row[1]).split()[0]


def beta(page: WrittenPage) -> str:
    def ahead(table: WrittenTable) -> str:
        rows = [f"{row[0]} {row[-1]}, chosen {row[-3]}" for row in (table.rows[0], table.rows[-1])]
        return f"{table.caption.split(',')[0]}: {'; '.join(rows)}"

    tables = [table for table in page.tables if table.columns[0] == "signature"]
    return f"What a number that is chosen gains on one, in points: {'. '.join(map(ahead, tables))}."


def regularization(page: WrittenPage) -> str:
    def ends(table: WrittenTable) -> str:
        parts = [f"{row[0]} {row[-1]}" for row in table.rows[:3]]
        return f"{table.caption.split(',')[0]}: {', '.join(parts)}"

    return f"Where they are stopped, in percent: {'; '.join(map(ends, page.tables))}."


def dimension(page: WrittenPage) -> str:
    def spread(table: WrittenTable) -> str:
        row, data, less = table.row("spread"), table.caption.split(",")[0], table.row("less by")[-1]
        ends = f"from {row[1]} points with {table.columns[1]} to {row[-1]} with {table.columns[-1]}"
        return f"on {data} {ends}, less by {less}"

    tables = [table for table in page.tables if table.caption.endswith("top-1")]
    return "The spread goes " + "; ".join(map(spread, tables)) + "."


def rebalancing(page: WrittenPage) -> str:
    def gains(table: WrittenTable) -> str:
        row = table.row("drawn alike, less uniform")
        parts = [f"{way} {cell}" for way, cell in zip(table.columns[1:], row[1:], strict=True)]
        return f"{', '.join(parts)} ({table.caption.split(', ')[1]})"

    return f"Classes drawn alike gain, in points: {'; '.join(map(gains, page.tables))}."


def averaging(page: WrittenPage) -> str:
    parts = [f"{', '.join(row[:2])} {row[-1]}" for row in page.tables[0].rows]
    return f"It gains, in points: {'; '.join(parts)}."


def batch(page: WrittenPage) -> str:
    ratios = [f"{number(table.rows[-1][3])} times as long for {table.caption}" for table in page.tables]
    return f"With {page.tables[0].rows[-1][0]} examples of each class batch solvers take {', '.join(ratios)}."


def stochastic_atoms(page: WrittenPage) -> str:
    table = page.tables[0]
    few, many = table.rows[0], table.rows[-1]
    return (
        f"{table.caption.split(' (')[0]}: {few[1]} by mini-batches against {few[2]} by all rows with {few[0]} "
        f"examples, {many[1]} against {many[2]} with {many[0]}."
    )


def compressed(page: WrittenPage) -> str:
    table = page.tables[0]
    full, codes, exact = (number(table.cell("8", column)) for column in ("full", "compressed", "half-compressed"))
    smaller = table.cell("8", "compression")
    return f"{smaller} fewer bytes: {full} % become {codes}, and {exact} if tested on exact rows ({table.caption})."


def few_examples(page: WrittenPage) -> str:
    return page.sentence("The trace norm is")


def trace_classes(page: WrittenPage) -> str:
    def last(table: WrittenTable) -> str:
        gain = table.row("trace norm, ahead of one-vs-rest")[-1]
        return f"{gain} points with {table.columns[-1]} classes ({table.caption.split(', ')[0]})"

    tables = [table for table in page.tables if "by the number of classes" in table.caption]
    return f"It gains {'; '.join(map(last, tables))}."


def trace_codes(page: WrittenPage) -> str:
    def ends(table: WrittenTable) -> str:
        lost, returned = (table.cell("trace norm", f"{what}, points") for what in ("lost", "returned"))
        return f"{lost} points, of which {returned} return if tested on rows as they are ({table.caption})"

    return f"The trace norm loses {'; '.join(map(ends, page.tables))}."


def trace_map(page: WrittenPage) -> str:
    return " ".join(page.sentence(words) for words in ("The trace norm is ahead by", "It gains most with"))


def trace_size(page: WrittenPage) -> str:
    return page.sentence("In ")


def shared_smoothing(page: WrittenPage) -> str:
    above, seconds = page.tables
    gaps = " and ".join(f"{above.cell(sharp, above.columns[-1])} % at sharpness {sharp}" for sharp in ("20", "200"))
    last = seconds.rows[-1]
    return f"Above the optimum by {gaps}; {last[2]} s where the exact one takes {last[1]} ({last[0]} examples)."


def shared_synthetic(page: WrittenPage) -> str:
    spectra = [table.caption.split(", ")[1] for table in page.tables if table.caption.startswith("Test errors")]
    gains = [match[1] for match in page.found("errs less by (.*?) points")]
    return "It errs less by " + ", ".join(f"{g} points ({s})" for g, s in zip(gains, spectra, strict=True)) + "."


def shared_letters(page: WrittenPage) -> str:
    return page.sentence("The trace norm errs less")


def shared_class_size(page: WrittenPage) -> str:
    def ends(table: WrittenTable) -> str:
        few, many = table.rows[0], table.rows[-1]
        data = table.caption.removeprefix("Errors, ")
        return f"on {data}, classes of {few[0]} by {few[3]} points, those of {many[0]} by {many[3]}"

    return "They gain " + "; ".join(map(ends, page.tables)) + "."


def shared_mammals(page: WrittenPage) -> str:
    return page.sentence("The trace norm gains")


def shared_wombat(page: WrittenPage) -> str:
    def ends(table: WrittenTable) -> str:
        many, few = table.row("30")[3], table.row("12")[3]
        return f"of {table.caption.rsplit(', ', 1)[1]} it is ahead by {many} points with 30 examples, {few} with 12"

    return f"For classes {'; '.join(map(ends, page.tables))}."


def shared_new_class(page: WrittenPage) -> str:
    parts = [f"{table.caption.rsplit(', ', 1)[1]} {table.rows[0][3]}" for table in page.tables]
    return f"With one example of each, sharing gains, in points: {'; '.join(parts)}."


def exemplar_table(page: WrittenPage) -> str:
    """What the square-loss machine gains over the features, for every search."""
    table = page.table("Differences, with 95 % intervals")
    gains = zip(table.columns[1:], table.row("SLEM - features")[1:], strict=True)
    return f"Square-loss machines gain, in points: {'; '.join(map(' '.join, gains))}."


def exemplar_compact(page: WrittenPage) -> str:
    """The same for 256 whitened numbers."""
    table = page.table("Mean average precision")
    return f"With {table.rows[0][0]} numbers: {_from_to(table, table.rows[0], table.rows[1], 2)}."


def _from_to(table: WrittenTable, plain: list[str], machine: list[str], first: int) -> str:
    """Of each column of our own, what there is without a machine and with it."""
    ours = [i for i, name in enumerate(table.columns) if i >= first and "paper" not in name]
    return "; ".join(f"{table.columns[i]} from {plain[i]} to {machine[i]} %" for i in ours)


def exemplar_negatives(page: WrittenPage) -> str:
    table = page.tables[0]
    some = (1, (len(table.columns) + 1) // 2, len(table.columns) - 1)
    parts = [f"{table.row('SLEM')[i]} % with {table.columns[i]}" for i in some]
    where = table.caption.split("), ")[1]
    return f"Square-loss machines have a mean average precision of {', '.join(parts)} ({where})."


def exemplar_rank(page: WrittenPage) -> str:
    table = page.tables[0]
    pca, cholesky = (table.cell(way, "32") for way in ("kernel PCA", "incomplete Cholesky, projection"))
    return f"At rank 32: {pca} % by kernel PCA, {cholesky} by incomplete Cholesky ({table.caption})."


def caltech_pixels(page: WrittenPage) -> str:
    table = page.tables[0]
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    theirs = "VLFeat's own"
    found = [f"{row['features']} {row['one-vs-rest']} % (VLFeat {row[theirs]})" for row in rows if row[theirs]]
    return f"By one-vs-rest: {', '.join(found)}."


def caltech_settings(page: WrittenPage) -> str:
    table = page.tables[0]
    parts = [f"{change} {accuracy}" for change, _, accuracy in table.rows[1:]]
    return f"Without a change {table.rows[0][2]} %; {', '.join(parts)}."


def tiny_pixels(page: WrittenPage) -> str:
    return "; ".join(f"{name} {accuracy} %" for name, _, accuracy in page.tables[0].rows) + "."


def dvd_pixels(page: WrittenPage) -> str:
    table = page.tables[0]
    parts = [f"{name} from {plain} to {slem}" for name, _, plain, _, slem in table.rows]
    return f"Square-loss exemplar machines take mean average precision, in percent, of {', '.join(parts)}."


def search_defaults(page: WrittenPage) -> str:
    return " ".join(page.sentence(words) for words in ("Without labels, the default", "By labels, the default"))


def train_defaults(page: WrittenPage) -> str:
    return page.sentence("The default is within")


def strangers(page: WrittenPage) -> str:
    return page.sentence("Strangers of the kind that are")


def own_background(page: WrittenPage) -> str:
    return page.sentence("By p-values alone")


def better_rankings(page: WrittenPage) -> str:
    return page.sentence("On average over")


def long_tail(page: WrittenPage) -> str:
    def gain(table: WrittenTable) -> str:
        plain, prior = (table.cell(("softmax", way), "mean of classes") for way in ("plain", "prior uniform"))
        return f"{table.caption.split(', ')[0]} from {plain} to {prior} %"

    return f"A uniform prior takes the mean of classes by softmax of {'; '.join(map(gain, page.tables))}."


def few_shot(page: WrittenPage) -> str:
    def gain(table: WrittenTable) -> str:
        none, old = (table.row(way)[1] for way in ("no center", "center: older model"))
        return f"{table.caption.split(', ')[0]} from {none} to {old} %"

    return f"With one example, a center of an older model takes {'; '.join(map(gain, page.tables))}."


def add_a_class(page: WrittenPage) -> str:
    table = page.tables[0]
    ways = ("one-vs-rest, imprinted", "closed form, imprinted", "nearest mean", "trained again")
    found = [f"{way} {table.cell(way, '5 pictures')}" for way in ways]
    return (
        f"Of new classes are found, {table.caption.split(',')[0]}, 5 pictures of each, in percent: {'; '.join(found)}."
    )


def probe_peers(page: WrittenPage) -> str:
    """How often the probe is no less accurate than its peers, and how much longer these take."""
    return f"{page.sentence('The probe is no more than')} {page.sentence('LogisticRegression with its sweep')}"


def prediction_sets(page: WrittenPage) -> str:
    return page.sentence("Coverage is within")


def unknowns(page: WrittenPage) -> str:
    return page.sentence("In AUROC")


def relevance_feedback(page: WrittenPage) -> str:
    return page.sentence("Of ")


def labeling(page: WrittenPage) -> str:
    """How many times fewer labels the default needs, of each set."""
    table = page.table("How many times fewer labels")
    parts = [f"{row[0]} {row[-1]}" for row in table.rows if row[1] == "mixed"]
    return f"Times fewer than 500 random labels for the same accuracy, by the default: {'; '.join(parts)}."


QUESTIONS: dict[Callable[[WrittenPage], str], str] = {
    objectives: "Which objective is the most accurate?",
    beta: "How many negatives does a positive need?",
    regularization: "Do three ways to regularize end alike?",
    dimension: "Do objectives differ less as features grow?",
    rebalancing: "Should classes of uneven size be drawn alike?",
    averaging: "What does the mean of iterates gain on the last?",
    batch: "Are stochastic solvers faster than batch solvers?",
    stochastic_atoms: "Are atoms of mini-batches found sooner than atoms of all rows?",
    compressed: "What does training on codes cost?",
    few_examples: "Does the trace norm help with five examples of each class?",
    trace_classes: "How much does the trace norm gain over one-vs-rest as classes grow many?",
    trace_codes: "What do codes cost the trace norm, and what returns by testing on exact rows?",
    trace_map: "Where does the trace norm pay, on generated classes?",
    trace_size: "How far does the published path come at the size of the paper's vehicles?",
    shared_smoothing: "How near is the smoothed trace norm to the exact one?",
    shared_synthetic: "Does the trace norm find directions that classes share?",
    shared_letters: "Does it help with a Gaussian kernel?",
    shared_class_size: "Do classes with few examples gain most from the trace norm?",
    shared_mammals: "Does it help with an earth mover's kernel of pictures?",
    shared_wombat: "Does it help a class whose examples become few?",
    shared_new_class: "Are new classes learned better from what old ones share?",
    exemplar_table: "Are exemplar machines better for search than features?",
    exemplar_compact: "Do machines gain over whitened features of the same size?",
    exemplar_negatives: "How many negatives does an exemplar machine need?",
    exemplar_rank: "How low may the rank of a kernel machine be?",
    caltech_pixels: "Are features from pixels as good as VLFeat's?",
    caltech_settings: "What do step, PCA and color do to Fisher vectors?",
    tiny_pixels: "How far do pictures of 64 pixels go?",
    dvd_pixels: "Are covers found by VLAD and Fisher vectors?",
    search_defaults: "Does search with no options lose to the features themselves?",
    train_defaults: "Does training with no options lose to tuned peers?",
    strangers: "Are strangers called matched as seldom as promised?",
    own_background: "Does a gallery that is its own background tell what it shows from strangers?",
    better_rankings: "Do query expansion and re-ranking put more that is right among the best?",
    long_tail: "What helps rare classes: weights, sampling, or a prior after training?",
    few_shot: "Do weights that are known before help with few examples?",
    add_a_class: "Do five pictures make a class, without training again?",
    probe_peers: "Is a probe of embeddings as accurate as scikit-learn's classifiers, swept?",
    prediction_sets: "Do sets of classes hold the right one as often as they promise?",
    unknowns: "Are rows of none of the classes told?",
    labeling: "Do chosen pictures teach more than random ones?",
    relevance_feedback: "Does a search learn from marks as well as others do?",
}


def write_index(folder: Path) -> Path:
    """Write `index.md` from the pages of the folder; nothing is run."""
    answers = {answer.__name__: answer for answer in QUESTIONS}
    rows = [["question", "answer", "page"], ["---"] * 3]
    for page in read_pages(folder, list(answers)):
        answer = answers[page.name]
        rows.append([QUESTIONS[answer], answer(page), f"[{page.title}]({page.name}.md)"])
    lines = [_ABOUT, *map(written_row, rows), "", "## The papers, table by table", ""]
    for paper, items in PAPERS.items():
        found = [["item", "what the paper finds", "verdict", "page"], ["---"] * 4]
        found += [row for item in items for row in _findings(folder, item)]
        lines += [f"### {paper}", "", *map(written_row, found), ""]
    written = folder / "index.md"
    written.write_text("\n".join(lines), encoding="utf-8")
    return written


_FINDING = re.compile(
    rf"^\*\*(?P<item>.+?)\.\*\* (?P<claim>.+?) \*(?P<verdict>{'|'.join(Verdict)})\*: ", re.MULTILINE | re.IGNORECASE
)


def _findings(folder: Path, item: Item) -> list[list[str]]:
    """The rows of a table or figure: a claim each, as its page has them."""
    if not item.page:
        return [[item.number, item.why, "not run", ""]]
    path = folder / f"{item.page}.md"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    page = f"[{item.page}]({path.name})"
    found = [match for match in _FINDING.finditer(text) if match["item"] == item.number]
    return [[item.number, m["claim"], m["verdict"].lower(), page] for m in found] or [
        [item.number, "", "no verdict", page]
    ]
