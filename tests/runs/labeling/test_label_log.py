"""The append-only file of labels: what holds now, and what survives."""

import errno
import os
import random
import signal
import subprocess
import sys
import threading
import time
from datetime import datetime

import pytest

from manyclass._core.errors import FolderBusyError, StorageError
from manyclass.runs.labeling.label_log import LabelLog, parse_events, read_label_events


@pytest.fixture
def path(tmp_path):
    return tmp_path / "home" / "labels.jsonl"


@pytest.fixture
def log(path):
    with LabelLog(path) as log:
        yield log


def reopened(log):
    """What holds now, and what would hold after the process ended."""
    now = log.labels, log.set_aside, log.kept, log.events()
    log.close()
    with LabelLog(log.path) as again:
        assert (again.labels, again.set_aside, again.kept, again.events()) == now
    return now[:3]


def test_the_last_label_of_a_picture_holds(log):
    log.append(["a", "b"], "cat")
    log.append(["b"], " dog ")
    assert log.counts() == {"cat": 1, "dog": 1}
    assert reopened(log) == ({"a": "cat", "b": "dog"}, set(), set())


def test_a_label_can_be_taken_away(log):
    log.append(["a", "b"], "cat")
    log.append(["a"], None)
    assert reopened(log) == ({"b": "cat"}, set(), set())


def test_what_is_set_aside_has_no_label_until_it_gets_one(log):
    log.append(["a", "b"], "cat")
    log.append(["a", "b"], None, action="set_aside")
    assert (log.labels, log.set_aside) == ({}, {"a", "b"})
    log.append(["a"], "dog")
    assert reopened(log) == ({"a": "dog"}, {"b"}, set())


def test_what_is_kept_keeps_its_label_until_it_gets_another(log):
    log.append(["a"], "cat")
    log.append(["a", "b"], None, action="keep")
    assert (log.labels, log.kept) == ({"a": "cat"}, {"a", "b"})
    log.append(["a"], "dog")
    assert reopened(log) == ({"a": "dog"}, set(), {"b"})


def test_undo_goes_back_step_by_step_and_is_itself_on_record(log):
    log.append(["a", "b"], "cat")
    log.append(["b", "c"], None, action="set_aside")
    assert log.undo().undoes == 2
    assert (log.labels, log.set_aside) == ({"a": "cat", "b": "cat"}, set())
    log.append(["a"], "dog")
    assert [log.undo().undoes, log.undo().undoes, log.undo()] == [4, 1, None]
    assert [event.action for event in log.events()] == ["label", "set_aside", "undo", "label", "undo", "undo"]
    assert log.is_undone(4)
    assert not log.is_undone(3)
    assert reopened(log) == ({}, set(), set())


def test_a_certain_event_is_taken_back_once_though_others_came_after_it(log):
    log.append(["a"], "cat")
    log.append(["b"], "dog")
    assert log.undo(number=1).undoes == 1
    assert log.undo(number=1) is None
    assert log.undo("ann", 2) is None
    assert reopened(log) == ({"b": "dog"}, set(), set())


def test_undo_of_a_person_leaves_what_others_said(log):
    log.append(["a"], "cat", who="ann")
    log.append(["a"], "dog", who="bob")
    log.append(["b"], "owl")
    assert log.undo("ann").undoes == 1
    assert log.undo("ann") is None
    assert log.undo("").undoes == 3
    assert reopened(log) == ({"a": "dog"}, set(), set())


def test_an_event_says_who_when_and_what_was_proposed(log):
    event = log.append(["a"], "cat", proposed="dog", who="ann", source="audit")
    assert (event.number, event.who, event.proposed, event.source) == (1, "ann", "dog", "audit")
    assert abs(time.time() - datetime.fromisoformat(event.time).timestamp()) < 60
    assert read_label_events(log.path) == [event]


def test_labels_that_were_given_out_do_not_change(log):
    log.append(["a"], "cat")
    before = log.labels
    log.append(["a"], "dog")
    assert before == {"a": "cat"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"label": "a\nb"}, "label must be one line"),
        ({"label": "cat", "who": "a\nb"}, "who must be one line"),
        ({"label": "cat", "proposed": ""}, "proposed must not be empty"),
        ({"label": "cat", "action": "undo"}, "action must be one of label, set_aside, keep; got 'undo'"),
        ({"label": "cat", "action": "set_aside"}, "label must be None"),
        ({"label": "cat", "ids": []}, "ids must name"),
    ],
)
def test_what_cannot_be_said_is_refused_and_leaves_no_file(log, path, arguments, words):
    with pytest.raises(ValueError, match=words):
        log.append(**{"ids": ["a"], **arguments})
    assert not path.parent.exists()


def test_nothing_is_made_until_something_is_said(log, path):
    assert (log.labels, log.events(), log.undo()) == ({}, [], None)
    assert not path.parent.exists()


def test_half_a_line_at_the_end_is_cut_off_and_noted(path):
    with LabelLog(path) as log:
        log.append(["a"], "cat")
        whole = path.read_bytes()
        log.append(["b"], "dog")
    line = path.read_bytes()[len(whole) :]
    for kept in range(len(line)):
        path.write_bytes(whole + line[:kept])
        assert len(read_label_events(path)) == 1
        with LabelLog(path) as log:
            assert log.labels == {"a": "cat"}
            assert bool(log.note) == (kept > 0)
            assert path.read_bytes() == whole


def test_every_bit_that_flips_is_told_with_its_line_and_nothing_is_changed(path):
    with LabelLog(path) as log:
        log.append(["a"], "cat")
        log.append(["b"], "dog")
    good = path.read_bytes()
    for bit in range(8 * len(good)):
        damaged = bytearray(good)
        damaged[bit // 8] ^= 1 << bit % 8
        line = 1 + good[: bit // 8].count(b"\n")
        with pytest.raises(StorageError, match=rf"damaged: line {line} .*nothing was changed"):
            parse_events(bytes(damaged), path)
        if bit % 41 == 0:
            path.write_bytes(damaged)
            with pytest.raises(StorageError, match=rf"damaged: line {line} "):
                LabelLog(path)
            assert path.read_bytes() == damaged


def test_a_line_may_be_taken_out_by_hand_but_not_put_in_twice(path):
    with LabelLog(path) as log:
        for one in "abc":
            log.append([one], "cat")
    first, second, third = path.read_bytes().splitlines(True)
    path.write_bytes(first + third)
    with LabelLog(path) as log:
        assert set(log.labels) == {"a", "c"}
    path.write_bytes(first + second + second)
    with pytest.raises(StorageError, match="line 3 is out of order"):
        LabelLog(path)


@pytest.mark.parametrize("call", ["write", "fsync"])
@pytest.mark.parametrize(("error", "words"), [(errno.ENOSPC, "disk full"), (errno.EIO, "disk error")])
def test_what_the_disk_refuses_is_not_acknowledged_and_leaves_no_trace(log, path, failing_call, call, error, words):
    log.append(["a"], "cat")
    before = path.read_bytes()
    with failing_call(call, 1, error), pytest.raises(StorageError, match=words):
        log.append(["b"], "dog")
    assert path.read_bytes() == before
    log.append(["c"], "owl")
    assert reopened(log)[0] == {"a": "cat", "c": "owl"}


def test_a_disk_that_takes_half_a_line_leaves_none_of_it(log, path, monkeypatch):
    log.append(["a"], "cat")
    before, write, calls = path.read_bytes(), os.write, []

    def half(descriptor, data):
        calls.append(len(data))
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data[: len(data) // 2])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", half)
        with pytest.raises(StorageError, match="disk full"):
            log.append(["b"], "dog")
    assert len(calls) == 2
    assert path.read_bytes() == before


def test_half_a_line_that_cannot_be_cut_off_ends_the_writing(log, path, monkeypatch):
    log.append(["a"], "cat")
    write = os.write

    def fail(*_):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:9]))
        patch.setattr(os, "ftruncate", fail)
        with pytest.raises(StorageError, match="took only a part of a line"):
            log.append(["b"], "dog")
    with pytest.raises(StorageError, match="open it again"):
        log.append(["c"], "owl")
    log.close()
    with LabelLog(path) as again:
        assert again.labels == {"a": "cat"}


def test_the_line_is_synced_before_it_is_acknowledged_and_the_folder_when_the_file_is_made(log, path, monkeypatch):
    synced, fsync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino) or fsync(descriptor))
    log.append(["a"], "cat")
    assert synced[-2:] == [path.parent.stat().st_ino, path.stat().st_ino]


def test_two_cannot_write_to_one_log(log, path):
    log.append(["a"], "cat")
    with pytest.raises(FolderBusyError, match="is being written by another process; stop that first"):
        LabelLog(path)
    assert len(read_label_events(path)) == 1


def test_who_comes_second_to_a_log_that_was_not_there_reads_what_the_first_wrote(log, path):
    with LabelLog(path) as second:
        log.append(["a"], "cat")
        with pytest.raises(FolderBusyError):
            second.append(["b"], "dog")
        log.close()
        assert second.append(["b"], "dog").number == 2
        assert second.labels == {"a": "cat", "b": "dog"}


@pytest.mark.parametrize("what", ["removed", "replaced", "changed"])
def test_a_file_that_somebody_else_touches_is_no_longer_written_to(log, path, what):
    log.append(["a"], "cat")
    if what == "changed":
        path.write_bytes(path.read_bytes() * 2)
    else:
        path.rename(path.with_name("elsewhere"))
        if what == "replaced":
            path.write_bytes(b"")
    with pytest.raises(StorageError, match="by somebody else; nothing was labeled"):
        log.append(["b"], "dog")
    assert log.labels == {"a": "cat"}


def test_a_link_is_not_written_through(tmp_path):
    (tmp_path / "mine").write_bytes(b"")
    (tmp_path / "labels.jsonl").symlink_to(tmp_path / "mine")
    with pytest.raises(StorageError, match="must be a regular file"):
        LabelLog(tmp_path / "labels.jsonl")


def test_threads_can_share_it(log):
    def work(name):
        for i in range(20):
            log.append([f"{name}{i}"], name)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [event.number for event in log.events()] == list(range(1, 81))
    assert len(reopened(log)[0]) == 80


# A process that makes others of itself, as a start takes long. They say what was acknowledged as soon as it was: single
# pictures, many at once, undo.
WRITERS = """
import os, sys
from manyclass.runs.labeling.label_log import LabelLog

def write():
    log = LabelLog(sys.argv[1])
    number = len(log.events())
    os.write(1, b"ready\\n")
    while True:
        if number % 7 == 6:
            log.undo()
        else:
            log.append([f"p{number}/{i}" for i in range(1 + number % 3 * 400)], f"class {number}")
        number += 1
        os.write(1, b"%d\\n" % number)

while sys.stdin.readline():
    process = os.fork()
    if process == 0:
        write()
    os.write(1, b"process %d\\n" % process)
    os.waitpid(process, 0)
    os.write(1, b"dead\\n")
"""


def killed(writers, seconds):
    """The last number that a new writer acknowledged, which was killed so long after it began; 0 if none was."""
    writers.stdin.write(b"\n")
    writers.stdin.flush()
    words = dict([*writers.stdout.readline().split(), 0][:2] for _ in range(2))
    assert b"ready" in words
    end = time.monotonic() + seconds
    while time.monotonic() < end:  # shorter than the system would wake us from sleep
        pass
    os.kill(int(words[b"process"]), signal.SIGKILL)
    lines = list(iter(writers.stdout.readline, b"dead\n"))
    return int(lines[-1]) if lines else 0


def test_no_label_that_was_acknowledged_is_lost_when_the_process_is_killed_fifty_times(disk_path):
    path, rng, said = disk_path / "labels.jsonl", random.Random(0), 0
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", WRITERS, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as writers:
        for _ in range(50):
            acknowledged = max(said, killed(writers, rng.uniform(0, 0.03)))
            with LabelLog(path) as log:
                events = log.events()
            # One more may be on disk, of which nobody was told yet.
            assert len(events) in (acknowledged, acknowledged + 1)
            assert [event.number for event in events] == list(range(1, len(events) + 1))
            assert all(len(one.ids) == 1 + (one.number - 1) % 3 * 400 for one in events if one.action == "label")
            said = len(events)
        writers.stdin.close()
    assert said > 50
