"""Requests that are drawn from the server's own description of itself, right ones and wrong ones, of every route."""

import contextlib
import json
from collections import Counter

import pytest
import requests
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable

from tests.server.drawn_collection import names
from tests.server.hostile_server import HostileServer

STREAMS = {"/api/events"}  # which have no end
MOST_ADDRESS = 60_000  # letters; longer ones are refused before anybody looks at them


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with HostileServer(tmp_path_factory.mktemp("fuzzed")) as server:
        yield server


def attack(server, operation, count, mode):
    """Statuses of so many requests of one route, by the rules or against them."""
    seen = Counter()

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    def ask(case):
        try:
            answer = case.call(base_url=server.address, headers={"Host": "localhost"}, timeout=60)
        except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError):
            assert len(case.as_curl_command()) > MOST_ADDRESS  # the rest of such a request is not read
            seen["too long"] += 1
            return
        seen[answer.status_code] += 1
        assert answer.status_code < 500 or answer.status_code == 503, (
            answer.status_code,
            answer.text,
            case.as_curl_command(),
        )
        if answer.status_code >= 400:
            assert set(answer.json()) == {"error"}
            assert "\n" not in answer.json()["error"].strip()

    with contextlib.suppress(Unsatisfiable):  # where every request is by the rules
        ask()
    return seen


@pytest.mark.parametrize("count", [400, pytest.param(10_000, marks=pytest.mark.slow)])
def test_no_request_is_more_than_the_server_can_answer(server, count):
    schemathesis = pytest.importorskip("schemathesis")
    schema = schemathesis.openapi.from_dict(json.loads(server.get("/api/openapi.json")[1]))
    operations = [found.ok() for found in schema.get_all_operations()]
    operations = [one for one in operations if one.path not in STREAMS]
    varied = [one for one in operations if one.query or one.path_parameters or one.body]
    assert (len(operations) > 25, len(varied) > 15) == (True, True)
    seen, each = Counter(), -(-count // (2 * len(varied)))
    for one in operations:
        seen += attack(server, one, each if one in varied else 1, schemathesis.GenerationMode.POSITIVE)
    for one in varied:
        seen += attack(server, one, each, schemathesis.GenerationMode.NEGATIVE)
    (search,) = (one for one in operations if one.path == "/api/search")
    seen += attack(server, search, max(1, 2 * (count - seen.total())), schemathesis.GenerationMode.NEGATIVE)
    print(f"{seen.total():,} requests of {len(operations)} routes: {dict(sorted(seen.items(), key=str))}")
    assert seen.total() >= count
    assert seen[200] > count / 20
    assert server.get("/healthz")[0] == 200
    found = json.loads(server.get("/api/pictures?order=gallery&count=200")[1])
    assert [one["id"] for one in found["pictures"]] == names()
