"""The description of the interface: complete, in words, and true of what a server answers to thousands of requests."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from manyclass.server.app import create_app
from tests.server.pages import ask
from tests.server.served_forks import ServedForks
from tests.server.small_collection import names, write_gallery

OURS = "/api/(labels|classes|labeling|audit|export)"  # pictures and searches have tests of their own

# That 413 refuses what is wrong, too; and addresses of more than 64 kB never come to us.
SETTINGS = """
[checks.negative_data_rejection]
expected-statuses = [400, 404, 405, 409, 413, 415, 422]

[[operations]]
include-path = "/api/labeling/next"
checks.content_type_conformance.enabled = false
"""


@pytest.fixture(scope="module")
def described():
    return create_app(lambda state: None).openapi()


def operations(described):
    return [
        (f"{method.upper()} {path}", one) for path, item in described["paths"].items() for method, one in item.items()
    ]


def test_every_route_says_what_it_does(described):
    for name, one in operations(described):
        assert one.get("summary"), name
        assert one.get("description", "").endswith("."), name


def test_every_parameter_and_field_is_described(described):
    for name, one in operations(described):
        assert [
            parameter["name"] for parameter in one.get("parameters", []) if not parameter.get("description")
        ] == [], name
    for name, schema in described["components"]["schemas"].items():
        assert [
            key for key, field in schema.get("properties", {}).items() if not field.keys() & {"description", "$ref"}
        ] == [], name


def test_every_error_is_one_sentence(described):
    for name, one in operations(described):
        for status, answer in one["responses"].items():
            if status >= "400" and "/api/" in name:
                assert answer["content"]["application/json"]["schema"] == {
                    "$ref": "#/components/schemas/ErrorAnswer"
                }, name


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    base = tmp_path_factory.mktemp("fuzzed")
    forks = ServedForks(write_gallery(base), base / "home")
    process_id, address = forks.start()
    yield base, address
    os.kill(process_id, signal.SIGTERM)
    forks.close()


def known_pictures(described):
    """The same description, in which ids are those of some pictures, or no picture's: else nothing would be found."""
    some = {"type": "string", "enum": [*names()[:20], "nowhere.jpg"]}
    for schema in described["components"]["schemas"].values():
        if "ids" in (fields := schema.get("properties", {})) and "maxItems" in fields["ids"]:
            fields["ids"]["items"] = some
    for path, name in (("/api/labeling/proposals", "id"), ("/api/labeling/next", "exclude")):
        for parameter in described["paths"][path]["get"]["parameters"]:
            if parameter["name"] == name:
                parameter["schema"] = some if name == "id" else {**parameter["schema"], "items": some}
    return described


@pytest.mark.parametrize(
    ("examples", "phases"),
    [(5, "fuzzing"), pytest.param(550, "examples,coverage,fuzzing", marks=pytest.mark.slow)],
)
def test_thousands_of_requests_are_answered_as_it_is_described(server, tmp_path, examples, phases):
    base, address = server
    (base / "schemathesis.toml").write_text(SETTINGS)
    (base / "openapi.json").write_text(json.dumps(known_pictures(ask(f"{address}/api/openapi.json"))))
    before = set(base.rglob("*"))
    words = [
        "--config-file",
        base / "schemathesis.toml",
        "run",
        base / "openapi.json",
        "--url",
        address,
        "--checks",
        "all",
    ]
    words += ["--include-path-regex", OURS, "-n", examples, "--phases", phases, "--seed", 1]
    # A POST without JSON is refused before anybody asks whether it is taken at all.
    words += [
        "--exclude-checks",
        "unsupported_method",
        "--continue-on-failure",
        "--max-failures",
        20,
        "--warnings",
        "off",
        "--no-color",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "schemathesis.cli", *map(str, words)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    said = re.search(r"(\d+) generated, (\d+) passed", done.stdout)
    print(said and said[0])
    assert done.returncode == 0, done.stdout[-8000:]
    assert int(said[1]) >= 12 * examples  # routes without parameters have few
    assert ask(f"{address}/readyz") == {"state": "ready"}
    written = {str(path.relative_to(base)) for path in set(base.rglob("*")) - before}
    assert written <= {"home", "home/labels.jsonl", "home/audit.json"}
