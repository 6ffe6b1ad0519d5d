"""What somebody does on the tab Label, step by step, for tests in a browser."""

import time

from tests.server.pages import ask


def current(tab):
    """The id of the picture that is asked about."""
    return tab.locator(".stage-name").get_attribute("title")


def ready(tab):
    """Waits until a picture and its proposals are there and nothing is being learned; gives the names of these."""
    until = time.monotonic() + 20
    while ask(f"{tab.url.split('/#')[0]}/api/labeling")["training"] and time.monotonic() < until:
        tab.wait_for_timeout(50)
    tab.locator(".likely").first.wait_for()
    tab.wait_for_function("() => document.querySelector('.stage-picture')?.naturalWidth > 0")
    return tab.locator(".proposal:has(.likely) .proposal-name").all_inner_texts()


def said(tab, do, route="/api/labels"):
    """What stands first on the server's record after somebody did something."""
    with tab.expect_response(lambda answer: answer.request.method == "POST" and route in answer.url) as answer:
        do()
    assert answer.value.ok, answer.value.text()
    return events(tab)[0]


def events(tab, count=1):
    address = tab.url.split("/#")[0]
    return ask(f"{address}/api/labels?count={count}")["events"]


def another(tab, than):
    """Waits until another picture is asked about; gives its id."""
    tab.wait_for_function("than => document.querySelector('.stage-name').title !== than", arg=than)
    return current(tab)


def name_it(tab, name):
    tab.keyboard.type(name)
    tab.keyboard.press("Enter")
