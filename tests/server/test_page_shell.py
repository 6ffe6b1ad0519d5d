"""What all tabs of the page share, in a real browser: quiet, small, fit for every screen, and for everybody."""

import json

import pytest

from tests.server.pages import ask

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect

TABS = ["find", "label", "audit"]
SEARCH = "#/find?q=id:circle/circle_00.png&like=id:circle/circle_01.png&unlike=id:ring/ring_01.png"


def still(tab):
    """Waits until what was asked for is there."""
    tab.locator("main .tab").wait_for()
    tab.wait_for_load_state("load")
    tab.wait_for_function("() => [...document.images].filter(one => one.loading !== 'lazy').every(one => one.complete)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [380, 768, 1280])
def test_every_tab_is_quiet_and_no_wider_than_the_screen(opened, width, scheme):
    tab, events = opened(SEARCH, width, color_scheme=scheme)
    tab.locator(".chip").first.wait_for()
    for name in TABS:
        tab.get_by_role("navigation").get_by_role("link", name=name.title()).click()
        tab.locator(f".tab-{name}").wait_for()
        still(tab)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, name
    assert events == []


def test_colors_follow_the_system_until_they_are_chosen(opened):
    def brightness(tab):
        color = tab.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        return sum(map(int, color.strip("rgb()").split(",")[:3]))

    tab, _ = opened(color_scheme="dark")
    assert brightness(tab) < 150
    tab.get_by_role("button", name="Colors").click()
    expect(tab.get_by_role("button", name="Colors: light")).to_be_focused()
    assert brightness(tab) > 600
    tab.reload()
    assert brightness(tab) > 600
    tab.get_by_role("button", name="Colors").click()
    tab.get_by_role("button", name="Colors").click()
    assert brightness(tab) < 150


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("where", [*[f"#/{name}" for name in TABS], SEARCH])
def test_axe_finds_no_serious_fault(opened, where, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    # What tests a page is put into it as a script, which the page itself forbids.
    tab, _ = opened(where, color_scheme=scheme, bypass_csp=True, reduced_motion="reduce")
    still(tab)
    if "find" in where:
        tab.locator(".card").first.wait_for()
    assert faults(axe, tab) == []


@pytest.mark.parametrize("key", ["?", "Enter", "b", "e", "n"])
def test_axe_finds_no_serious_fault_in_windows(opened, key):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    tab, _ = opened(SEARCH, bypass_csp=True, reduced_motion="reduce")
    tab.locator(".card-note").first.wait_for()
    tab.locator(".card-open").first.focus()
    tab.keyboard.press(key)
    tab.get_by_role("dialog").wait_for()
    assert faults(axe, tab) == []
    tab.keyboard.press("Escape")
    if key == "n":
        tab.keyboard.press("Escape")  # The first one closes the list of names.
    expect(tab.get_by_role("dialog")).to_have_count(0)
    expect(tab.locator(".card-open").first).to_be_focused()


def faults(axe, tab):
    found = axe.run(tab).response["violations"]
    return [
        (one["id"], [node["html"][:200] for node in one["nodes"]][:3])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def test_script_and_style_of_all_tabs_are_small_and_from_here(opened):
    tab, events = opened()
    for name in TABS:
        tab.goto(tab.url.split("#")[0] + f"#/{name}")
        tab.locator(f".tab-{name}").wait_for()
        still(tab)
    sizes = dict(
        tab.evaluate(
            """() => performance.getEntriesByType("resource").filter((one) => /\\.(js|css)$/.test(one.name))
                .map((one) => [one.name, one.encodedBodySize])"""
        )
    )
    assert len(sizes) > 10
    assert 20_000 < sum(sizes.values()) < 100_000
    assert events == []


def test_help_lists_the_keys_and_the_name_is_remembered(opened):
    tab, _ = opened()
    tab.locator(".card").first.wait_for()
    tab.keyboard.press("?")
    window = tab.get_by_role("dialog")
    for words in ("More like this", "Less like this", "Shuffle the pictures", "Next tab"):
        expect(window).to_contain_text(words)
    tab.keyboard.press("Escape")
    tab.get_by_role("button", name="Your name").click()
    tab.get_by_label("Your name").last.fill("Ada")
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("button", name="Ada")).to_be_visible()
    tab.reload()
    expect(tab.get_by_role("button", name="Ada")).to_be_visible()


def test_tabs_turn_by_keys_and_come_back_as_they_were_left(opened):
    tab, _ = opened(SEARCH)
    tab.locator(".chip").first.wait_for()
    tab.keyboard.press("]")
    expect(tab.get_by_role("link", name="Label")).to_have_attribute("aria-current", "page")
    tab.keyboard.press("[")
    expect(tab.locator(".chip")).to_have_count(2)
    assert tab.title().startswith("Find")


def test_preparation_shows_how_far_it_is_and_the_page_opens_by_itself(opened, address):
    tab, events = opened("#/nothing-yet")
    job = {
        "id": "1", "kind": "prepare", "title": "Describing pictures", "done": 120, "total": 480, "unit": "pictures",
        "rate": 24.0, "seconds_left": 15.0, "state": "running", "error": None,
    }  # fmt: skip
    said = [{"state": "preparing", "error": None, "jobs": [job], "version": "0"}] * 2
    tab.route("**/api/status", lambda route: route.fulfill(json=said.pop()) if said else route.continue_())
    tab.route("**/api/events", lambda route: route.fulfill(body="", content_type="text/event-stream"))
    tab.reload()
    words = "120 of 480 pictures · 24 pictures a second · about 15 seconds left"
    expect(tab.locator(".prepare-words")).to_have_text(words)
    assert tab.get_by_role("progressbar").evaluate("bar => bar.value / bar.max") == 0.25
    tab.locator(".card").first.wait_for()
    assert events == []


def test_what_failed_is_told_in_its_sentence(opened):
    tab, _ = opened()
    said = {"state": "failed", "error": "no picture could be read in photos", "jobs": [], "version": "0"}
    tab.route("**/api/status", lambda route: route.fulfill(json=said))
    tab.reload()
    expect(tab.get_by_role("alert")).to_have_text("no picture could be read in photos")


def test_names_are_text_whatever_they_look_like(opened, address):
    nasty = "<img src=x onerror=alert(1)><script>alert(2)</script>.png"

    def change(route):
        said = ask(f"{address}/api/pictures?count=3")
        for picture in said["pictures"]:
            picture |= {"id": nasty + picture["id"], "name": nasty, "class": "<b>bold</b>"}
        route.fulfill(body=json.dumps(said), content_type="application/json")

    tab, events = opened("#/label")
    tab.route("**/api/pictures?*", change)
    tab.goto(f"{address}/#/find")
    expect(tab.locator(".card-name span").first).to_have_text(nasty)
    expect(tab.locator(".tag").first).to_have_text("<b>bold</b>")
    assert tab.locator(".card script, .card b, .card img[src=x]").count() == 0
    assert events == []


def test_a_screen_reader_is_told_what_is_where(opened):
    tab, _ = opened(SEARCH)
    tab.locator(".card-note").first.wait_for()
    for role in ("banner", "navigation", "main", "contentinfo", "search"):
        assert tab.get_by_role(role).count() == 1, role
    assert tab.get_by_role("heading", level=1).count() == 1
    expect(tab.get_by_role("status").filter(has_text=tab.locator(".answer").text_content())).to_have_count(1)
    first = tab.locator(".card").first
    name = first.locator(".card-name span").first.text_content()
    for what in ("More like this", "Less like this", "Select"):
        expect(first.get_by_role("button", name=f"{what}: {name}")).to_have_count(1)
    expect(first.get_by_role("button", name=f"{name}, find pictures like this")).to_have_count(1)
