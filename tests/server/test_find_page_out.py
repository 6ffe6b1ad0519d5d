"""What the tab Find gives away, in a real browser: classes, details, files, commands; and a search by keys alone."""

import csv
import io
import json

import pytest

from tests.server.find_steps import CIRCLE, above_line, ids, pick, reordered, searched
from tests.server.pages import ask, draw

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect


def test_what_is_selected_is_kept_as_a_class_and_taken_back(opened, address):
    tab, _ = opened("#/find?q=id:ring/ring_00.png")
    order = searched(tab)
    tab.locator(".card-open").nth(0).click(modifiers=["Control"])
    tab.locator(".card-open").nth(3).click(modifiers=["Shift"])
    expect(tab.locator(".selection strong")).to_have_text("4 selected")
    tab.locator(".selection").get_by_role("button", name="Keep as a class").click()
    tab.get_by_role("combobox", name="Name of the class").fill("rounds")
    tab.get_by_role("dialog").get_by_role("button", name="Keep as a class").click()
    expect(tab.locator(".toast")).to_contain_text("4 pictures kept as “rounds”.")
    expect(tab.locator(".card .tag.by-hand")).to_have_text(["rounds"] * 4)
    events = ask(f"{address}/api/labels")["events"]
    assert (sorted(events[0]["ids"]), events[0]["source"]) == (sorted(order[:4]), "find")
    tab.get_by_role("button", name="Undo").click()
    expect(tab.locator(".card .tag.by-hand")).to_have_count(0)


def test_all_above_the_line_are_kept_with_what_was_marked(opened, address):
    tab, _ = opened("#/find?q=id:stripes/stripes_01.png&like=id:stripes/stripes_02.png")
    order = searched(tab)
    above = above_line(tab)
    tab.keyboard.press("n")
    expect(tab.get_by_label("Which pictures")).to_have_value("above")
    tab.get_by_role("combobox", name="Name of the class").press_sequentially("lines")
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("dialog").get_by_role("button", name="Keep as a class")).to_be_focused()
    tab.keyboard.press("Enter")
    expect(tab.locator(".toast")).to_contain_text("kept as “lines”")
    last = ask(f"{address}/api/labels")["events"][0]
    assert set(last["ids"]) == {*order[:above], "stripes/stripes_01.png", "stripes/stripes_02.png"}
    tab.keyboard.press("u")
    expect(tab.locator(".toast").last).to_contain_text("Taken back")


def test_details_by_enter_with_path_and_neighbors(opened):
    tab, events = opened(CIRCLE, permissions=["clipboard-read", "clipboard-write"])
    order = searched(tab)
    tab.locator(".card-open").nth(1).focus()
    tab.keyboard.press("Enter")
    window = tab.get_by_role("dialog")
    expect(window.locator("h2")).to_have_text(order[1].split("/")[1])
    tab.wait_for_function("() => document.querySelector('dialog img')?.naturalWidth > 0")
    expect(window.locator(".facts")).to_contain_text("96 \u00d7 96")
    window.get_by_role("button", name="Copy the path").click()
    assert tab.evaluate("navigator.clipboard.readText()").endswith(order[1])
    tab.keyboard.press("ArrowRight")
    expect(window.locator("h2")).to_have_text(order[2].split("/")[1])
    tab.keyboard.press("Escape")
    expect(tab.locator(f'.card[data-id="{order[2]}"] .card-open')).to_be_focused()
    tab.keyboard.press("Enter")
    window.get_by_role("link", name="Find pictures like this").click()
    reordered(tab, order)
    expect(tab.locator(".query-name")).to_have_text(order[2].split("/")[1])
    assert events == []


def test_times_commands_and_files_of_a_search(opened):
    tab, _ = opened(permissions=["clipboard-read", "clipboard-write"])
    tab.locator(".card").first.wait_for()
    pick(tab, "Pick a picture", draw("cross", 3000))
    order = searched(tab)
    for part in ("feature", "encode", "search"):
        expect(tab.locator("#status")).to_contain_text(part)
    tab.keyboard.press("e")
    for title, word in (("As a command", "manyclass search"), ("As Python", "import manyclass")):
        tab.locator(".code", has_text=title).get_by_role("button", name="Copy").click()
        tab.wait_for_function("word => navigator.clipboard.readText().then(text => text.includes(word))", arg=word)
    tab.get_by_label("Which pictures").select_option("shown")
    found = json.loads(saved(tab, "JSON"))
    assert [one["id"] for one in found["pictures"]] == order
    rows = list(csv.DictReader(io.StringIO(saved(tab, "CSV"))))
    assert [row["id"] for row in rows] == order
    assert float(rows[0]["score"]) >= float(rows[-1]["score"])
    assert saved(tab, "Paths").splitlines() == order


def saved(tab, name):
    with tab.expect_download() as download:
        tab.get_by_role("button", name=name, exact=True).click()
    with open(download.value.path(), encoding="utf-8", newline="") as file:
        return file.read()


# By keys alone


def test_a_search_with_the_keyboard_alone(opened):
    tab, events = opened()
    tab.locator(".card").first.wait_for()
    tab.keyboard.press("Tab")
    expect(tab.locator(".skip")).to_be_focused()
    for _ in range(40):
        tab.keyboard.press("Tab")
        if tab.evaluate("document.activeElement.className") == "card-open":
            break
    order = ids(tab)
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("ArrowDown")
    here = tab.evaluate("document.activeElement.closest('.card').dataset.id")
    columns = tab.evaluate(
        "getComputedStyle(document.querySelector('.grid-parts .grid')).gridTemplateColumns.split(' ').length"
    )
    assert here == order[1 + columns]
    assert tab.locator(".card button[tabindex='0']").count() == tab.locator(f'.card[data-id="{here}"] button').count()
    tab.keyboard.press("Space")
    found = searched(tab)
    expect(tab.locator(".card-open").first).to_be_focused()
    tab.keyboard.press("j")
    found = reordered(tab, found)
    tab.keyboard.press("x")
    tab.keyboard.press("Shift+ArrowRight")
    expect(tab.locator(".selection strong")).to_have_text("2 selected")
    tab.keyboard.press("Escape")
    expect(tab.locator(".selection")).to_be_hidden()
    assert events == []
