"""Long work and what pages are told of it."""

import asyncio
import json
import threading

import pytest

from manyclass.server.jobs import _MOST_WAITING, Events, JobCancelledError, Jobs


def parsed(text):
    lines = dict(line.split(": ", 1) for line in text.strip().split("\n"))
    return lines["event"], json.loads(lines["data"])


def test_a_job_ends_with_its_result():
    job = Jobs(Events()).start("audit", lambda job: 42, "looking")
    assert job.finished.wait(10)
    assert (job.state, job.error, job.result) == ("done", None, 42)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("labels must be given"), "labels must be given"),
        (OSError(28, "No space left on device"), "no space left"),
        (ZeroDivisionError("secret"), "it ended with a defect (ZeroDivisionError); the log of the server has more"),
    ],
)
def test_a_job_that_fails_says_why_in_a_sentence(error, words):
    def work(job):
        raise error

    job = Jobs(Events()).start("audit", work)
    assert job.finished.wait(10)
    assert job.state == "failed"
    assert words in job.error


def test_how_far_a_job_is_comes_with_its_rate_and_the_time_left(monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr("manyclass._core.progress_display.time.monotonic", lambda: float(next(clock)))
    begun, go_on = threading.Event(), threading.Event()

    def work(job):
        with job.stage("encoding", "pictures") as report:
            report(0, 100)
            report(10, 100)
            begun.set()
            go_on.wait(10)

    jobs = Jobs(Events())
    job = jobs.start("prepare", work)
    assert begun.wait(10)
    told = job.json()
    assert (told["title"], told["unit"], told["done"], told["total"]) == ("encoding", "pictures", 10, 100)
    assert told["rate"] > 0
    assert told["seconds_left"] == pytest.approx(90 / told["rate"], rel=0.1)
    assert jobs.list() == [told]
    go_on.set()
    assert job.finished.wait(10)
    assert job.json()["seconds_left"] is None


def test_jobs_end_with_the_server():
    begun, ended = threading.Event(), threading.Event()

    def work(job):
        try:
            while True:
                job(0, 1)
                begun.set()
        except JobCancelledError:
            ended.set()
            raise

    jobs = Jobs(Events())
    job = jobs.start("prepare", work)
    assert begun.wait(10)
    jobs.close()
    assert ended.wait(10)
    assert job.finished.wait(10)
    assert job.error == "the server ended before it was done"


def test_a_few_finished_jobs_are_remembered():
    jobs = Jobs(Events())
    for _ in range(60):
        assert jobs.start("train", lambda job: None).finished.wait(10)
    assert len(jobs.list()) <= 51


def heard(events, publish, count):
    """What a page hears: what holds at first, and then what is published."""

    async def listen():
        stream, said = events.stream(lambda: [("status", {"state": "ready"})]), []
        async for text in stream:
            said.append(text)
            if len(said) == 1:
                threading.Thread(target=publish).start()
            if len(said) == count:
                break
        await stream.aclose()
        return said

    return asyncio.run(asyncio.wait_for(listen(), 20))


def test_pages_are_told_what_happens():
    events = Events()
    said = heard(events, lambda: events.publish("job", {"done": 1}, key="1"), 2)
    assert [parsed(text) for text in said] == [("status", {"state": "ready"}), ("job", {"done": 1})]
    assert not events._listeners


def test_a_slow_page_gets_the_last_word_of_each_thing_and_no_more_than_it_can_hold():
    events = Events()

    async def listen():
        stream = events.stream(lambda: [("status", {})])
        await anext(stream)
        for step in range(1000):
            events.publish("job", {"done": step}, key="1")
        for number in range(500):
            events.publish("job", {"number": number}, key=f"other {number}")
        (listener,) = events._listeners
        assert len(listener._waiting) == _MOST_WAITING
        for step in range(50):
            events.publish("job", {"done": step}, key="last")
        events.close()
        await stream.aclose()

    asyncio.run(asyncio.wait_for(listen(), 20))


def test_streams_end_with_the_server():
    events = Events()
    assert len(heard(events, events.close, 99)) == 1

    async def late():
        return [text async for text in events.stream(list)]

    assert asyncio.run(late()) == []


def test_a_silent_stream_has_a_heartbeat(monkeypatch):
    monkeypatch.setattr("manyclass.server.jobs._HEARTBEAT", 0.01)
    assert heard(Events(), lambda: None, 2)[1].startswith(":")


def test_what_nobody_hears_is_no_error():
    events = Events()
    heard(events, lambda: events.publish("job", {}), 2)
    events.publish("job", {})
