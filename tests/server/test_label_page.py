"""The tab Label in a real browser, one picture at a time; what was said is on the server's record afterwards."""

import re

import pytest

from tests.server.labeling_steps import another, current, events, name_it, ready, said
from tests.server.pages import ask

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect


def test_enter_takes_the_first_proposal_and_the_next_picture_comes_by_itself(opened):
    tab, complaints = opened("#/label")
    proposals, picture = ready(tab), current(tab)
    assert len(proposals) == 5
    event = said(tab, lambda: tab.keyboard.press("Enter"))
    assert (event["ids"], event["label"], event["proposed"]) == ([picture], proposals[0], proposals[0])
    assert (event["action"], event["source"]) == ("label", "label")
    assert another(tab, picture) != picture
    expect(tab.locator(".why")).not_to_be_empty()
    assert complaints == []


@pytest.mark.parametrize("way", ["key", "mouse", "focus"])
def test_another_proposal_is_taken_by_its_digit_by_the_mouse_and_by_the_focus(opened, way):
    tab, complaints = opened("#/label")
    proposals, picture = ready(tab), current(tab)
    button = tab.locator(".proposal").nth(2)
    do = {
        "key": lambda: tab.keyboard.press("3"),
        "mouse": button.click,
        "focus": lambda: (button.focus(), tab.keyboard.press("Enter")),
    }[way]
    event = said(tab, do)
    assert (event["ids"], event["label"], event["proposed"]) == ([picture], proposals[2], proposals[0])
    another(tab, picture)
    assert tab.evaluate("document.activeElement === document.body || document.activeElement.matches('.stage')")
    assert complaints == []


def test_bars_are_as_long_as_proposals_are_likely(opened):
    tab, _ = opened("#/label")
    ready(tab)
    shares = tab.locator(".proposal-share").all_inner_texts()
    widths = tab.eval_on_selector_all(".likely > span", "bars => bars.map(bar => parseFloat(bar.style.width))")
    assert widths == sorted(widths, reverse=True)
    assert all(share in ("< 1%", "> 99%", f"{round(width)}%") for share, width in zip(shares, widths, strict=True))


def test_letters_begin_a_name_and_the_class_that_has_them_is_taken_however_fast_one_types(opened):
    tab, complaints = opened("#/label")
    ready(tab)
    picture = current(tab)
    event = said(tab, lambda: name_it(tab, "trian"))
    assert (event["ids"], event["label"]) == ([picture], "triangle")
    another(tab, picture)
    expect(tab.locator(".answers input")).to_have_value("")
    expect(tab.locator(".answers input")).not_to_be_focused()
    assert complaints == []


def test_several_new_classes_are_named_and_stand_in_the_list_with_their_counts(opened):
    tab, complaints = opened("#/label")
    for name in ["octagon", "Ähre <b>&amp;</b>", "octagon"]:
        ready(tab)
        picture = current(tab)
        assert said(tab, lambda name=name: name_it(tab, name))["label"] == name
        another(tab, picture)
    row = tab.locator(".class-list li").filter(has_text="octagon")
    expect(row).to_contain_text("2 by hand")
    ready(tab)
    expect(tab.locator(".recent .proposal-name").first).to_have_text("octagon")
    tab.keyboard.type("oct")
    expect(tab.locator(".choices li").first).to_contain_text("octagon")
    expect(tab.locator(".choices li").last).to_contain_text("New class “oct”")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("ArrowUp")
    assert said(tab, lambda: tab.keyboard.press("Enter"))["label"] == "octagon"
    assert complaints == []


def test_a_name_that_begins_with_a_key_is_typed_with_shift_or_after_a_slash_and_escape_leaves_it(opened):
    tab, _ = opened("#/label")
    ready(tab)
    field = tab.locator(".answers input")
    tab.keyboard.press("Shift+S")
    expect(field).to_have_value("S")
    tab.keyboard.press("Escape")
    tab.keyboard.press("Escape")
    expect(field).not_to_be_focused()
    tab.keyboard.press("/")
    expect(field).to_be_focused()
    tab.keyboard.type("squ")
    expect(tab.locator(".choices li[aria-selected=true]")).to_contain_text("square")
    picture = current(tab)
    assert said(tab, lambda: tab.locator(".choices li").first.click())["label"] == "square"
    another(tab, picture)


def test_skip_says_nothing_and_the_picture_does_not_come_back(opened):
    tab, _ = opened("#/label")
    ready(tab)
    before, seen = events(tab), [current(tab)]
    for _ in range(4):
        tab.keyboard.press("s")
        seen.append(another(tab, seen[-1]))
        ready(tab)
    assert len(set(seen)) == 5
    assert events(tab) == before
    tab.reload()
    ready(tab)
    assert current(tab) == seen[-1]


def test_what_is_set_aside_has_no_label_and_undo_brings_it_back(opened):
    tab, complaints = opened("#/label")
    ready(tab)
    picture = current(tab)
    event = said(tab, lambda: tab.keyboard.press("x"))
    assert (event["ids"], event["action"], event["label"]) == ([picture], "set_aside", None)
    another(tab, picture)
    event = said(tab, lambda: tab.keyboard.press("u"), "/api/labels/undo")
    assert (event["action"], event["ids"]) == ("undo", [picture])
    assert current(tab) == picture
    expect(tab.locator(".said")).to_be_hidden()
    assert complaints == []


def test_undo_takes_back_step_by_step_and_one_answers_anew(opened):
    tab, complaints = opened("#/label")
    answered = []
    for key in "12":
        ready(tab)
        answered.append(current(tab))
        said(tab, lambda key=key: tab.keyboard.press(key))
        another(tab, answered[-1])
    for picture in reversed(answered):
        assert said(tab, lambda: tab.keyboard.press("u"), "/api/labels/undo")["ids"] == [picture]
        assert current(tab) == picture
    event = said(tab, lambda: name_it(tab, "ring"))
    assert (event["ids"], event["label"]) == ([answered[0]], "ring")
    assert current(tab) == answered[1]
    assert complaints == []


def test_undo_takes_back_what_was_said_here_though_somebody_else_spoke_since(opened, address):
    tab, _ = opened("#/label")
    ready(tab)
    picture = current(tab)
    said(tab, lambda: tab.keyboard.press("1"))
    another(tab, picture)
    ask(f"{address}/api/labels", {"ids": ["ring/ring_00.png"], "label": "ring"})
    assert said(tab, lambda: tab.keyboard.press("u"), "/api/labels/undo")["ids"] == [picture]
    assert current(tab) == picture


def test_arrows_go_back_and_forth_and_an_answer_can_be_changed(opened):
    tab, complaints = opened("#/label")
    ready(tab)
    first = current(tab)
    said(tab, lambda: name_it(tab, "circle"))
    second = another(tab, first)
    tab.keyboard.press("ArrowLeft")
    assert current(tab) == first
    expect(tab.locator(".said")).to_contain_text("“circle”")
    event = said(tab, lambda: name_it(tab, "cross"))
    assert (event["ids"], event["label"]) == ([first], "cross")
    assert current(tab) == second
    tab.get_by_role("button", name="Earlier picture").click()
    expect(tab.locator(".said")).to_contain_text("“cross”")
    tab.keyboard.press("ArrowRight")
    assert current(tab) == second
    assert complaints == []


def test_a_reload_keeps_the_picture_and_what_one_can_go_back_to_and_take_back(opened):
    tab, complaints = opened("#/label?by=uncertain")
    ready(tab)
    first = current(tab)
    said(tab, lambda: name_it(tab, "circle"))
    second = another(tab, first)
    tab.reload()
    ready(tab)
    assert current(tab) == second
    assert tab.locator("#way").input_value() == "uncertain"
    tab.keyboard.press("ArrowLeft")
    expect(tab.locator(".said")).to_contain_text("“circle”")
    tab.keyboard.press("ArrowRight")
    assert said(tab, lambda: tab.keyboard.press("u"), "/api/labels/undo")["ids"] == [first]
    expect(tab.locator(".toast")).to_contain_text("“circle” for 1 picture")
    assert current(tab) == first
    event = said(tab, lambda: tab.get_by_role("button", name="Put it back").click())
    assert (event["ids"], event["label"]) == ([first], "circle")
    assert complaints == []


@pytest.mark.parametrize("way", ["uncertain", "typical", "rare", "wrong"])
def test_the_way_of_choosing_is_in_the_address_and_the_reason_on_the_card(opened, way):
    tab, complaints = opened("#/label")
    ready(tab)
    with tab.expect_response(lambda answer: f"next?by={way}" in answer.url) as answer:
        tab.select_option("#way", way)
    tab.wait_for_url(re.compile(f"#/label\\?by={way}$"))
    choices = answer.value.json()["choices"]
    if choices:
        expect(tab.locator(".why")).to_have_text(choices[0]["words"])
        assert current(tab) == choices[0]["picture"]["id"]
    tab.go_back()
    expect(tab.locator("#way")).to_have_value("mixed")
    assert complaints == []


def test_the_end_is_told_in_words_and_what_was_skipped_can_be_shown_again(opened):
    tab, complaints = opened("#/label")
    ready(tab)
    tab.route("**/api/labeling/next?**", lambda route: route.fulfill(json={"choices": []}))
    nothing = tab.locator(".stage-nothing")
    while not nothing.is_visible():
        tab.keyboard.press("s")
    expect(nothing).to_contain_text("Every picture has a label.")
    expect(nothing).to_contain_text("skipped")
    tab.unroute("**/api/labeling/next?**")
    tab.get_by_role("button", name="Show what was skipped").click()
    ready(tab)
    expect(nothing).to_be_hidden()
    assert complaints == []


# What goes wrong


def test_the_next_picture_does_not_wait_for_the_server_and_answers_arrive_in_their_order(opened):
    tab, complaints = opened("#/label")
    ready(tab)
    held, closed = [], True
    tab.route("**/api/labels", lambda route: held.append(route) if closed else route.continue_())
    pictures = [current(tab)]
    for _ in range(3):
        tab.keyboard.press("1")
        pictures.append(another(tab, pictures[-1]))
    tab.wait_for_timeout(50)
    assert len(held) == 1, "one at a time"
    closed = False
    with tab.expect_response(lambda answer: pictures[2] in (answer.request.post_data or "")):
        held[0].continue_()
    assert [event["ids"][0] for event in events(tab, 3)] == pictures[2::-1]
    assert complaints == []


def test_answers_that_could_not_be_saved_are_told_of_and_arrive_when_the_server_is_back(opened):
    tab, _ = opened("#/label")
    ready(tab)
    before, first = events(tab), current(tab)
    tab.route("**/api/labels", lambda route: route.fulfill(status=507, json={"error": "the disk is full; make room"}))
    tab.keyboard.press("1")
    second = another(tab, first)
    notice = tab.locator(".unsaved")
    expect(notice).to_contain_text("1 answer is not saved yet: the disk is full; make room.")
    tab.keyboard.press("2")
    another(tab, second)
    expect(notice).to_contain_text("2 answers are not saved yet")
    tab.on("dialog", lambda dialog: dialog.accept())
    tab.reload()
    expect(notice).to_contain_text("2 answers are not saved yet")
    assert events(tab) == before
    with tab.expect_request("**/api/labels"):
        tab.get_by_role("button", name="Try now").click()
    tab.unroute("**/api/labels")
    expect(notice).to_be_empty(timeout=15_000)  # it is tried again by itself
    assert [event["ids"] for event in events(tab, 2)] == [[second], [first]]


def test_an_answer_that_has_not_left_yet_is_taken_back_without_a_trace(opened):
    tab, _ = opened("#/label")
    ready(tab)
    before, first = events(tab), current(tab)
    tab.route("**/api/labels", lambda route: route.abort())
    tab.keyboard.press("1")
    second = another(tab, first)
    expect(tab.locator(".unsaved")).to_contain_text("not saved")
    tab.keyboard.press("2")
    another(tab, second)
    tab.keyboard.press("u")
    tab.keyboard.press("u")
    expect(tab.locator(".unsaved")).to_be_empty()
    tab.unroute("**/api/labels")
    assert current(tab) == first
    assert events(tab) == before


def test_what_the_server_refuses_is_shown_with_its_sentence_until_somebody_decides(opened):
    tab, _ = opened("#/label")
    ready(tab)
    first = current(tab)
    tab.route(
        "**/api/labels", lambda route: route.fulfill(status=400, json={"error": "label must be one line of text"})
    )
    name_it(tab, "ring")
    notice = tab.locator(".unsaved")
    expect(notice).to_contain_text("1 answer was not taken (“ring”): label must be one line of text.")
    tab.unroute("**/api/labels")
    event = said(tab, lambda: tab.get_by_role("button", name="Try again").click())
    assert (event["ids"], event["label"]) == ([first], "ring")
    expect(notice).to_be_empty()
