"""The benchmark of everybody's files, at a size of seconds."""

from benchmarks import large_files


def test_broken_pictures_are_skipped_and_a_kill_costs_no_byte(tmp_path):
    large_files.write_tars(tmp_path / "tars", 60)
    row = large_files.twice(tmp_path, ["features", "--kind", "bow"], tmp_path / "tars", "tars")
    command, what, rows, skipped, _, peak, _, same = row
    assert (command, what, rows, skipped, same) == ("`features --kind bow`", "tars", "58", "2", "yes")
    assert float(peak.removesuffix(" MB")) < large_files.LIMIT


def test_rows_that_are_safe_are_those_of_the_journal(tmp_path):
    assert large_files.safe_rows(tmp_path) == 0
    (tmp_path / "journal").write_bytes(b"no journal")
    assert large_files.safe_rows(tmp_path) == 0
