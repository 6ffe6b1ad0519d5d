"""The page in a real browser: quiet, whole, sortable, and no wider than the screen."""

import pytest
from browsers import ARGUMENTS, CHROMIUM

from manyclass.report.page import write_page
from tests.report.synthetic import write_everything

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = write_everything(tmp_path_factory.mktemp("everything"))
    write_page(folder / "report.html", [folder])
    return (folder / "report.html").as_uri()


@pytest.fixture
def opened(browser, address):
    """opened(width=..., color_scheme=...): the page, and a list of what it said and asked for."""
    contexts = []

    def open_page(width=1280, **settings):
        context = browser.new_context(viewport={"width": width, "height": 800}, **settings)
        contexts.append(context)
        tab, events = context.new_page(), []
        tab.on("console", lambda message: events.append(message.text))
        tab.on("pageerror", lambda error: events.append(str(error)))
        tab.on("request", lambda request: events.append(request.url) if not _own(request.url, address) else None)
        tab.goto(address)
        return tab, events

    yield open_page
    for context in contexts:
        context.close()


def _own(url, address):
    return url == address or url.startswith("data:")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390, 320])
def test_the_page_is_quiet_asks_for_nothing_and_fits_the_screen(opened, width, scheme):
    tab, events = opened(width, color_scheme=scheme)
    assert events == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.evaluate("[...document.images].every(image => image.naturalWidth > 0)")


def test_dark_paper_is_dark_and_drawings_follow_the_text(opened):
    def brightness(scheme, where, what):
        tab, _ = opened(color_scheme=scheme)
        color = tab.evaluate(f"getComputedStyle(document.querySelector({where!r})).{what}")
        return sum(map(int, color.strip("rgb()").split(",")[:3]))

    assert brightness("dark", "html", "backgroundColor") < 150 < 600 < brightness("light", "html", "backgroundColor")
    assert brightness("light", "svg text", "fill") < 150 < 600 < brightness("dark", "svg text", "fill")


def column(tab, head):
    """Names of the classes in the order of the table, after a click on a head."""
    tab.click(f"#accuracy thead button:text-is('{head}')")
    return tab.eval_on_selector_all("#accuracy tbody th", "cells => cells.map(cell => cell.textContent)")


def test_a_click_on_a_head_sorts_and_another_sorts_the_other_way(opened):
    tab, events = opened()
    assert column(tab, "accuracy")[:2] == ["class 0", "class 1"]
    assert column(tab, "accuracy")[:2] == ["class 11", "class 10"]
    assert column(tab, "class")[:3] == ["class 0", "class 1", "class 10"]
    assert tab.get_attribute("#accuracy thead th:first-child", "aria-sort") == "ascending"
    assert events == []


def test_classes_can_be_searched(opened):
    tab, _ = opened()
    tab.fill("input[type=search]", "CLASS 1")
    assert tab.locator("#accuracy tbody tr:visible").count() == 3


def test_without_scripts_the_tables_are_there_and_the_heads_are_plain(opened):
    tab, _ = opened(java_script_enabled=False)
    assert tab.locator("#accuracy tbody tr").count() == 12
    assert tab.locator("thead button").count() == 0


def test_links_of_the_contents_lead_to_sections(opened):
    tab, _ = opened()
    targets = tab.eval_on_selector_all("nav a", "links => links.map(link => link.getAttribute('href'))")
    assert len(targets) == 18
    assert all(tab.locator(target).count() == 1 for target in targets)


@pytest.mark.parametrize("way", ["click", "key"])
def test_a_picture_is_enlarged_with_its_words_and_put_away_again(opened, way):
    tab, events = opened()
    picture = tab.locator(".strip img").first
    small = picture.bounding_box()["width"]
    picture.click() if way == "click" else picture.press("Enter")
    large = tab.locator("dialog[open] img")
    assert large.bounding_box()["width"] > 3 * small
    assert large.get_attribute("src") == picture.get_attribute("src")
    assert tab.locator("dialog p").text_content() == picture.get_attribute("alt") != ""
    large.click() if way == "click" else tab.keyboard.press("Escape")
    assert tab.locator("dialog[open]").count() == 0
    assert events == []
