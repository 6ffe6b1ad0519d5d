"""The tab Find in a real browser, used as a person would: by mouse, keys and finger, with pictures of one's own."""

import pytest

from tests.server.find_steps import CIRCLE, above_line, chips, give, ids, kinds, pick, reordered, searched
from tests.server.pages import CLASSES, PER_CLASS, ask, draw, noise

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect


# The first screen


def test_it_opens_on_pictures_and_r_shuffles_them(opened):
    tab, events = opened()
    tab.locator(".card img").first.wait_for()
    typical = ids(tab)
    assert len(typical) == 60
    tab.wait_for_function("() => document.querySelector('.card img')?.naturalWidth > 0")
    tab.keyboard.press("r")
    shuffled = reordered(tab, typical)
    assert len(set(shuffled)) == 60
    expect(tab.locator(".answer")).to_contain_text("shuffled")
    address = tab.url
    tab.keyboard.press("r")
    again = reordered(tab, shuffled)
    tab.go_back()
    assert reordered(tab, again) == shuffled
    assert tab.url == address
    assert events == []


def test_the_grid_has_no_end_but_the_last_picture(opened, address):
    tab, events = opened()
    tab.locator(".card").first.wait_for()
    total = ask(f"{address}/api/pictures?count=1")["total"]
    for _ in range(6):
        tab.mouse.wheel(0, 3000)
        tab.wait_for_timeout(50)
    expect(tab.locator(".card")).to_have_count(total)
    assert len(set(tab.eval_on_selector_all(".card", "cards => cards.map(card => card.dataset.id)"))) == total
    assert events == []


# A query


@pytest.mark.parametrize("way", ["click", "pick", "drop", "paste", "phone"])
def test_a_picture_is_searched_by(opened, way):
    tab, events = opened(**({"width": 390, "has_touch": True, "is_mobile": True} if way == "phone" else {}))
    tab.locator(".card").first.wait_for()
    mine = draw("ring", 1000)
    if way == "click":
        tab.goto(tab.url + "#/find?text=ring_0&seed=5")
        expect(tab.locator(".card")).to_have_count(10)
        tab.locator(".card-open").first.click()
    elif way in ("pick", "phone"):
        pick(tab, "Pick a picture" if way == "pick" else "Take a picture", mine)
    else:
        give(tab, mine, event=way)
    expect(tab.locator(".query-open img")).to_be_visible()
    if way == "click":
        assert kinds(searched(tab))[:5] == ["ring"] * 5
        tab.get_by_label("Name contains").fill("")
        expect(tab.locator(".card")).to_have_count(60)
    assert kinds(searched(tab))[:8] == ["ring"] * 8
    tab.get_by_role("button", name="Remove the query").click()
    expect(tab.locator(".hint")).to_be_visible()
    expect(tab.locator(".card-note")).to_have_count(0)
    assert events == []


def test_a_pasted_path_is_the_query_and_other_text_a_filter(opened):
    tab, _ = opened()
    tab.locator(".card").first.wait_for()
    paste = """text => {
        const carried = new DataTransfer();
        carried.setData("text/plain", text);
        const settings = {bubbles: true, cancelable: true, clipboardData: carried};
        document.body.dispatchEvent(new ClipboardEvent("paste", settings));
    }"""
    tab.evaluate(paste, "cross/cross_03.png")
    assert kinds(searched(tab))[:6] == ["cross"] * 6
    tab.evaluate(paste, "ring_1")
    expect(tab.get_by_label("Name contains")).to_have_value("ring_1")
    expect(tab.locator(".card")).to_have_count(6)


@pytest.mark.parametrize("way", ["mouse", "keys"])
def test_a_box_on_the_query_searches_a_part_of_it(opened, way):
    tab, events = opened(CIRCLE)
    before = searched(tab)
    tab.locator(".query-open").click() if way == "mouse" else tab.keyboard.press("b")
    easel = tab.get_by_role("application", name="Box on the picture")
    expect(tab.get_by_role("button", name="Search this part")).to_be_disabled()
    tab.wait_for_function("() => document.querySelector('.easel img')?.naturalWidth > 0")
    if way == "mouse":
        area = easel.bounding_box()
        tab.mouse.move(area["x"] + 0.1 * area["width"], area["y"] + 0.2 * area["height"])
        tab.mouse.down()
        tab.mouse.move(area["x"] + 0.4 * area["width"], area["y"] + 0.5 * area["height"], steps=4)
        tab.mouse.up()
        expect(tab.locator("#box-place")).to_have_text("10% from the left, 20% from the top, 30% wide, 30% high")
        tab.get_by_role("button", name="Search this part").click()
    else:
        for key in ["ArrowLeft", "ArrowLeft", "Shift+ArrowDown", "ArrowUp", "Enter"]:
            easel.press(key)
    after = reordered(tab, before)
    assert "box=" in tab.url
    expect(tab.locator(".query-name")).to_have_text("a part of circle_00.png")
    tab.reload()
    searched(tab)
    assert ids(tab) == after
    tab.go_back()
    assert reordered(tab, after) == before
    assert events == []


def test_clicks_search_again_and_the_address_holds_all_of_it(opened):
    tab, events = opened(CIRCLE)
    first = searched(tab)
    tab.locator(".card-open").nth(20).click()
    second = reordered(tab, first)
    assert second[0] != first[0]
    tab.get_by_label("Folder").select_option("ring")
    third = reordered(tab, second)
    assert set(kinds(third)) == {"ring"}
    tab.go_back()
    assert reordered(tab, third) == second
    tab.go_back()
    assert reordered(tab, second) == first
    tab.go_forward()
    assert reordered(tab, first) == second
    tab.go_forward()
    reordered(tab, second)
    tab.reload()
    searched(tab)
    assert ids(tab) == third
    expect(tab.get_by_label("Folder")).to_have_value("ring")
    assert events == []


def test_an_upload_that_the_server_has_forgotten_is_told(opened):
    tab, _ = opened("#/find?q=up:0123456789abcdef&like=id:ring/ring_03.png")
    expect(tab.get_by_role("alert").filter(has_text="forgotten")).to_be_visible()
    tab.get_by_role("button", name="Take it out").click()
    assert kinds(searched(tab))[:5] == ["ring"] * 5
    expect(tab.locator(".notice.problem")).to_be_hidden()


def test_what_is_no_picture_is_refused_in_a_sentence(opened):
    tab, _ = opened()
    tab.locator(".card").first.wait_for()
    with tab.expect_file_chooser() as chooser:
        tab.get_by_role("button", name="Pick a picture").click()
    chooser.value.set_files({"name": "mine.png", "mimeType": "image/png", "buffer": b"no picture at all"})
    expect(tab.locator(".toast.problem")).to_be_visible()
    assert len(tab.locator(".toast.problem span").first.text_content()) > 15
    assert "q=" not in tab.url


# Marks


@pytest.mark.parametrize("way", ["buttons", "letters", "signs"])
def test_marks_rerank_at_once_and_stand_in_the_bar(opened, way):
    tab, events = opened("#/find?q=id:square/scan.png")
    order = searched(tab)
    right, kind = order[-1], kinds(order)[-1]
    assert kinds(order)[:6].count(kind) <= 3
    press(tab, right, way, True)
    order = reordered(tab, order)
    assert right not in order
    assert kinds(order)[:6].count(kind) >= 5
    press(tab, order[1], way, False)
    reordered(tab, order)
    expect(chips(tab, "right")).to_have_count(1)
    expect(chips(tab, "wrong")).to_have_count(1)
    chips(tab, "wrong").get_by_role("button").click()
    expect(chips(tab, "wrong")).to_have_count(0)
    tab.wait_for_function("first => document.querySelector('.card').dataset.id === first", arg=order[0])
    assert events == []


def press(tab, name, way, right):
    card = tab.locator(f'.card[data-id="{name}"]')
    if way == "buttons":
        card.hover()
        card.get_by_role("button", name="More like this" if right else "Less like this").click()
    else:
        card.locator(".card-open").focus()
        tab.keyboard.press({"letters": "jk", "signs": "+-"}[way][not right])


def test_a_second_press_is_neutral(opened):
    tab, _ = opened(CIRCLE)
    before = searched(tab)
    tab.get_by_label("Leave out query and marks").uncheck()
    shown = reordered(tab, before)
    assert "circle/circle_00.png" in shown
    press(tab, shown[5], "letters", True)
    moved = reordered(tab, shown)
    marked = tab.locator(f'.card[data-id="{shown[5]}"]').get_by_role("button", name="More like this")
    expect(marked).to_have_attribute("aria-pressed", "true")
    press(tab, shown[5], "letters", True)
    assert reordered(tab, moved) == shown
    expect(tab.locator(".chip")).to_have_count(0)


def test_pictures_of_ones_own_can_be_marks(opened):
    tab, _ = opened("#/find?q=id:square/scan.png")
    order = searched(tab)
    pick(tab, "Add a picture of yours as right", draw("stripes", 2000))
    order = reordered(tab, order)
    assert kinds(order)[:6].count("stripes") >= 5
    give(tab, draw("stripes", 2001), target=".drop.unlike")
    reordered(tab, order)
    expect(chips(tab, "right")).to_have_count(1)
    expect(chips(tab, "wrong")).to_have_count(1)
    tab.reload()
    searched(tab)
    expect(tab.locator(".chip img")).to_have_count(2)


def test_marks_begin_a_search_where_there_is_no_query(opened):
    tab, _ = opened("#/find?text=stripes")
    tab.locator(".card-open").first.focus()
    tab.keyboard.press("k")
    expect(tab.locator(".answer")).to_contain_text("Mark at least one picture with +")
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("j")
    assert set(kinds(searched(tab))) == {"stripes"}
    tab.get_by_role("button", name="Start over").click()
    expect(tab.locator(".chip")).to_have_count(0)
    expect(tab.locator(".card")).to_have_count(60)


# What is alike by chance


def test_the_line_stands_where_likeness_ends_and_cards_say_how_alike(opened, address):
    tab, _ = opened(CIRCLE)
    searched(tab)
    said = ask(f"{address}/api/search", {"positives": [{"id": "circle/circle_00.png"}], "count": 60})
    assert 3 <= said["line"] <= 40
    place = above_line(tab)
    assert place == said["line"]
    expect(tab.locator(".line")).to_have_text("Below this line nothing is more alike than chance")
    notes = tab.locator(".card-note").all_text_contents()
    assert len(notes) == 60
    assert all("More alike than" in note for note in notes[:place])
    assert all("Could be chance" in note for note in notes[place:])
    expect(tab.locator(".answer")).to_have_text(f"{place} pictures are more alike than chance.")


def test_where_nothing_is_alike_it_says_so(opened):
    tab, _ = opened()
    tab.locator(".card").first.wait_for()
    pick(tab, "Pick a picture", noise())
    searched(tab)
    expect(tab.locator(".answer.nothing")).to_be_visible()
    assert above_line(tab) == 0


def test_another_world_gives_another_order(opened, address):
    worlds = ask(f"{address}/api/collection")["worlds"]
    assert len(worlds) > 1
    other = next(world["key"] for world in worlds if not world["default"])
    tab, _ = opened("#/find?q=id:square/scan.png&like=id:ring/ring_02.png")
    before = searched(tab)
    tab.get_by_label("Compared with what?").select_option(other)
    reordered(tab, before)
    assert f"world={other}" in tab.url
    tab.reload()
    expect(tab.get_by_label("Compared with what?")).to_have_value(other)


# Filters


def test_filters_by_class_folder_and_name(opened):
    tab, _ = opened(width=1280)
    tab.locator(".card").first.wait_for()
    tab.keyboard.press("/")
    tab.keyboard.type("_01")
    expect(tab.locator(".card")).to_have_count(len(CLASSES))
    tab.get_by_label("Folder").select_option("cross")
    expect(tab.locator(".card")).to_have_count(1)
    tab.get_by_label("Name contains").fill("")
    tab.get_by_label("Folder").select_option("")
    field = tab.get_by_role("combobox", name="Class", exact=True)
    field.fill("tri")
    expect(tab.get_by_role("option")).to_contain_text(["triangle"])
    field.press("Enter")
    expect(tab.locator(".card")).to_have_count(PER_CLASS)
    assert "class=triangle" in tab.url
    expect(tab.locator(".answer")).to_have_text(f"{PER_CLASS} pictures fit.")
