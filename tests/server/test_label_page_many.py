"""The tab Label in a real browser: many pictures at once, what was learned, what leaves, and for everybody."""

import re

import pytest

from tests.server.labeling_steps import another, current, name_it, ready, said
from tests.server.pages import ask

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect

SOME = (50, 100, 200)

SERIOUS = {"serious", "critical"}


# Many at once


def many(opened, where="", **settings):
    tab, complaints = opened(f"#/label?mode=many{where}", **settings)
    tab.locator(".card").first.wait_for()
    return tab, complaints


def names(tab, which=".card"):
    return tab.eval_on_selector_all(which, "cards => cards.map(card => card.dataset.id)")


def test_shift_click_selects_all_between_and_the_type_ahead_names_them(opened):
    tab, complaints = many(opened)
    cards = tab.locator(".card-open")
    cards.nth(1).click()
    cards.nth(4).click(modifiers=["Shift"])
    expect(tab.locator(".many-count")).to_have_text("4 selected")
    chosen = names(tab, ".card.selected")
    event = said(tab, lambda: name_it(tab, "shape"))
    assert (event["ids"], event["label"], event["source"]) == (chosen, "shape", "bulk")
    expect(tab.locator(".card .by-hand")).to_have_text(["shape"] * 4)
    expect(tab.locator(".many-count")).to_have_text("None selected")
    assert complaints == []


def test_shift_and_arrows_select_one_key_names_them_and_undo_takes_it_back(opened):
    tab, complaints = many(opened)
    tab.locator(".card-open").first.click()
    said(tab, lambda: name_it(tab, "thing"))
    tab.locator(".card-open").nth(1).focus()
    tab.keyboard.press("Space")
    tab.keyboard.press("Shift+ArrowRight")
    tab.keyboard.press("Shift+ArrowRight")
    expect(tab.locator(".many-count")).to_have_text("3 selected")
    chosen = names(tab, ".card.selected")
    event = said(tab, lambda: tab.keyboard.press("1"))
    assert (event["ids"], event["label"]) == (chosen, "thing")
    assert said(tab, lambda: tab.keyboard.press("u"), "/api/labels/undo")["ids"] == chosen
    expect(tab.locator(".card .by-hand")).to_have_count(1)
    assert complaints == []


def test_a_frame_drawn_with_the_mouse_selects_and_escape_clears(opened):
    tab, complaints = many(opened)
    first, last = (tab.locator(".card-open").nth(place).bounding_box() for place in (0, 2))
    tab.mouse.move(first["x"] + 20, first["y"] + 20)
    tab.mouse.down()
    tab.mouse.move(last["x"] + 40, last["y"] + 40, steps=4)
    expect(tab.locator(".selection-frame")).to_be_visible()
    tab.mouse.up()
    expect(tab.locator(".many-count")).to_have_text("3 selected")
    tab.locator(".card-open").nth(4).click()
    expect(tab.locator(".many-count")).to_have_text("4 selected")
    tab.keyboard.press("Escape")
    expect(tab.locator(".many-count")).to_have_text("None selected")
    assert complaints == []


def test_everything_shown_is_selected_at_once_and_set_aside(opened):
    tab, complaints = many(opened, "&text=stripes_1")
    expect(tab.locator(".card")).to_have_count(6)
    tab.keyboard.press("Control+a")
    expect(tab.locator(".many-count")).to_have_text("6 selected")
    event = said(tab, lambda: tab.keyboard.press("x"))
    assert (event["action"], len(event["ids"])) == ("set_aside", 6)
    said(tab, lambda: tab.locator(".toast").get_by_role("button", name="Undo").click(), "/api/labels/undo")
    expect(tab.locator(".card.faint")).to_have_count(0)
    assert complaints == []


def test_more_like_this_shows_what_is_most_like_it_with_its_proposals_as_keys(opened):
    tab, complaints = opened("#/label")
    ready(tab)
    picture = current(tab)
    tab.keyboard.press("m")
    tab.locator(".card").first.wait_for()
    expect(tab.locator(".many-source .chip")).to_contain_text(picture)
    kind = picture.split("/")[0]
    assert sum(name.startswith(kind) for name in names(tab)[:8]) >= 4
    tab.locator(".card-open").nth(0).click()
    expect(tab.locator(".many .likely")).to_have_count(5)
    tab.keyboard.press("m")
    ready(tab)
    assert current(tab) == picture
    assert complaints == []


def test_what_has_a_label_is_left_out_unless_one_asks_for_it(opened):
    tab, _ = many(opened, "&text=cross_0")
    before = names(tab)
    tab.locator(".card-open").first.click()
    said(tab, lambda: name_it(tab, "cross"))
    tab.reload()
    tab.locator(".card").first.wait_for()
    assert names(tab) == before[1:]
    tab.get_by_label("Also those with a label").check()
    expect(tab.locator(f'[data-id="{before[0]}"]')).to_contain_text("cross")
    tab.wait_for_url(re.compile("named=1"))


def test_what_looks_like_a_class_is_shown_and_the_first_key_names_it_so(opened):
    tab, complaints = many(opened)
    tab.get_by_role("combobox", name="Looks like class").fill("triang")
    tab.keyboard.press("Enter")
    tab.wait_for_url(re.compile("proposed=triangle"))
    tab.wait_for_function("() => document.querySelector('.card')?.dataset.id.startsWith('triangle')")
    assert sum("triangle" in name for name in names(tab)[:8]) >= 6
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Space")
    assert said(tab, lambda: tab.keyboard.press("1"))["label"] == "triangle"
    assert complaints == []


# What was learned


def test_it_learns_behind_and_says_from_how_many_labels(opened):
    tab, complaints = opened("#/label")
    for _ in range(6):
        ready(tab)
        picture = current(tab)
        said(tab, lambda: tab.keyboard.press("1"))
        another(tab, picture)
    expect(tab.locator(".learning-state")).to_have_text(re.compile(r"Learned from \d+ labels\."), timeout=20_000)
    state = ask(f"{tab.url.split('/#')[0]}/api/labeling")
    expect(tab.locator(".learning-state")).to_contain_text(f" {state['trained_on']} labels")
    assert complaints == []


def test_the_curve_has_its_interval_and_its_words(opened):
    tab, complaints = opened("#/label")
    ready(tab)
    points = [
        {"labels": n, "accuracy": 0.5 + n / 1000, "low": 0.4 + n / 1000, "high": 0.6 + n / 1000} for n in (50, 100, 200)
    ]
    state = {"labeled": 210, "classes": 6, "training": True, "trained_on": 200, "curve": points,
             "last_gain": "the last 100 labels brought 10.0 points", "set_aside": 0, "problem": ""}  # fmt: skip
    tab.route("**/api/labeling", lambda route: route.fulfill(json=state))
    tab.reload()
    drawing = tab.locator("svg.curve")
    expect(drawing).to_have_attribute(
        "aria-label", re.compile("55% after 50 labels, 70% after 200, between 60% and 80%")
    )
    ends = drawing.locator("polyline").get_attribute("points").split()
    xs, ys = zip(*[map(float, end.split(",")) for end in ends], strict=True)
    assert list(xs) == sorted(xs)
    assert list(ys) == sorted(ys, reverse=True)
    assert len(drawing.locator("polygon").get_attribute("points").split()) == 6
    expect(tab.locator(".score")).to_have_text("70% of first proposals are right (between 60% and 80%)")
    expect(tab.locator(".gain")).to_have_text("the last 100 labels brought 10.0 points")
    expect(tab.locator(".learning-state")).to_have_text("Learning from 210 labels …")
    assert complaints == []


# Out, and for everybody


def test_labels_leave_as_files_and_as_a_command(opened):
    tab, complaints = opened("#/label")
    ready(tab)
    picture = current(tab)
    said(tab, lambda: name_it(tab, "rhombus"))
    tab.get_by_role("button", name="Export").click()
    for name in ["labels.jsonl", "labels.csv", "paths.txt"]:
        with tab.expect_download() as download:
            tab.get_by_role("link", name=name).click()
        text = download.value.path().read_text()
        assert picture in text
        assert ("rhombus" in text) == (name != "paths.txt")
    expect(tab.locator("dialog pre").first).to_contain_text("manyclass")
    expect(tab.locator("dialog pre").nth(1)).to_contain_text("import manyclass")
    assert complaints == []


def test_the_help_lists_the_keys(opened):
    tab, _ = opened("#/label")
    ready(tab)
    tab.keyboard.press("?")
    for text in ["Take the first proposal", "Skip", "Undo", "Type a name; with Shift"]:
        expect(tab.locator("dialog").get_by_text(text).first).to_be_visible()


@pytest.mark.parametrize("where", ["#/label", "#/label?mode=many"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (380, "dark")])
def test_it_fits_the_screen_and_axe_finds_no_fault(opened, where, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    tab, complaints = opened(where, width=width, color_scheme=scheme, reduced_motion="reduce")
    tab.locator(".proposal, .card").first.wait_for()
    if "many" in where:
        tab.locator(".card-open").first.click()
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    faults = [fault for fault in axe.run(tab).response["violations"] if fault["impact"] in SERIOUS]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []
    assert complaints == []


def test_a_finger_reaches_everything_on_a_phone(opened):
    tab, complaints = opened("#/label", width=380, height=780, has_touch=True, is_mobile=True)
    proposals, picture = ready(tab), current(tab)
    sizes = tab.eval_on_selector_all(
        ".answers button", "all => all.map(one => Math.min(one.offsetWidth, one.offsetHeight))"
    )
    assert min(sizes) >= 36
    assert tab.locator(".proposal").first.bounding_box()["y"] < 780
    event = said(tab, tab.locator(".proposal").first.tap)
    assert (event["ids"], event["label"]) == ([picture], proposals[0])
    assert complaints == []
