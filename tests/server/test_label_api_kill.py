"""A server that is killed while people label: what was acknowledged is there, and what was not harms nothing."""

import http.client
import json
import os
import random
import signal
import threading
import time
import urllib.error

import pytest

from manyclass.runs.labeling import read_label_events
from tests.server.pages import ask
from tests.server.served_forks import ServedForks
from tests.server.small_collection import names, write_gallery

IDS = names()


class Person(threading.Thread):
    """Labels one picture after the other until the server is gone, and remembers what was acknowledged."""

    def __init__(self, address, name, seed):
        super().__init__()
        self.address, self.who, self.rng = address, name, random.Random(seed)
        self.acknowledged, self.undone, self.lost = {}, [], ""

    def run(self):
        while True:
            ids, label = self.rng.sample(IDS, self.rng.choice([1, 1, 1, 20])), f"class {self.rng.randrange(50)}"
            try:
                if self.acknowledged and self.rng.random() < 0.15:
                    said = ask(f"{self.address}/api/labels/undo", {"who": self.who})
                    if said["undone"]:
                        self.undone.append(said["undone"]["number"])
                else:
                    said = ask(f"{self.address}/api/labels", {"ids": ids, "label": label, "who": self.who})
                    self.acknowledged[said["event"]] = (tuple(said["ids"]), label, self.who)
            except urllib.error.HTTPError as error:
                self.lost = f"{error.code} {error.read()}"
                return
            except (OSError, http.client.HTTPException, json.JSONDecodeError):  # it is gone, perhaps amid an answer
                self.lost = "gone"
                return


def label_and_kill(forks, home, seed, acknowledged, undone):
    """One round: three people label, the server is killed; what holds now, by what was read from the disk."""
    rng = random.Random(seed)
    server, address = forks.start()
    ask(f"{address}/api/labeling")  # it serves
    people = [Person(address, f"{name} {seed}", f"{name} {seed}") for name in ("Ada", "Bob", "Eve")]
    for one in people:
        one.start()
    deadline = time.monotonic() + 30
    while not any(one.acknowledged for one in people) and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(rng.uniform(0, 0.08))  # anywhere within a request
    os.kill(server, signal.SIGKILL)
    for one in people:
        one.join(60)
        acknowledged.update(one.acknowledged)
        undone.update(one.undone)
    assert {one.lost for one in people} == {"gone"}
    events = {event.number: event for event in read_label_events(home / "labels.jsonl")}
    for number, said in acknowledged.items():
        event = events[number]
        assert (event.ids, event.label, event.who) == said
    assert undone <= {event.undoes for event in events.values()}
    return len(events)


@pytest.mark.parametrize("rounds", [pytest.param(10), pytest.param(50, marks=pytest.mark.slow)])
def test_no_label_that_was_acknowledged_is_lost_when_the_server_is_killed(disk_path, rounds):
    gallery, home = write_gallery(disk_path), disk_path / "home"
    forks = ServedForks(gallery, home)
    acknowledged, undone, written = {}, set(), 0
    try:
        for seed in range(rounds):
            written = label_and_kill(forks, home, seed, acknowledged, undone)
        server, address = forks.start()
        told = ask(f"{address}/api/labels?count=1")
        assert told["total"] >= written
        ask(f"{address}/api/labels", {"ids": IDS[:1], "label": "at last"})
        assert ask(f"{address}/api/labels?count=1")["events"][0]["label"] == "at last"
        os.kill(server, signal.SIGTERM)
    finally:
        forks.close()
    print(f"{rounds} kills, {len(acknowledged)} labels and {len(undone)} undos acknowledged, {written} events on disk")
    assert len(acknowledged) >= 3 * rounds


def test_labels_and_what_was_taken_back_are_there_after_a_kill(tmp_path):
    gallery, home = write_gallery(tmp_path), tmp_path / "home"
    forks = ServedForks(gallery, home)
    try:
        server, address = forks.start()
        ask(f"{address}/api/labels", {"ids": IDS[:2], "label": "dog", "who": "Ada"})
        ask(f"{address}/api/labels", {"ids": IDS[1:3], "label": "cat", "who": "Ada"})
        ask(f"{address}/api/labels/undo", {"who": "Ada"})
        os.kill(server, signal.SIGKILL)
        server, address = forks.start()
        assert ask(f"{address}/api/labeling")["labeled"] == 2
        assert ask(f"{address}/api/labels/undo", {"who": "Ada"})["undone"]["number"] == 1
        os.kill(server, signal.SIGTERM)
    finally:
        forks.close()
