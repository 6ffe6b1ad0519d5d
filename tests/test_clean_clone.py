"""From a clean clone: `make demo` in a new virtual environment, and the page that it leaves in a real browser.

Screenshots are kept in the folder that MANYCLASS_SCREENSHOTS names, or else beside the clone.
"""

import os
import subprocess
from pathlib import Path

import pytest
from browsers import ARGUMENTS, CHROMIUM

ROOT = Path(__file__).parents[1]
SECTIONS = [
    "next", "setup", "runs", "accuracy", "confusions", "examples", "calibration", "curves", "tuning", "spectrum",
    "grid", "embedding", "retrieval", "cost",
]  # fmt: skip
WITH_DRAWINGS = ["runs", "calibration", "curves", "tuning", "spectrum", "grid", "embedding", "retrieval", "cost"]
WITH_PICTURES = ["confusions", "examples", "retrieval"]
DESKTOP, PHONE = 1280, 390

pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")]


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A clone of what is committed here, after `make demo` in it."""
    folder = tmp_path_factory.mktemp("clean") / "manyclass"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, folder], check=True)
    # What the outer environment sets for Python must not reach the new one.
    kept = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH", "MAKEFLAGS")}
    environment = {**kept, "XDG_CACHE_HOME": str(folder.parent / "cache")}
    done = subprocess.run(["make", "demo"], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return folder, done


@pytest.fixture(scope="module")
def screenshots(clone):
    folder = Path(os.environ.get("MANYCLASS_SCREENSHOTS") or clone[0].parent / "screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def tab(clone):
    """The page at desktop width, and what it said and asked for since it was opened."""
    api = pytest.importorskip("playwright.sync_api")
    address = (clone[0] / "demo" / "report.html").as_uri()
    with api.sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        tab, events = browser.new_page(viewport={"width": DESKTOP, "height": 800}), []
        tab.on("console", lambda message: events.append(message.text))
        tab.on("pageerror", lambda error: events.append(str(error)))
        tab.on("request", lambda request: events.append(request.url) if _is_outside(request.url, address) else None)
        tab.goto(address)
        tab.events = events
        yield tab
        browser.close()


def _is_outside(url, address):
    return url != address and not url.startswith("data:")


def test_the_demo_ends_with_one_table_and_the_address_of_its_page(clone):
    folder, done = clone
    for words in ("learning 500 kinds", "trace", "finding 50 other kinds", "kernel-slem", "top-1", "mAP"):
        assert words in done.stdout
    assert (folder / "demo" / "report.html").as_uri() in done.stdout.replace("\n", "")
    assert "Traceback" not in done.stderr


def test_the_clone_has_an_environment_of_its_own(clone):
    folder, _ = clone
    said = subprocess.run(
        [folder / ".venv" / "bin" / "python", "-c", "import manyclass; print(manyclass.__file__)"],
        capture_output=True, text=True, check=True, cwd=folder.parent,
    )  # fmt: skip
    assert Path(said.stdout.strip()).is_relative_to(folder)


def test_every_section_is_filled(tab):
    assert tab.eval_on_selector_all("main > section", "parts => parts.map(part => part.id)") == SECTIONS
    for key in SECTIONS:
        assert len(tab.inner_text(f"#{key}")) > 100, key
    for key in WITH_DRAWINGS:
        assert tab.locator(f"#{key} svg").count() >= 1, key
    for key in WITH_PICTURES:
        assert tab.locator(f"#{key} img").count() >= 10, key
    assert tab.locator(".plate, .missing").count() == 0
    assert tab.evaluate("[...document.images].every(image => image.naturalWidth > 0)")


def test_nothing_is_complained_of_or_loaded_from_outside(tab):
    tab.wait_for_timeout(500)
    assert tab.events == []


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_the_screen_and_a_picture_of_it_is_kept(tab, screenshots, width, scheme):
    tab.emulate_media(color_scheme=scheme)
    tab.set_viewport_size({"width": width, "height": 800})
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.screenshot(path=screenshots / f"report-{width}-{scheme}.png", full_page=True)
    assert (screenshots / f"report-{width}-{scheme}.png").stat().st_size > 50_000
