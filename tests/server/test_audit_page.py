"""The tab Audit in a real browser: what is wrong with drawn pictures is found, and what one decides is on record."""

import csv
import io
import re

import pytest

from tests.server.pages import OUTLIER, TWINS, WRONG, ask

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect

SERIOUS = {"serious", "critical"}


@pytest.fixture(scope="module")
def audited(address, browser):
    """A server whose audit is done, as a person would have started it; gives what the page showed on the way."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    tab = context.new_page()
    tab.goto(f"{address}/#/audit")
    tab.locator(".audit-start").wait_for()
    words = tab.locator(".audit-start").inner_text()
    tab.get_by_role("button", name="Start the audit").click()
    tab.locator(".segments.links").wait_for(timeout=60_000)
    counts = tab.locator(".segments.links").inner_text()
    context.close()
    return words, counts


@pytest.fixture
def audit(opened, audited):
    """audit("view=labels", ...): the page, and what it complained of."""

    def open_view(where="", **settings):
        tab, complaints = opened(f"#/audit?{where}" if where else "#/audit", **settings)
        tab.locator(".suspect-row, .group, .outliers .card").first.wait_for()
        return tab, complaints

    return open_view


def said(tab, do, route="/api/audit/decisions"):
    """What stands first on the server's record after somebody did something."""
    with tab.expect_response(lambda answer: answer.request.method == "POST" and route in answer.url) as answer:
        do()
    assert answer.value.ok, answer.value.text()
    return ask(f"{tab.url.split('/#')[0]}/api/labels?count=1")["events"][0]


def undone(tab, do):
    event = said(tab, do, "/api/labels/undo")
    assert event["action"] == "undo"
    return event["ids"]


def picture(tab):
    """The id of the picture that is suspected."""
    return tab.locator(".suspect figcaption").inner_text()


def place(tab):
    return tab.locator(".suspect .place")


def ids(tab, which=".card"):
    return tab.eval_on_selector_all(which, "cards => cards.map(card => card.dataset.id)")


# Start


def test_it_says_what_it_will_do_and_counts_what_it_found(audited):
    words, counts = audited
    for text in [
        "Nothing is changed or deleted",
        "Wrong labels",
        "Near-duplicates",
        "Odd ones out",
        "a minute as a rule",
    ]:
        assert text in words
    assert re.search(r"Wrong labels\s+\d+\s+Near-duplicates\s+\d+\s+Odd ones out\s+\d+", counts)


def test_a_collection_without_classes_is_told_what_to_do(opened, address):
    collection = ask(f"{address}/api/collection") | {"labels": False, "people_labels": 0}
    nothing = ask(f"{address}/api/audit") | {"state": "none", "job": None}
    tab, complaints = opened()
    tab.route("**/api/collection", lambda route: route.fulfill(json=collection))
    tab.route("**/api/audit", lambda route: route.fulfill(json=nothing))
    tab.goto(f"{address}/?again#/audit")
    expect(tab.locator(".audit-start .notice")).to_contain_text("name some under Label")
    expect(tab.locator("input[name=labels]")).to_be_disabled()
    assert complaints == []


def test_progress_is_told_while_it_runs_and_the_sentence_where_it_failed(opened, address):
    job = {"id": "1", "kind": "audit", "title": "judging labels", "done": 30, "total": 100, "unit": "pictures",
           "rate": 10.0, "seconds_left": 7.0, "state": "running", "error": None}  # fmt: skip
    answer = ask(f"{address}/api/audit") | {"state": "running", "job": job}
    tab, _ = opened()
    tab.route("**/api/audit", lambda route: route.fulfill(json=answer))
    tab.goto(f"{address}/?again#/audit")
    expect(tab.locator(".running-words")).to_have_text("30 of 100 pictures · about 7 seconds left")
    assert tab.locator("progress").evaluate("bar => bar.value") == 30
    answer |= {"state": "failed", "job": job | {"state": "failed", "error": "the disk is full"}}
    tab.reload()
    expect(tab.get_by_role("alert").filter(has_text="the disk is full")).to_be_visible()
    expect(tab.get_by_role("button", name="Start the audit")).to_be_enabled()


# Wrong labels


def test_pictures_in_the_wrong_folder_come_first_between_the_nearest_of_both_classes(audit):
    tab, complaints = audit("view=labels")
    found = {}
    for _ in WRONG:
        name = picture(tab)
        found[name] = tab.locator(".near.proposed .near-name").inner_text()
        assert tab.locator(".near.given .near-name").inner_text() == name.split("/")[0]
        expect(tab.locator(".near.given img")).to_have_count(2)
        expect(tab.locator(".near.proposed img")).to_have_count(2)
        expect(tab.locator(".suspect-head")).to_contain_text(re.compile("wrong"))
        tab.keyboard.press("ArrowRight")
        tab.wait_for_function("name => document.querySelector('.suspect figcaption').textContent !== name", arg=name)
    assert found == WRONG
    assert complaints == []


def test_keys_keep_fix_and_set_aside_undo_takes_back_and_a_reload_keeps_it_all(audit):
    tab, complaints = audit("view=labels")
    first, proposed = picture(tab), tab.locator(".near.proposed .near-name").inner_text()
    event = said(tab, lambda: tab.keyboard.press("f"))
    assert (event["ids"], event["label"], event["proposed"]) == ([first], proposed, proposed)
    assert (event["action"], event["source"]) == ("label", "audit")
    expect(place(tab)).to_have_text(re.compile("^2 of"))
    second = picture(tab)
    event = said(tab, lambda: tab.keyboard.press("k"))
    assert (event["ids"], event["action"]) == ([second], "keep")
    expect(place(tab)).to_have_text(re.compile("^3 of"))
    third = picture(tab)
    event = said(tab, lambda: tab.keyboard.press("x"))
    assert (event["ids"], event["action"]) == ([third], "set_aside")
    tab.goto(f"{tab.url.split('&at')[0]}&at=1")
    expect(tab.locator(".said")).to_have_text(f"You changed it to “{proposed}”.")
    tab.reload()
    expect(tab.locator(".said")).to_have_text(f"You changed it to “{proposed}”.")
    tab.keyboard.press("ArrowRight")
    expect(tab.locator(".said")).to_have_text("You kept the label.")
    assert picture(tab) == second
    tab.keyboard.press("ArrowRight")
    expect(tab.locator(".said")).to_have_text("You set it aside.")
    for one in [third, second, first]:
        assert undone(tab, lambda: tab.keyboard.press("u")) == [one]
    expect(tab.locator(".said")).to_be_hidden()
    assert complaints == []


def test_undo_goes_back_to_the_picture_of_which_something_was_said(audit):
    tab, complaints = audit("view=labels")
    first = picture(tab)
    said(tab, lambda: tab.get_by_role("button", name=re.compile("^Keep")).click())
    expect(place(tab)).to_have_text(re.compile("^2 of"))
    assert undone(tab, lambda: tab.get_by_role("button", name="Undo").click()) == [first]
    expect(place(tab)).to_have_text(re.compile("^1 of"))
    expect(tab.locator(".said")).to_be_hidden()
    assert complaints == []


def test_another_class_is_typed(audit):
    tab, complaints = audit("view=labels")
    first = picture(tab)

    def name():
        tab.keyboard.type("hexagon")
        tab.keyboard.press("Enter")

    event = said(tab, name)
    assert (event["ids"], event["label"]) == ([first], "hexagon")
    assert undone(tab, lambda: tab.keyboard.press("u")) == [first]
    assert complaints == []


def test_one_class_alone_is_looked_at_by_the_list_at_the_side_and_the_address_holds_it(audit):
    tab, complaints = audit("view=labels")
    rows = tab.locator(".suspect-classes li")
    total = rows.first.locator(".number").inner_text()
    row = rows.filter(has_text="circle")
    count = row.locator(".number").inner_text()
    row.get_by_role("button").click()
    tab.wait_for_url(re.compile("class=circle"))
    expect(place(tab)).to_have_text(f"1 of {count}")
    expect(tab.locator(".near.given .near-name")).to_have_text("circle")
    tab.reload()
    expect(place(tab)).to_have_text(f"1 of {count}")
    tab.go_back()
    expect(place(tab)).to_have_text(f"1 of {total}")
    assert complaints == []


def test_a_decision_that_was_not_saved_is_told_of_and_arrives_later(audit):
    tab, _ = audit("view=labels")
    first = picture(tab)
    tab.route("**/api/audit/decisions", lambda route: route.fulfill(status=503, json={"error": "too many at once"}))
    tab.keyboard.press("k")
    expect(tab.locator(".unsaved")).to_contain_text("1 answer is not saved yet: too many at once.")
    tab.unroute("**/api/audit/decisions")
    expect(tab.locator(".unsaved")).to_be_empty(timeout=15_000)
    assert undone(tab, lambda: tab.keyboard.press("u")) == [first]


# Near-duplicates


def twins(tab):
    """The group of the first twins."""
    return tab.locator(".group").filter(has=tab.locator(f'[data-id="{TWINS[0][1]}"]'))


def test_twins_stand_side_by_side_and_the_rule_chooses_which_one_to_keep(audit):
    tab, complaints = audit("view=duplicates")
    for pair in TWINS:
        group = tab.locator(".group").filter(has=tab.locator(f'[data-id="{pair[1]}"]'))
        assert set(pair) <= set(group.locator(".card").evaluate_all("all => all.map(one => one.dataset.id)"))
        expect(group.locator(".keeper")).to_have_count(1)
        expect(group.locator(".card-note").first).to_contain_text(re.compile("96 . 96"))
    tab.select_option("#rule", "first")
    tab.wait_for_url(re.compile("rule=first"))
    expect(twins(tab).locator(".keeper")).to_have_attribute("data-id", TWINS[0][0])
    tab.reload()
    expect(tab.locator("#rule")).to_have_value("first")
    assert complaints == []


def test_copies_are_set_aside_by_a_key_and_brought_back_and_the_list_is_a_file(audit):
    tab, complaints = audit("view=duplicates&rule=first")
    while not twins(tab).evaluate("group => group.contains(document.activeElement)"):
        tab.keyboard.press("ArrowDown")
    event = said(tab, lambda: tab.keyboard.press("x"))
    assert event["action"] == "set_aside"
    assert TWINS[0][1] in event["ids"]
    assert TWINS[0][0] not in event["ids"]
    expect(twins(tab)).to_contain_text("Copies are set aside")
    assert undone(tab, lambda: tab.keyboard.press("u")) == event["ids"]
    expect(twins(tab)).not_to_contain_text("Copies are set aside")
    with tab.expect_download() as download:
        tab.get_by_role("link", name="List of copies").click()
    rows = list(csv.reader(io.StringIO(download.value.path().read_text())))
    assert {TWINS[0][0], TWINS[0][1]} <= {cell for row in rows for cell in row}
    assert complaints == []


# Odd ones out


def test_the_odd_one_is_there_keys_decide_and_go_on(audit):
    tab, complaints = audit("view=outliers")
    assert OUTLIER in ids(tab)
    tab.keyboard.press("ArrowDown")
    order = ids(tab)
    assert said(tab, lambda: tab.keyboard.press("x"))["ids"] == [order[0]]
    expect(tab.locator(".verdict")).to_have_text(["Set aside"])
    assert undone(tab, lambda: tab.keyboard.press("u")) == [order[0]]
    expect(tab.locator(".verdict")).to_have_count(0)
    card = tab.locator(f'[data-id="{OUTLIER}"]')
    card.hover()
    event = said(tab, lambda: card.get_by_role("button", name=re.compile("^Keep")).click())
    assert (event["ids"], event["action"]) == ([OUTLIER], "keep")
    tab.reload()
    expect(card.locator(".verdict")).to_have_text("Kept")
    card.locator(".card-open").click()
    expect(tab.locator("dialog .enlarged")).to_be_visible()
    tab.keyboard.press("Escape")
    undone(tab, lambda: tab.keyboard.press("u"))
    assert complaints == []


# Out, and for everybody


def test_what_was_decided_leaves_as_files_and_as_a_command(audit):
    tab, complaints = audit("view=labels")
    tab.get_by_role("button", name="Export").click()
    with tab.expect_download() as download:
        tab.get_by_role("link", name="duplicates.csv").click()
    assert TWINS[0][1] in download.value.path().read_text()
    expect(tab.locator("dialog pre").first).to_contain_text("manyclass audit")
    assert complaints == []


@pytest.mark.parametrize("view", ["labels", "duplicates", "outliers"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (380, "dark")])
def test_it_fits_the_screen_and_axe_finds_no_fault(audit, view, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    tab, complaints = audit(f"view={view}", width=width, color_scheme=scheme, reduced_motion="reduce")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    faults = [fault for fault in axe.run(tab).response["violations"] if fault["impact"] in SERIOUS]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []
    assert complaints == []
