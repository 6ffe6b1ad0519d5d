"""One gallery of drawn pictures for all tests; for those of the page a server and a browser per file."""

import shutil

import pytest
from browsers import ARGUMENTS, CHROMIUM

from tests.server.pages import build_gallery, served, watched


@pytest.fixture(scope="session")
def shapes(tmp_path_factory):
    """The gallery; tests leave it as it is."""
    return build_gallery(tmp_path_factory.mktemp("shapes"))


@pytest.fixture(scope="module")
def address(shapes, tmp_path_factory):
    """A server over a copy of the gallery, so that labels of one file of tests are not seen by another."""
    base = tmp_path_factory.mktemp("served")
    own = base / "copy" / shapes.name
    shutil.copytree(shapes.parent, own.parent)
    with served(own, log=base / "server.log") as address:
        yield address


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here")
    with playwright.sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, address):
    """opened("#/find", width=..., color_scheme=...): the page at an address, and what it complained of."""
    contexts = []

    def open_page(where="", width=1280, height=800, **settings):
        context = browser.new_context(viewport={"width": width, "height": height}, **settings)
        context.set_default_timeout(10_000)
        contexts.append(context)
        tab, events = watched(context, address)
        tab.goto(f"{address}/{where}")
        return tab, events

    yield open_page
    for context in contexts:
        context.close()
