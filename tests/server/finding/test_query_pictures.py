"""Pictures that ask, in memory alone."""

import asyncio
import threading

import numpy as np
import pytest

from manyclass.server.app import ApiError, ServerSettings
from manyclass.server.finding.query_pictures import QueryPictures
from tests.server.drawn_collection import ColorGrid, as_file, drawn, make_collection


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    made = make_collection(tmp_path_factory.mktemp("queries"))
    yield made
    made.close()


@pytest.fixture
def queries(collection):
    made = QueryPictures(collection, ServerSettings(n_workers=1, max_waiting=1, max_queries=3))
    yield made
    made.close()


def test_a_picture_has_the_features_and_the_embedding_of_the_gallery(queries, collection):
    kept = queries.add(as_file(drawn("red", 0)))
    np.testing.assert_array_equal(kept.row[0], ColorGrid().encode(drawn("red", 0)))
    np.testing.assert_allclose(kept.embedding, collection.embeddings([0]), atol=1e-6)
    assert set(kept.ms) == {"decode", "feature", "encode"}
    assert queries.get(kept.token) is kept


def test_tokens_are_long_and_differ(queries):
    tokens = {queries.add(as_file(drawn("red", seed))).token for seed in range(3)}
    assert len(tokens) == 3
    assert all(len(token) >= 16 for token in tokens)


def test_the_oldest_are_forgotten(queries):
    kept = [queries.add(as_file(drawn("red", seed))) for seed in range(4)]
    with pytest.raises(ApiError, match="still remembered"):
        queries.get(kept[0].token)
    assert queries.get(kept[1].token)


def test_what_is_no_picture_is_refused_with_the_reason(queries):
    with pytest.raises(ApiError, match="the picture is not an image") as refused:
        queries.add(b"nothing")
    assert refused.value.status == 422


def test_more_than_may_wait_are_refused(queries, monkeypatch):
    inside, go_on, refused = threading.Semaphore(0), threading.Event(), []
    plain = QueryPictures._ready_workers

    def slow(self, encoder):
        inside.release()
        go_on.wait(20)
        return plain(self, encoder)

    monkeypatch.setattr(QueryPictures, "_ready_workers", slow)
    threads = [threading.Thread(target=queries.add, args=(as_file(drawn("red", seed)),)) for seed in range(2)]
    for thread in threads:
        thread.start()
        assert inside.acquire(timeout=20)
    with pytest.raises(ApiError, match="too many pictures wait") as error:
        queries.add(as_file(drawn("red", 9)))
    refused.append(error.value)
    go_on.set()
    for thread in threads:
        thread.join()
    assert (refused[0].status, refused[0].headers) == (503, {"Retry-After": "1"})
    assert queries.add(as_file(drawn("red", 9)))


def test_a_part_of_a_picture_of_the_collection(queries, collection):
    kept = queries.cut(collection.number("red/03.png"), (0.0, 0.0, 0.5, 0.25))
    assert (kept.width, kept.height) == (32, 16)
    again = queries.cut(kept, (0.0, 0.0, 0.5, 1.0))
    assert (again.width, again.height) == (16, 16)


def test_all_that_is_being_sent_at_once_has_a_limit(collection):
    made = QueryPictures(collection, ServerSettings(n_workers=1, max_waiting=1, max_upload_bytes=10))

    async def pieces(*sizes):
        for size in sizes:
            yield bytes(size)

    async def send():
        async with made.received(pieces(8, 2)) as first, made.received(pieces(10)) as second:
            assert (len(first), len(second)) == (10, 10)
            with pytest.raises(ApiError, match="too many pictures wait") as refused:
                await made.received(pieces(1)).__aenter__()
            assert refused.value.headers == {"Retry-After": "1", "Connection": "close"}
        async with made.received(pieces(10, 10)) as again:  # what is over leaves room
            assert len(again) == 20

    asyncio.run(send())
