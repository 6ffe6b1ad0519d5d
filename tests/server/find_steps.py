"""What a person does in the tab Find and sees there, for its tests in a browser."""

import base64

from tests.server.pages import as_png

CIRCLE = "#/find?q=id:circle/circle_00.png"


def ids(tab):
    """Names of the first pictures of the grid, in its order; more of them come as one scrolls."""
    return tab.eval_on_selector_all(".card", "cards => cards.map(card => card.dataset.id).slice(0, 60)")


def reordered(tab, before):
    """Waits until the grid shows other pictures, or others first; gives the new order."""
    tab.wait_for_function(
        "before => [...document.querySelectorAll('.card')].map(card => card.dataset.id).slice(0, 60).join() !== before",
        arg=",".join(before),
    )
    return ids(tab)


def searched(tab):
    """Waits until a search has an answer: every card says how alike it is."""
    tab.locator(".card-note").first.wait_for()
    return ids(tab)


def above_line(tab):
    """How many pictures stand above the line."""
    return tab.evaluate("[...document.querySelectorAll('.card, .line')].findIndex(one => one.matches('.line'))")


def kinds(names):
    return [name.split("/")[0] for name in names]


def chips(tab, kind):
    return tab.locator(f".chip.{kind}")


def give(tab, picture, event="drop", target="body"):
    """Drop or paste a picture, as the browser tells a page of it."""
    data = base64.b64encode(as_png(picture)).decode()
    tab.evaluate(
        """([data, event, target]) => {
            const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
            const carried = new DataTransfer();
            carried.items.add(new File([bytes], "mine.png", {type: "image/png"}));
            const settings = {bubbles: true, cancelable: true};
            const at = document.querySelector(target);
            if (event === "paste") at.dispatchEvent(new ClipboardEvent("paste", {...settings, clipboardData: carried}));
            else for (const kind of ["dragenter", "dragover", event]) {
                const place = kind === event ? at : document.body;
                place.dispatchEvent(new DragEvent(kind, {...settings, dataTransfer: carried}));
            }
        }""",
        [data, event, target],
    )


def pick(tab, button, picture):
    """Choose a file by one of the buttons of the bar."""
    with tab.expect_file_chooser() as chooser:
        tab.get_by_role("button", name=button, exact=True).click()
    chooser.value.set_files({"name": "mine.png", "mimeType": "image/png", "buffer": as_png(picture)})
