"""Pictures, uploads and searches over HTTP."""

import io
import shlex

import numpy as np
import pytest
from PIL import Image

from manyclass.server.app import ServerSettings
from tests.server.drawn_collection import ODD, as_file, asking, drawn, make_collection, names

RED = [name for name in names() if name.startswith("red")]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return tmp_path_factory.mktemp("drawn")


@pytest.fixture(scope="module")
def client(base):
    with asking(make_collection(base)) as client:
        yield client


def ids_of(answer, key="pictures"):
    assert answer.status_code == 200, answer.text
    return [one["id"] for one in answer.json()[key]]


def search(client, positives, negatives=(), **more):
    def refs(some):
        return [{"id": one} if isinstance(one, str) else one for one in some]

    return client.post("/api/search", json={"positives": refs(positives), "negatives": refs(negatives), **more})


def upload(client, content, kind="image/png"):
    return client.post("/api/queries", content=content, headers={"Content-Type": kind})


def test_the_collection_tells_what_there_is(client):
    about = client.get("/api/collection").json()
    assert (about["images"], about["classes"], about["search_by_pictures"]) == (len(names()), 3, True)
    assert {"name": "blue/deep", "count": 1} in about["folders"]
    assert [one["key"] for one in about["worlds"] if one["default"]] == ["negatives"]


@pytest.mark.parametrize("order", ["typical", "gallery", "shuffled"])
def test_every_order_has_every_picture_once_page_by_page(client, order):
    pages = [
        ids_of(client.get("/api/pictures", params={"order": order, "start": at, "count": 20})) for at in (0, 20, 40)
    ]
    assert sorted(one for page in pages for one in page) == sorted(names())
    assert pages[0] == ids_of(client.get("/api/pictures", params={"order": order, "count": 20}))


def test_the_first_screen_shows_every_class(client):
    first = client.get("/api/pictures", params={"count": 3}).json()["pictures"]
    assert {one["class"] for one in first} == {"red", "green", "blue"}


def test_another_seed_shows_other_pictures(client):
    assert len({tuple(ids_of(client.get("/api/pictures", params={"seed": seed}))) for seed in range(5)}) == 5


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ({"class": "red"}, RED),
        ({"folder": "blue/deep"}, ["blue/deep/er/still.png"]),
        ({"text": "SCRIPT"}, [ODD[1]]),
        ({"text": "ÜNÏ"}, [ODD[2]]),
        ({"text": "n/0", "class": "green"}, [f"green/0{i}.png" for i in range(10)]),
        ({"class": "no such"}, []),
        ({"text": "no such"}, []),
        ({"label": "red"}, []),
    ],
)
def test_filters_leave_what_is_asked_for_in_lists_and_searches(client, where, wanted):
    assert sorted(ids_of(client.get("/api/pictures", params={**where, "count": 200}))) == sorted(wanted)
    found = search(client, ["blue/00.png"], where=where)
    assert sorted(ids_of(found, "hits")) == sorted(wanted)
    assert found.json()["total"] == len(wanted)


def test_labels_of_people_count_before_the_class_a_picture_came_with(base):
    with asking(make_collection(base / "labeled")) as client:
        said = {"ids": ["red/00.png", "red/01.png"], "label": "rose", "source": "find"}
        assert client.post("/api/labels", json=said).status_code == 200
        assert sorted(ids_of(client.get("/api/pictures", params={"label": "rose"}))) == said["ids"]
        assert sorted(ids_of(client.get("/api/pictures", params={"class": "rose"}))) == said["ids"]
        left = ids_of(client.get("/api/pictures", params={"class": "red", "count": 200}))
        assert len(left) == len(RED) - 2
        assert ids_of(search(client, ["blue/00.png"], where={"label": "rose"}), "hits")
        assert client.get("/api/collection").json()["people_labels"] == 2


@pytest.mark.parametrize("one", ODD)
def test_odd_names_are_found_and_searched_by(client, one):
    (picture,) = client.get("/api/pictures", params={"id": one}).json()["pictures"]
    assert (picture["id"], f"{picture['folder']}/{picture['name']}") == (one, one)
    assert client.get(picture["url"]).headers["content-type"] in ("image/jpeg", "image/png")
    assert one not in ids_of(search(client, [one]), "hits")
    line = search(client, [one]).json()["command"]
    assert shlex.split(line)[3:5] == ["--id", one]


def test_a_picture_finds_those_of_its_color_first_and_not_itself(client):
    answer = search(client, ["green/03.png"], count=10).json()
    assert {hit["class"] for hit in answer["hits"]} == {"green"}
    assert [hit["rank"] for hit in answer["hits"]] == list(range(1, 11))
    scores = [hit["score"] for hit in answer["hits"]]
    assert scores == sorted(scores, reverse=True)
    assert answer["total"] == len(names()) - 1


def test_the_query_is_among_the_hits_if_it_is_not_left_out(client):
    assert ids_of(search(client, ["green/03.png"], leave_out=False), "hits")[0] == "green/03.png"


def test_pages_of_a_search_follow_one_another(client):
    whole = ids_of(search(client, ["red/00.png"], count=40), "hits")
    parts = [ids_of(search(client, ["red/00.png"], start=at, count=10), "hits") for at in (0, 10, 20, 30)]
    assert [one for part in parts for one in part] == whole
    assert ids_of(search(client, ["red/00.png"], start=1000), "hits") == []


def test_marks_bring_up_what_is_like_them_and_are_left_out(client):
    answer = search(client, ["red/00.png", "blue/00.png"], ["green/00.png", "green/01.png"], count=20)
    found = ids_of(answer, "hits")
    assert {one.partition("/")[0] for one in found[:10]} <= {"red", "blue"}
    assert not {"red/00.png", "blue/00.png", "green/00.png"} & set(ids_of(answer, "hits"))
    assert answer.json()["total"] == len(names()) - 4
    assert "--unlike green/00.png" in answer.json()["command"]


def test_another_world_gives_other_scores(client):
    scores = [
        [hit["score"] for hit in search(client, ["red/00.png"], world=w).json()["hits"]] for w in (None, "gallery")
    ]
    assert scores[0] != scores[1]


def test_the_line_parts_hits_that_chance_explains_from_others(client):
    answer = search(client, ["red/00.png"], where={"folder": "red"}).json()
    expected = [hit["expected"] for hit in answer["hits"]]
    assert expected == sorted(expected)
    line = answer["line"]
    assert all(e <= 0.0513 for e in expected[:line])
    assert all(e > 0.0513 for e in expected[line:])


def test_what_is_done_is_told_as_python_that_does_the_same(client):
    answer = search(client, ["red/00.png", "red/01.png"], ["blue/00.png"], count=5).json()
    gallery = client.app.state.server.collection.gallery
    lines = answer["python"].splitlines()
    scope = {"gallery": gallery}
    exec("import manyclass as mc\n" + "\n".join(lines[3:]), scope)
    wanted = [one for one in scope["hits"].ids[0].tolist() if one not in ("red/00.png", "red/01.png", "blue/00.png")]
    assert wanted[:2] == [hit["id"] for hit in answer["hits"]][:2]


def test_an_upload_finds_what_is_like_it_and_is_shown_and_forgotten(client):
    sent = upload(client, as_file(drawn("blue", 1000)))
    assert sent.status_code == 200
    query = sent.json()
    assert (query["width"], query["height"]) == (64, 64)
    found = search(client, [{"query": query["query"]}], count=5).json()
    assert {hit["class"] for hit in found["hits"]} == {"blue"}
    assert client.get(query["url"]).headers["content-type"].startswith("image/")
    assert client.delete(f"/api/queries/{query['query']}").status_code == 200
    for again in (client.get(query["url"]), search(client, [{"query": query["query"]}])):
        assert again.status_code == 404
        assert "still remembered" in again.json()["error"]


def test_the_file_of_a_picture_that_is_sent_finds_that_picture_with_a_copys_words(client, base):
    query = upload(client, (base / "pictures" / "red/05.png").read_bytes()).json()
    answer = search(client, [{"query": query["query"]}]).json()
    assert answer["hits"][0]["id"] == "red/05.png"
    assert answer["words"] == "matched: the best has the same features"


def test_uploads_can_be_marks(client):
    query = upload(client, as_file(drawn("blue", 1001))).json()["query"]
    answer = search(client, ["red/00.png", {"query": query}], ["green/00.png"])
    assert {one.partition("/")[0] for one in ids_of(answer, "hits")[:8]} <= {"red", "blue"}
    assert "PICTURE" in answer.json()["command"]


def test_a_part_of_a_picture_asks_by_itself(client, base):
    both = np.concatenate([drawn("red", 1), drawn("blue", 2)], axis=1)
    query = upload(client, as_file(both)).json()["query"]
    for box, color in (([0, 0, 0.5, 1], "red"), ([0.5, 0, 1, 1], "blue")):
        part = client.post("/api/queries/crop", json={"of": {"query": query}, "box": box})
        assert part.status_code == 200, part.text
        assert (part.json()["width"], part.json()["height"]) == (64, 64)
        found = search(client, [{"query": part.json()["query"]}], count=4).json()
        assert {hit["class"] for hit in found["hits"]} == {color}


@pytest.mark.parametrize(
    "box", [[0, 0, 0, 1], [0.5, 0, 0.2, 1], [-0.1, 0, 1, 1], [0, 0, 1, 1.1], [0, 0, 1], ["a", 0, 1, 1]]
)
def test_a_box_must_lie_in_the_picture(client, box):
    refused = client.post("/api/queries/crop", json={"of": {"id": "red/00.png"}, "box": box})
    assert refused.status_code == 422
    assert "box" in refused.json()["error"]


def test_a_tiny_box_is_one_pixel_at_least(client):
    made = client.post("/api/queries/crop", json={"of": {"id": "red/00.png"}, "box": [0.5, 0.5, 0.5001, 0.5001]})
    assert (made.json()["width"], made.json()["height"]) == (1, 1)


def test_the_oldest_uploads_make_room(base):
    with asking(make_collection(base / "few"), ServerSettings(max_queries=2)) as client:
        queries = [upload(client, as_file(drawn("red", seed))).json() for seed in range(3)]
        assert [client.get(one["url"]).status_code for one in queries] == [404, 200, 200]


def test_a_gallery_that_knows_no_encoder_says_so(base):
    with asking(make_collection(base / "blind", pictures=False)) as client:
        refused = upload(client, as_file(drawn("red", 1)))
        assert refused.status_code == 409
        assert "does not know what encoded its own" in refused.json()["error"]
        assert client.get("/api/collection").json()["search_by_pictures"] is False
        assert ids_of(search(client, ["red/00.png"]), "hits")


@pytest.mark.parametrize(
    ("values", "status", "words"),
    [
        ({"positives": []}, 422, "positives"),
        ({}, 422, "`positives` must be given; it is missing"),
        ({"positives": [{"id": "nobody"}]}, 404, "nobody"),
        ({"positives": [{}]}, 422, "by its id or by the token"),
        ({"positives": [{"id": "red/00.png", "query": "x"}]}, 422, "not by both"),
        ({"positives": [{"id": "red/00.png"}], "world": "mars"}, 404, "world must be one of negatives, gallery"),
        ({"positives": [{"id": "red/00.png"}], "count": 0}, 422, "`count` must be greater than or equal to 1; got 0"),
        ({"positives": [{"id": "red/00.png"}], "count": 10**9}, 422, "got 1000000000"),
        ({"positives": [{"id": "red/00.png"}] * 501}, 422, "positives"),
        ({"positives": [{"id": "red/00.png"}], "wher": {}}, 422, "wher"),
    ],
)
def test_what_cannot_be_searched_for_is_refused_in_a_sentence(client, values, status, words):
    refused = client.post("/api/search", json=values)
    assert refused.status_code == status
    assert words in refused.json()["error"]
    assert "\n" not in refused.json()["error"]


def test_thumbnails_are_small_and_kept_by_browsers(client, base):
    picture = client.get("/api/pictures", params={"id": "red/00.png"}).json()["pictures"][0]
    first = client.get(picture["url"], params={"size": 32})
    kept = client.get(picture["url"])
    assert kept.headers["cache-control"] == "private, max-age=3600"
    assert client.get(f"/api/pictures/{picture['number']}/thumbnail").headers["cache-control"] == "private, no-cache"
    again = client.get(picture["url"], headers={"If-None-Match": kept.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert first.headers["etag"] != kept.headers["etag"]
    place = base / "pictures" / "red/00.png"
    place.write_bytes(as_file(drawn("blue", 77)))
    changed = client.get(picture["url"], headers={"If-None-Match": kept.headers["etag"]})
    assert changed.status_code == 200
    assert changed.content != kept.content


def test_a_large_picture_is_shrunk_for_the_screen(client, base):
    Image.new("RGB", (3000, 1500), (9, 9, 200)).save(base / "pictures" / "blue/11.png")
    number = client.get("/api/pictures", params={"id": "blue/11.png"}).json()["pictures"][0]["number"]
    about = client.get(f"/api/pictures/{number}").json()
    assert (about["width"], about["height"]) == (3000, 1500)
    assert about["path"].endswith("blue/11.png")
    for address, side in ((f"/api/pictures/{number}/thumbnail", 224), (f"/api/pictures/{number}/image", 1200)):
        assert max(Image.open(io.BytesIO(client.get(address).content)).size) == side


@pytest.mark.parametrize("spoil", ["gone", "empty", "no picture", "a folder"])
def test_a_missing_or_broken_picture_is_gray(client, base, spoil):
    place = base / "pictures" / "green/11.png"
    content = place.read_bytes()
    number = client.get("/api/pictures", params={"id": "green/11.png"}).json()["pictures"][0]["number"]
    place.unlink()
    if spoil == "a folder":
        place.mkdir()
    elif spoil != "gone":
        place.write_bytes(b"" if spoil == "empty" else b"nothing of the kind")
    shown = client.get(f"/api/pictures/{number}/thumbnail?size=100")
    assert (shown.status_code, shown.headers["content-type"]) == (200, "image/png")
    assert shown.headers["cache-control"] == "no-store"
    assert client.get(f"/api/pictures/{number}").json()["width"] is None
    cut = client.post("/api/queries/crop", json={"of": {"id": "green/11.png"}, "box": [0, 0, 1, 1]})
    assert cut.status_code in (409, 422)
    if spoil == "a folder":
        place.rmdir()
    place.write_bytes(content)
    assert client.get(f"/api/pictures/{number}/thumbnail?size=100").headers["etag"]


def test_numbers_that_are_none_are_refused(client):
    for number in (len(names()), -1, 10**30, "x", "1.5", "%00"):
        for end in ("", "/thumbnail", "/image"):
            assert client.get(f"/api/pictures/{number}{end}").status_code in (404, 422)
